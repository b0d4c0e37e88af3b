// SPDX-License-Identifier: Apache-2.0
// A queue in a folder of its own, and the `weft` that works on it.
#pragma once

#include "core/queue/scheduler.h"
#include "core/train/record/run_folder.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/weft_test.h"

#include <csignal>
#include <memory>

namespace weft::test {

class QueueRoom {
public:
    explicit QueueRoom(std::filesystem::path root) : root_(std::move(root)) {}
    /// No run outlives a test that failed.
    ~QueueRoom() {
        for (const queue::Entry& entry : book().entries) {
            const auto lock = train::read_lock(entry.run);
            if (!entry.run.empty() && lock && lock->pid > 0) {
                ::kill(static_cast<pid_t>(lock->pid), SIGKILL);
            }
        }
    }
    QueueRoom(const QueueRoom&) = delete;
    QueueRoom& operator=(const QueueRoom&) = delete;

    const std::filesystem::path& root() const { return root_; }
    queue::Book book() const { return queue::read_book(queue::folder_under(root_)); }
    queue::Entry entry(std::int64_t id) const {
        const queue::Book all = book();
        const queue::Entry* found = all.find(id);
        return found == nullptr ? queue::Entry{} : *found;
    }
    /// The process that schedules it; 0 when there is none.
    std::int64_t scheduler_pid() const {
        return queue::scheduler_of(queue::folder_under(root_)).value_or(0);
    }
    /// `weft ...` with this root.
    Finished weft(const QStringList& arguments) const { return run_weft(arguments, environment()); }
    /// `weft queue run`, which goes on.
    std::unique_ptr<QProcess> scheduler(const QStringList& more = {"--until-empty"}) const {
        auto out = std::make_unique<QProcess>();
        out->setProgram(QStringLiteral(WEFT_PROGRAM));
        out->setArguments(QStringList{"queue", "run"} + more);
        out->setEnvironment(QProcess::systemEnvironment() + environment());
        out->setProcessChannelMode(QProcess::ForwardedErrorChannel);
        out->setStandardOutputFile(QProcess::nullDevice());
        out->start();
        out->waitForStarted();
        return out;
    }

private:
    QStringList environment() const {
        return {"WEFT_RUNS=" + QString::fromStdString(root_.string())};
    }

    std::filesystem::path root_;
};

/// Of a scheduler that ends by itself; -1 when it was killed, or has not ended in two minutes.
inline int code_of_end(QProcess& process) {
    constexpr int kPatienceMs = 120000;
    return process.waitForFinished(kPatienceMs) && process.exitStatus() == QProcess::NormalExit
               ? process.exitCode()
               : -1;
}

/// SIGKILL, and the system has noticed.
inline void kill_hard(QProcess& process) {
    process.kill();
    process.waitForFinished();
}

inline std::int64_t pid_of_run(const std::string& run) {
    const auto lock = train::read_lock(run);
    return lock ? lock->pid : 0;
}

} // namespace weft::test
