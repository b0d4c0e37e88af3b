// SPDX-License-Identifier: GPL-3.0-or-later
// What other starts of the program ask for, one after the other: nothing is opened below a dialog
// that waits for its answer, which was asked about what the window showed before.
#pragma once

#include "ui/shell/single_instance.h"

#include <QQueue>

namespace weft::ui {

class Draft;
class MainWindow;

class LaunchQueue : public QObject {
public:
    LaunchQueue(MainWindow& window, Draft& draft);

    /// Brings the window to the front now, opens once no dialog is in the way, and triggers once
    /// what the draft leaves to its data is known too.
    void add(const LaunchRequest& request);

private:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void serve();

    MainWindow& window_;
    Draft& draft_;
    QQueue<LaunchRequest> waiting_;
};

} // namespace weft::ui
