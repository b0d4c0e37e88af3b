// SPDX-License-Identifier: Apache-2.0
// Starts what waits in the queue as devices get free, each run as a process of its own, and notes
// what became of it. It may be killed at any moment: the queue on disk and the runs' own folders
// say all that the next one has to know, and runs that go on meanwhile are found again.
#pragma once

#include "core/base/clock.h"
#include "core/base/wake.h"
#include "core/queue/advance.h"
#include "core/queue/outcome.h"
#include "core/queue/process.h"
#include "core/queue/starts.h"

#include <atomic>
#include <map>
#include <set>

namespace weft::queue {

struct SchedulerOptions {
    Path runs_root;
    Path program;                         // `weft`
    std::vector<std::string> environment; // NAME=value, for runs
    Machine machine;
    bool until_empty = false; // end when nothing can be started any more
    std::function<void(const std::string&)> tell = [](const std::string&) {};
};

class Scheduler {
public:
    /// Throws weft::Error{usage} where another process schedules this queue.
    explicit Scheduler(SchedulerOptions options);

    /// Until stop(), or the queue is empty. Throws weft::Error.
    void run();
    /// The first time runs save and stop, and wait for the next scheduler; the second time they
    /// stop at once. Any thread.
    void stop();

private:
    void collect();
    void look_after_orphans();
    void heed_stops();
    bool tell_to_stop(const Entry& entry);
    void start_runs();
    std::optional<Entry> take(const Start& what);
    void start(const Start& what);
    /// `end` null: it was found gone.
    void note_end(std::int64_t id, const Process::End* end);
    void settle(Book& book, Entry& entry, const Ended& ended);
    void warn_of_misfits();
    void tell(const Entry& entry, const std::string& what) const;
    bool is_idle(const Book& book) const;
    void change(const std::function<void(Book&)>& what);
    const Book& book();
    Path lock_of(std::int64_t id) const;

    SchedulerOptions options_;
    Path folder_;
    SystemClock clock_;
    File lock_;
    Wake wake_;
    std::atomic<int> stops_ = 0;
    std::map<std::int64_t, Process> children_; // by entry
    std::map<std::int64_t, int> told_to_stop_; // how often
    std::set<std::int64_t> misfits_;           // told of
    Book book_;
    std::string stamp_;
};

/// Whether a process schedules the queue.
bool is_scheduled(const Path& folder);
/// Its process, which ends by SIGTERM as by Ctrl-C; none where there is none, or it has just begun.
std::optional<std::int64_t> scheduler_of(const Path& folder);
/// What `entry` is started with; its run folder is known.
std::vector<std::string> command_of(const Entry& entry, const Path& program, const Path& folder);

} // namespace weft::queue
