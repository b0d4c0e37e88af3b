// SPDX-License-Identifier: GPL-3.0-or-later
// The line to the process that trains a run, on a thread of its own: finds the process, connects,
// claims control, receives and parses events, connects again, and learns how the process ended. A
// process that cannot be reached is followed by its files. The GUI thread only puts lines in and
// takes news out. Every command is answered: what a dropped connection may have lost is sent again
// unless the run's record has its answer, and refused when the process cannot be reached.
#pragma once

#include "core/train/record/event.h"
#include "ui/bridge/run/worker_process.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft::ui {

/// Who may command the run.
struct RunControlState {
    enum class Who {
        Asking,      // not known yet
        Mine,        // this studio
        Other,       // `why` says who
        Unreachable, // `why` says why
    };
    Who who = Who::Asking;
    std::string why;
};

struct LineNews {
    std::vector<train::Event> events;          // of the run's record, in order, each once
    std::vector<train::CommandEvent> refusals; // answers that are not in the record
    std::vector<std::string> log;              // lines that the worker printed
    std::optional<RunControlState> control;    // when it changed
    std::optional<ProcessEnd> end;             // nobody trains the run any more
};

class RunLine {
public:
    struct Target {
        std::filesystem::path folder;
        pid_t child = 0;           // 0: somebody else started it
        std::filesystem::path log; // empty: none
        std::int64_t log_offset = 0;
        std::filesystem::path counters{}; // of the system: memoryKills
    };
    explicit RunLine(Target target);
    /// Leaves the process alone, and takes no longer than a system call.
    ~RunLine();
    RunLine(const RunLine&) = delete;
    RunLine& operator=(const RunLine&) = delete;

    /// Events above this number from now on; before it is called, none come.
    void stream(std::int64_t after_seq);
    void send(const train::Command& command);
    void takeOver();
    LineNews takeNews();

private:
    struct Shared;
    class Thread;

    std::shared_ptr<Shared> shared_;
    std::unique_ptr<Thread> thread_;
};

} // namespace weft::ui
