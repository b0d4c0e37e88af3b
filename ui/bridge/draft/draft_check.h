// SPDX-License-Identifier: GPL-3.0-or-later
// Looks in the background whether a draft could be started: whether the files that it names are
// there and its model takes the data. After every edit, and when the user comes back from where
// files are moved. What is wrong is a finding of the draft.
#pragma once

#include <QObject>
#include <QTimer>

#include <stop_token>

namespace weft::ui {

class Draft;

class DraftCheck : public QObject {
    Q_OBJECT
public:
    explicit DraftCheck(Draft& draft, QObject* parent = nullptr);
    ~DraftCheck() override;

private:
    void look();
    void stop();

    Draft& draft_;
    QTimer timer_; // from an edit to the look
    std::stop_source stop_;
    std::int64_t job_ = 0; // of the newest look: results of others are dropped
};

} // namespace weft::ui
