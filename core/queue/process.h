// SPDX-License-Identifier: Apache-2.0
// The process that trains an entry's run. It holds a lock of the kernel on a file of its own from
// before it begins until it has ended, whoever started it: no scheduler, also a later one, can
// start an entry a second time.
#pragma once

#include "core/base/file.h"

#include <optional>
#include <string>
#include <vector>

namespace weft::queue {

/// Whether a process holds the lock of an entry. Takes nothing.
bool is_held(const Path& lock_file);

struct Launch {
    std::vector<std::string> command;     // the program's path first
    std::vector<std::string> environment; // NAME=value, all of it
    Path lock_file;
    Path log_file; // what it says is added
};

class Process {
public:
    /// None where another process holds the lock. Throws weft::Error{runtime} when it cannot be
    /// started. It has a process group of its own: Ctrl-C is for the scheduler.
    static std::optional<Process> start(const Launch& launch);

    int pid() const { return pid_; }
    struct End {
        bool ended = false;
        std::optional<int> exit_code; // none: a signal ended it
    };
    /// Does not wait.
    const End& poll();
    /// SIGTERM: once it saves and stops, twice it stops at once.
    void ask_to_stop() const;

private:
    explicit Process(int pid) : pid_(pid) {}
    int pid_;
    End end_;
};

} // namespace weft::queue
