// SPDX-License-Identifier: GPL-3.0-or-later
// Work off the GUI thread: `work` runs on a pool and must hold everything it needs by value; `done`
// gets its result on the GUI thread, unless `context` is gone by then.
#pragma once

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>

#include <memory>
#include <utility>

namespace weft::ui {

template <class Work, class Done>
void runInBackground(QObject* context, Work work, Done done,
                     QThreadPool* pool = QThreadPool::globalInstance()) {
    pool->start(
        [guard = QPointer<QObject>(context), work = std::move(work), done = std::move(done)]() mutable {
            auto result = std::make_shared<decltype(work())>(work());
            QMetaObject::invokeMethod(
                QCoreApplication::instance(),
                [guard, result, done = std::move(done)]() mutable {
                    if (guard) {
                        done(std::move(*result));
                    }
                },
                Qt::QueuedConnection);
        });
}

} // namespace weft::ui
