// SPDX-License-Identifier: Apache-2.0
#include "core/train/control/run_control.h"

#include "core/base/text.h"

#include <chrono>

namespace weft::train {

void RunControl::post(Command command) {
    {
        const std::lock_guard lock(mutex_);
        ++changes_;
        if (!log_) {
            early_.push_back(std::move(command));
            return;
        }
        answer(command);
    }
    changed_.notify_all();
}

void RunControl::wake() {
    {
        const std::lock_guard lock(mutex_);
        ++changes_;
    }
    changed_.notify_all();
}

void RunControl::start(const std::filesystem::path& folder, const LiveSettings& live,
                       const Clock& clock, Begin begin) {
    const std::lock_guard lock(mutex_);
    log_ = std::make_unique<EventLog>(folder, &clock);
    live_ = live;
    if (begin == Begin::paused) {
        machine_.apply(CommandKind::pause);
    }
    machine_.apply(RunInput::start);
    write(StateEvent{machine_.state(), "", "", 0, 0});
    for (const Command& command : early_) {
        answer(command);
    }
    early_.clear();
}

// Called with the lock held.
void RunControl::answer(const Command& command) {
    const RunState before = machine_.state();
    CommandEvent reply{command.id, command.by, std::string(command_name(command.kind)), true, ""};
    reply.accepted = machine_.apply(command.kind);
    if (!reply.accepted) {
        reply.reason = refusal(command.kind, before);
    } else if (command.kind == CommandKind::set || command.kind == CommandKind::extend) {
        reply.reason = change_live(command);
        if (reply.reason.empty()) {
            live_by_ = command.by;
            live_changes_.push_back(command);
        }
    } else if (command.kind == CommandKind::profile) {
        reply.reason = order_recording(command);
    }
    reply.accepted = reply.reason.empty();
    write(std::move(reply));
    if (machine_.state() != before) {
        write(StateEvent{machine_.state(), "on request", "", 0, 0});
    }
    if (machine_.wanted().stop) {
        wind_up_.request_stop();
    }
    const bool preparing = before == RunState::validating || before == RunState::preparing;
    if (machine_.wanted().stop_now || (machine_.wanted().stop && preparing)) {
        halt_.request_stop(); // while it is prepared a run has nothing to save
    }
}

// Called with the lock held.
std::string RunControl::change_live(const Command& command) {
    return command.kind == CommandKind::set ? apply_set(live_, command.argument)
                                            : apply_extend(live_, command.argument);
}

// Called with the lock held.
std::string RunControl::order_recording(const Command& command) {
    if (record_steps_ > 0) {
        return "steps are being recorded already";
    }
    const auto steps = command.argument.find("steps");
    const bool good = steps != command.argument.end() && steps->is_number_integer() &&
                      steps->get<std::int64_t>() >= 1 &&
                      steps->get<std::int64_t>() <= kMostRecordedSteps;
    if (!good) {
        return "\"steps\" is the number of steps to record, 1 to " +
               format_thousands(kMostRecordedSteps);
    }
    record_steps_ = steps->get<std::int64_t>();
    return {};
}

// Called with the lock held.
Event RunControl::write(Payload payload) {
    Event event = log_->write(std::move(payload));
    if (sink_) {
        sink_(event);
    }
    return event;
}

Event RunControl::emit(Payload payload) {
    const std::lock_guard lock(mutex_);
    return log_ ? write(std::move(payload)) : Event{0, 0, std::move(payload)};
}

void RunControl::apply(RunInput input, StateEvent details) {
    const std::lock_guard lock(mutex_);
    if (machine_.apply(input) && log_) {
        details.state = machine_.state();
        write(std::move(details));
    }
}

Orders RunControl::orders() const {
    const std::lock_guard lock(mutex_);
    return {machine_.state(), machine_.wanted(), live_, live_by_, record_steps_};
}

void RunControl::restore_live(const LiveSettings& live) {
    const std::lock_guard lock(mutex_);
    take_live(live);
    for (const Command& command : live_changes_) {
        change_live(command);
    }
}

void RunControl::replace_live(const LiveSettings& live) {
    const std::lock_guard lock(mutex_);
    take_live(live);
    live_changes_.clear();
}

void RunControl::repeat_change(const config::Json& argument) {
    const std::lock_guard lock(mutex_);
    apply_set(live_, argument); // it was good once
}

void RunControl::know_layers(std::vector<std::string> layers) {
    const std::lock_guard lock(mutex_);
    layers_ = std::make_shared<const std::vector<std::string>>(std::move(layers));
    live_.layers = layers_;
}

// Called with the lock held.
void RunControl::take_live(const LiveSettings& live) {
    live_ = live;
    live_.layers = layers_;
}

void RunControl::done(bool Wanted::*request) {
    const std::lock_guard lock(mutex_);
    machine_.done(request);
}

void RunControl::begin_recording(std::int64_t steps) {
    const std::lock_guard lock(mutex_);
    record_steps_ = steps;
}

void RunControl::end_recording() {
    begin_recording(0);
}

void RunControl::pause(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (machine_.apply(CommandKind::pause) && machine_.apply(RunInput::step_done) && log_) {
        write(StateEvent{machine_.state(), reason, "", 0, 0});
    }
}

void RunControl::wait(double seconds) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                      [&] { return seen_ != changes_; });
    seen_ = changes_;
}

std::string RunControl::log_problem() const {
    const std::lock_guard lock(mutex_);
    return log_ ? log_->problem() : std::string();
}

void RunControl::sync_log() {
    const std::lock_guard lock(mutex_);
    if (log_) {
        log_->sync();
    }
}

} // namespace weft::train
