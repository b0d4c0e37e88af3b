// SPDX-License-Identifier: GPL-3.0-or-later
// Background work of which only the newest counts, on the GUI thread.
#pragma once

#include "ui/bridge/background.h"

#include <stop_token>
#include <type_traits>

namespace weft::ui {

/// Work for one purpose of the object that holds this. What is asked for anew makes the work before
/// end early and drops its result; so does the end of this.
class NewestJob {
public:
    /// `owner` holds this.
    explicit NewestJob(QObject* owner) : owner_(owner) {}
    NewestJob(const NewestJob&) = delete;
    NewestJob& operator=(const NewestJob&) = delete;
    ~NewestJob() { stop_.request_stop(); }

    /// In place of what is under way. `work` is given the stop token, if it takes one; `done` gets
    /// its result.
    template <class Work, class Done>
    void start(Work work, Done done, QThreadPool* pool = backgroundPool()) {
        drop();
        join(std::move(work), std::move(done), pool);
    }
    /// Beside what is under way: it is stopped and dropped together with that.
    template <class Work, class Done>
    void join(Work work, Done done, QThreadPool* pool = backgroundPool()) {
        ++running_;
        runInBackground(
            owner_,
            [work = std::move(work), stop = token()]() mutable {
                if constexpr (std::is_invocable_v<Work&, const std::stop_token&>) {
                    return work(stop);
                } else {
                    return work();
                }
            },
            [this, number = number_, done = std::move(done)](auto result) mutable {
                if (number == number_) {
                    --running_;
                    done(std::move(result));
                }
            },
            pool);
    }
    /// What is under way ends early, and its result is dropped.
    void drop() {
        stop();
        ++number_;
        running_ = 0;
    }
    /// What is under way ends early; what it has found by then counts.
    void stop() {
        stop_.request_stop();
        stop_ = std::stop_source();
    }
    bool isRunning() const { return running_ > 0; }
    std::stop_token token() const { return stop_.get_token(); }

private:
    QObject* owner_;
    std::stop_source stop_;
    std::int64_t number_ = 0; // of the newest job
    int running_ = 0;         // parts of it
};

} // namespace weft::ui
