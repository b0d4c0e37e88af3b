// SPDX-License-Identifier: Apache-2.0
// The run state machine: Idle -> Validating -> Preparing -> Running <-> Paused -> (Saving) ->
// Finished | Stopped | Failed. A pure class: no threads, no clock, no I/O, so that a table can test
// every (state, input) pair. Duplicate requests are ignored; every input is legal in every state.
#pragma once

#include "core/train/control/command.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::train {

enum class RunState : std::uint8_t {
    idle,
    validating,
    preparing,
    running,
    paused,
    saving,
    stopping,
    finished,
    stopped,
    failed,
};
std::string_view state_name(RunState state); // "running"
bool is_final(RunState state);
/// Running, paused, saving, ...: a second run must not start beside it.
bool is_active(RunState state);

/// What happens to a run, apart from commands.
enum class RunInput : std::uint8_t {
    start,
    validated,
    prepared,
    step_done,
    save_begun,
    save_done,
    length_reached,
    end,   // the engine has wound up after a stop or at the full length
    fault, // an error ended the run
};

/// What the engine loop must do at the next step boundary.
struct Wanted {
    bool pause = false;    // wait for commands
    bool save = false;     // write a checkpoint
    bool stop = false;     // end after saving
    bool stop_now = false; // end at once
    bool single_step = false;
    bool evaluate = false;
};

class RunStateMachine {
public:
    RunState state() const { return state_; }
    const Wanted& wanted() const { return wanted_; }

    /// Applies an engine input; returns true when the state changed. An input that makes no sense
    /// in this state changes nothing.
    bool apply(RunInput input);
    /// Applies a command; returns true when it was accepted (false: makes no sense in this state,
    /// e.g. pause after finished; the reason goes into the answer event).
    bool apply(CommandKind command);
    /// Clears a request once the loop has carried it out.
    void done(bool Wanted::*request) { wanted_.*request = false; }

private:
    bool enter(RunState next);
    bool apply_stop(CommandKind command);
    bool apply_pace(CommandKind command);

    RunState state_ = RunState::idle;
    Wanted wanted_;
    bool length_reached_ = false;
};

/// Why a command was refused in this state: the reason of its answer event.
std::string refusal(CommandKind command, RunState state);

} // namespace weft::train
