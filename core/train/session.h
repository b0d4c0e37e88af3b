// SPDX-License-Identifier: Apache-2.0
// One training run from configuration to its end. run() blocks and belongs on an engine thread;
// post() may be called from any thread. Every event is in events.jsonl before the sink sees it.
#pragma once

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/compile/config/run_config.h"
#include "core/exec/executor.h"
#include "core/plan/plan.h"
#include "core/profile/recording.h"
#include "core/train/record/event.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

namespace weft::train {

/// Where a run begins.
struct StartFrom {
    std::filesystem::path checkpoint; // empty: initial weights
    bool fork = false;                // new run with a parent link, else the same run goes on
    std::filesystem::path parent_run; // fork: the run it comes from
    // Where the checkpoint cannot be used, the newest usable one beside it will do.
    bool or_older = false;
};

/// Which steps of a run are recorded (core/profile). Steps that a stopped run does not reach are
/// not in the recording.
struct RecordedSteps {
    std::int64_t count = 0; // 0: nothing is recorded
    /// The first of them; 0: the tenth of this session, when kernels and libraries have settled.
    std::int64_t from = 0;
    std::int64_t most_calls = profile::kMostEvents; // that a recording has room for
};

class RankTeam;

struct SessionOptions {
    compile::RunConfig config;
    std::filesystem::path run_folder; // created by the caller (run_folder.h)
    StartFrom start;
    std::optional<std::int64_t>
        max_steps;                 // of the whole run; stops early, resumable; schedules stay
    std::int64_t extend_steps = 0; // resume: so many steps more than before
    int threads = 0;               // 0: all cores
    /// Where this machine's calibration is kept (machine_cost.h); empty: nothing is predicted,
    /// learnt.
    std::filesystem::path calibration_file;
    bool start_paused = false;
    std::string control; // path of the control socket, told in the run's lock; empty: none
    std::string devices_note{}; // why it computes where it does, where somebody chose; "": nobody did
    std::string version; // of the program, for run.json and checkpoints
    /// Told about every kernel call of the step loop, on the engine thread; may post. Null: nobody.
    exec::StepObserver* observer = nullptr;
    RecordedSteps record{};
    /// The other processes of the run, where each device has one; outlives the session. Null: all
    /// devices are of this process.
    RankTeam* team = nullptr;
    /// What time it is; null: the system's. Outlives the session.
    const Clock* clock = nullptr;
    /// Gets every event, in order, one call at a time: on the engine thread, or on the thread that
    /// posts for the answer to its command and the change of state that follows at once. Must be
    /// quick, must not throw and must not call the session.
    std::function<void(const Event&)> sink;
};

enum class Outcome : std::uint8_t {
    finished,            // full length reached (exit 0)
    paused_at_max_steps, // --max-steps (exit 0)
    stopped,             // on request, with a resumable checkpoint (exit 75)
    stopped_now,         // on request, without saving
    failed,
};

struct SessionResult {
    Outcome outcome = Outcome::finished;
    std::int64_t step = 0;
    std::optional<ErrorKind> error; // failed: for the exit code
    std::string message;
};

class Session {
public:
    explicit Session(SessionOptions options);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Opens data, compiles, trains, winds up. Never throws: a fault becomes an `error` event and
    /// Outcome::failed. Call once.
    SessionResult run();

    /// Judges, logs and answers a command at once; it takes effect at the next step boundary
    /// (stop_now between two ops) and wakes a paused run. Thread-safe, never waits for a step.
    /// Commands posted before run() are answered when it starts.
    void post(Command command);

    /// The compiled plan, once preparing is over (thread-safe); null before.
    std::shared_ptr<const plan::ExecutionPlan> plan() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::train
