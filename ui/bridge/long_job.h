// SPDX-License-Identifier: GPL-3.0-or-later
// Work on gigabytes, which takes minutes: in a pool of its own, so that what takes a moment never
// queues behind it, with its progress, and stopped where it next tells that.
#pragma once

#include "ui/bridge/background.h"

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>

namespace weft::ui {

/// Two threads. Leaving the studio waits for them: whoever starts a job stops it in its destructor.
inline QThreadPool* longJobPool() {
    struct Pool : QThreadPool {
        Pool() {
            setMaxThreadCount(2);
            qAddPostRoutine([] { longJobPool()->waitForDone(); });
        }
    };
    static Pool pool;
    return &pool;
}

/// The two ends of one job; copies are the same job.
class LongJob {
public:
    struct Stopped {}; // thrown through the work by progress()

    /// For the work: 0 to 1.
    std::function<void(double)> progress() const {
        return [share = share_, stop = stop_.get_token()](double done) {
            if (stop.stop_requested()) {
                throw Stopped();
            }
            share->store(done);
        };
    }
    double share() const { return share_->load(); }
    void stop() { stop_.request_stop(); }

private:
    std::shared_ptr<std::atomic<double>> share_ = std::make_shared<std::atomic<double>>(0.0);
    std::stop_source stop_;
};

} // namespace weft::ui
