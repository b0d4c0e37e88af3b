// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/launch_queue.h"

#include "ui/bridge/draft/draft.h"
#include "ui/shell/main_window.h"

#include <QApplication>

#include <utility>

namespace weft::ui {

LaunchQueue::LaunchQueue(MainWindow& window, Draft& draft) : window_(window), draft_(draft) {
    connect(&draft, &Draft::looked, this, &LaunchQueue::serve);
    window.installEventFilter(this);
}

void LaunchQueue::add(const LaunchRequest& request) {
    qputenv("XDG_ACTIVATION_TOKEN", request.token); // Qt takes it from there
    window_.comeToFront();
    waiting_.enqueue(request);
    serve();
}

void LaunchQueue::serve() {
    while (!waiting_.isEmpty() && QApplication::activeModalWidget() == nullptr) {
        for (const QString& file : std::exchange(waiting_.head().files, {})) {
            window_.open(file);
        }
        if (draft_.isLooking()) {
            return;
        }
        const LaunchRequest request = waiting_.dequeue();
        if (QAction* asked = window_.actions().find(request.action)) {
            asked->trigger(); // may wait for the answer of a dialog
        }
    }
}

bool LaunchQueue::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::WindowUnblocked) {
        // Who asked in the dialog takes its answer first.
        QMetaObject::invokeMethod(this, &LaunchQueue::serve, Qt::QueuedConnection);
    }
    return QObject::eventFilter(watched, event);
}

} // namespace weft::ui
