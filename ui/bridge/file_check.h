// SPDX-License-Identifier: GPL-3.0-or-later
// Looks in the background whether the files that a draft names are there: after every edit, and
// when the user comes back from where files are moved. What is missing is a finding of the draft.
#pragma once

#include <QObject>

#include <cstdint>

namespace weft::ui {

class Draft;

class FileCheck : public QObject {
    Q_OBJECT
public:
    explicit FileCheck(Draft& draft, QObject* parent = nullptr);

    void look();

private:
    Draft& draft_;
    std::int64_t job_ = 0; // of the newest look: results of others are dropped
};

} // namespace weft::ui
