// SPDX-License-Identifier: GPL-3.0-or-later
// Work off the GUI thread: `work` runs on a pool and must hold everything it needs by value; `done`
// gets its result on the GUI thread, unless `context` is gone by then. What `work` throws is thrown
// there again instead, where GuardedApplication says it.
//
// Qt fills large areas on the global pool and waits for it: what else ran there would hold up every
// paint until it is done.
#pragma once

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>

#include <exception>
#include <memory>
#include <sys/resource.h>
#include <utility>

namespace weft::ui {

/// Ends before the application does.
inline QThreadPool* backgroundPool() {
    struct Pool : QThreadPool {
        Pool() {
            qAddPostRoutine([] { backgroundPool()->waitForDone(); });
        }
    };
    static Pool pool;
    return &pool;
}

/// One thread of its own that gives way to the others, the more the higher its niceness.
class QuietPool : public QThreadPool {
public:
    explicit QuietPool(int niceness) {
        setMaxThreadCount(1);
        setExpiryTimeout(-1);
        start([niceness] { setpriority(PRIO_PROCESS, 0, niceness); }); // on Linux: of this thread
    }
};

template <class Work, class Done>
void runInBackground(QObject* context, Work work, Done done,
                     QThreadPool* pool = backgroundPool()) {
    pool->start([guard = QPointer<QObject>(context), work = std::move(work),
                 done = std::move(done)]() mutable {
        std::shared_ptr<decltype(work())> result;
        std::exception_ptr fault;
        try {
            result = std::make_shared<decltype(work())>(work());
        } catch (...) {
            fault = std::current_exception();
        }
        QMetaObject::invokeMethod(
            QCoreApplication::instance(),
            [guard, result, fault, done = std::move(done)]() mutable {
                if (fault) {
                    std::rethrow_exception(fault);
                }
                if (guard) {
                    done(std::move(*result));
                }
            },
            Qt::QueuedConnection);
    });
}

} // namespace weft::ui
