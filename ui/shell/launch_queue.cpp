// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/launch_queue.h"

#include "ui/shell/main_window.h"

#include <QApplication>

namespace weft::ui {

LaunchQueue::LaunchQueue(MainWindow& window) : window_(window) {
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
        const LaunchRequest request = waiting_.dequeue();
        for (const QString& file : request.files) {
            window_.open(file);
        }
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
