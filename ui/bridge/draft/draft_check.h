// SPDX-License-Identifier: GPL-3.0-or-later
// Looks in the background whether a draft could be started: whether the files that it names are
// there and its model takes the data. After every edit, and when the user comes back from where
// files are moved. What is wrong is a finding of the draft.
#pragma once

#include "ui/bridge/newest_job.h"

#include <QObject>
#include <QTimer>

namespace weft::ui {

class Draft;

class DraftCheck : public QObject {
    Q_OBJECT
public:
    explicit DraftCheck(Draft& draft, QObject* parent = nullptr);

private:
    void look();

    Draft& draft_;
    QTimer timer_; // from an edit to the look
    NewestJob job_{this};
};

} // namespace weft::ui
