// SPDX-License-Identifier: GPL-3.0-or-later
// A worker: the headless `weft`, started so that it outlives the studio.
#pragma once

#include <QString>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace weft::ui {

struct WorkerCommand {
    std::filesystem::path program;
    std::vector<std::string> arguments;
    std::filesystem::path log; // takes what it prints, at its end
    std::vector<std::string> environment{}; // NAME=value, in place of those of this process
};

struct StartedWorker {
    pid_t pid = -1;  // negative: it was not started
    QString problem; // why not
};
/// Starts a session of its own (no terminal, no signals of ours), with a lower priority: the window
/// wins whenever it wants a core.
StartedWorker startWorker(const WorkerCommand& command);

/// How a process ended; `known` only for a child of this process.
struct ProcessEnd {
    bool known = false;
    int code = 0;
    int signal = 0; // that ended it; 0: it ended by itself
    /// Processes that the system ended for want of memory while this one was followed; nothing: it
    /// does not say.
    std::optional<std::int64_t> memory_kills{};
};
/// Nothing while the child lives. Does not wait.
std::optional<ProcessEnd> endOf(pid_t child);
/// How many processes the system has ended for want of memory since it began: "oom_kill" of its
/// counters, a file like /proc/vmstat. In a container these may be those of the whole machine.
std::optional<std::int64_t> memoryKills(const std::filesystem::path& counters);
/// "signal 9 (SIGKILL)"
QString signalText(int number);

} // namespace weft::ui
