// SPDX-License-Identifier: Apache-2.0
// Where the thread that trains and the threads that command meet: state machine, live settings and
// event log behind one mutex.
//
// A command is judged, logged and answered inside post(), on the poster's thread, and takes effect
// at the next step boundary. So the answer never waits for a long step, answers and state events
// are in one order for everybody, and nothing is lost between judging and carrying out. The lock is
// held for one line of events.jsonl and one call of the sink, never for a step.
#pragma once

#include "core/train/control/live_settings.h"
#include "core/train/control/run_state.h"
#include "core/train/record/run_folder.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

namespace weft::train {

/// What the loop acts on until the next boundary.
struct Orders {
    RunState state = RunState::idle;
    Wanted wanted;
    LiveSettings live;
    std::string live_by;           // who changed a setting last
    std::int64_t record_steps = 0; // ordered, until their recording is over; 0: none
};

/// Of one recording.
inline constexpr std::int64_t kMostRecordedSteps = 10000;

class RunControl {
public:
    using Sink = std::function<void(const Event&)>;
    explicit RunControl(Sink sink) : sink_(std::move(sink)) {}

    /// Any thread. Before start() commands are kept and applied right after it.
    void post(Command command);
    /// Any thread. Ends the wait() that is under way, or the next one.
    void wake();

    // The rest belongs to the engine thread.

    enum class Begin : std::uint8_t { running, paused };
    /// Opens the event log of the folder and goes to `validating`.
    void start(const std::filesystem::path& folder, const LiveSettings& live, const Clock& clock,
               Begin begin);
    /// Writes an event, hands it to the sink and returns it. Before start() it goes nowhere.
    Event emit(Payload payload);
    /// Applies an input and emits the state event when the state changed.
    void apply(RunInput input, StateEvent details = {});
    Orders orders() const;
    /// The settings of a checkpoint; what was commanded meanwhile goes on top.
    void restore_live(const LiveSettings& live);
    /// The settings of a checkpoint that the run went back to: what was changed since then is not.
    void replace_live(const LiveSettings& live);
    /// Repeats a change of an earlier session: {"path": ..., "value": ...}.
    void repeat_change(const config::Json& argument);
    /// Layers that can be frozen, once they are known.
    void know_layers(std::vector<std::string> layers);
    /// Clears a request that has been carried out.
    void done(bool Wanted::*request);
    /// A recording that was asked for otherwise: no other is accepted meanwhile.
    void begin_recording(std::int64_t steps);
    void end_recording();
    /// The engine's own wish to pause (a full disk), as if commanded.
    void pause(const std::string& reason);
    /// Waits for a command or wake() while paused, at most `seconds`.
    void wait(double seconds);
    /// Why events do not reach the disk; empty when they do.
    std::string log_problem() const;
    void sync_log();

    /// Requested by stop and stop_now: long work between steps ends early.
    std::stop_token wind_up() const { return wind_up_.get_token(); }
    /// Requested by stop_now, and by stop before the first step: everything ends, the step too.
    std::stop_token halt() const { return halt_.get_token(); }

private:
    void answer(const Command& command);
    std::string change_live(const Command& command);
    void take_live(const LiveSettings& live);
    std::string order_recording(const Command& command);
    Event write(Payload payload);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Sink sink_;
    std::unique_ptr<EventLog> log_;
    RunStateMachine machine_;
    LiveSettings live_;
    std::string live_by_;
    std::shared_ptr<const std::vector<std::string>> layers_; // null while they are not known
    std::int64_t record_steps_ = 0;
    std::vector<Command> early_;
    std::vector<Command> live_changes_; // set and extend commands that were accepted
    std::int64_t changes_ = 0;          // counts commands and wake(), so that wait() misses none
    std::int64_t seen_ = 0;
    std::stop_source wind_up_;
    std::stop_source halt_;
};

} // namespace weft::train
