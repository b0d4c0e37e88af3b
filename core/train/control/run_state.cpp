// SPDX-License-Identifier: Apache-2.0
#include "core/train/control/run_state.h"

namespace weft::train {

std::string_view state_name(RunState state) {
    switch (state) {
    case RunState::idle: return "idle";
    case RunState::validating: return "validating";
    case RunState::preparing: return "preparing";
    case RunState::running: return "running";
    case RunState::paused: return "paused";
    case RunState::saving: return "saving";
    case RunState::stopping: return "stopping";
    case RunState::finished: return "finished";
    case RunState::stopped: return "stopped";
    case RunState::failed: return "failed";
    }
    return "idle";
}

bool is_final(RunState state) {
    return state == RunState::finished || state == RunState::stopped || state == RunState::failed;
}

bool is_active(RunState state) {
    return state != RunState::idle && !is_final(state);
}

bool RunStateMachine::enter(RunState next) {
    const bool changed = state_ != next;
    state_ = next;
    return changed;
}

bool RunStateMachine::apply(RunInput input) {
    // What a pause asked for before or during a phase means for the state after it.
    const RunState going_on = wanted_.pause ? RunState::paused : RunState::running;
    switch (input) {
    case RunInput::start: return state_ == RunState::idle && enter(RunState::validating);
    case RunInput::validated: return state_ == RunState::validating && enter(RunState::preparing);
    case RunInput::prepared:
        if (state_ != RunState::preparing) {
            return false;
        }
        return enter(wanted_.single_step ? RunState::running : going_on);
    case RunInput::step_done:
        if (state_ != RunState::running) {
            return false;
        }
        wanted_.single_step = false;
        return enter(going_on);
    case RunInput::save_begun:
        return (state_ == RunState::running || state_ == RunState::paused) &&
               enter(RunState::saving);
    case RunInput::save_done:
        return state_ == RunState::saving &&
               enter(wanted_.single_step ? RunState::running : going_on);
    case RunInput::length_reached:
        if (is_active(state_)) {
            length_reached_ = true;
            wanted_.pause = false;
            wanted_.single_step = false;
            if (state_ == RunState::paused) {
                return enter(RunState::running);
            }
        }
        return false;
    case RunInput::end:
        if (!is_active(state_)) {
            return false;
        }
        return enter(length_reached_ && !wanted_.stop_now ? RunState::finished : RunState::stopped);
    case RunInput::fault: return !is_final(state_) && enter(RunState::failed);
    }
    return false;
}

bool RunStateMachine::apply(CommandKind command) {
    if (is_final(state_)) {
        return false;
    }
    switch (command) {
    case CommandKind::stop:
    case CommandKind::stop_now: return apply_stop(command);
    case CommandKind::pause:
    case CommandKind::resume:
    case CommandKind::step: return apply_pace(command);
    case CommandKind::checkpoint:
    case CommandKind::evaluate:
        if (state_ == RunState::stopping || state_ == RunState::idle) {
            return false;
        }
        (command == CommandKind::checkpoint ? wanted_.save : wanted_.evaluate) = true;
        return true;
    case CommandKind::extend:
    case CommandKind::set:
    case CommandKind::profile:
        return state_ != RunState::stopping && state_ != RunState::idle && !length_reached_;
    }
    return false;
}

bool RunStateMachine::apply_stop(CommandKind command) {
    wanted_.stop = true;
    wanted_.stop_now = wanted_.stop_now || command == CommandKind::stop_now;
    wanted_.pause = false;
    wanted_.single_step = false;
    enter(state_ == RunState::idle ? RunState::stopped : RunState::stopping);
    return true;
}

bool RunStateMachine::apply_pace(CommandKind command) {
    if (state_ == RunState::stopping || length_reached_) {
        return false;
    }
    if (command == CommandKind::pause) {
        // Running becomes paused at the next step boundary: the state never runs ahead of the
        // engine.
        wanted_.pause = true;
        wanted_.single_step = false;
        return true;
    }
    if (command == CommandKind::resume) {
        wanted_.pause = false;
        wanted_.single_step = false;
    } else {
        if (!wanted_.pause) {
            return false;
        }
        wanted_.single_step = true;
    }
    if (state_ == RunState::paused) {
        enter(RunState::running);
    }
    return true;
}

std::string refusal(CommandKind command, RunState state) {
    if (is_final(state)) {
        return "the run is " + std::string(state_name(state));
    }
    if (state == RunState::stopping) {
        return "the run is stopping";
    }
    if (state == RunState::idle) {
        return "the run has not started";
    }
    if (command == CommandKind::step) {
        return "a single step needs a paused run";
    }
    return "the run has reached its length";
}

} // namespace weft::train
