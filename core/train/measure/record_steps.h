// SPDX-License-Identifier: Apache-2.0
// Records steps of a run for the profiler: watches the devices while its steps are on, and writes
// the recording into the run's folder when they are over, or when the run ends before. A recording
// that cannot be made or written is told and costs the run nothing. On the thread of the step loop.
#pragma once

#include "core/profile/step_recorder.h"
#include "core/train/control/run_control.h"
#include "core/train/record/run_folder.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace weft::train {

class RecordSteps {
public:
    using Make = std::function<std::unique_ptr<profile::StepRecorder>(std::int64_t steps)>;
    /// `make` gives a recorder of so many steps; a recording has at most `most_calls` calls.
    /// `after` watches device 0 when the steps are over; may be null. Everything outlives this.
    RecordSteps(exec::Executor& executor, const std::filesystem::path& folder, RunControl& control,
                const RunLock& lock, Make make, std::int64_t most_calls, exec::StepObserver* after);

    /// Records `count` steps, the first of them `first` or, where that is behind it already, the
    /// next one; fewer where there is no room for more. There is no recording yet.
    void order(std::int64_t first, std::int64_t count);
    bool is_ordered() const { return recorder_ != nullptr; }
    /// Whether this step is to be recorded: no other may be under way with it.
    bool wants(std::int64_t step) const { return is_ordered() && step >= first_; }

    // Around each step, in this order; nothing happens in those that are not recorded.
    void begin_step(std::int64_t step);
    /// Whether the step that is under way is recorded.
    bool is_on() const { return is_on_; }
    void batch_ready();
    void computed();
    void end_step();

    /// The run ends, for this reason ("the run was stopped"): what is recorded so far is written.
    void end(const std::string& why);

private:
    void watch(bool on);
    void write();
    void tell(RecordingEvent event);

    exec::Executor& executor_;
    const std::filesystem::path& folder_; // of the run
    RunControl& control_;
    const RunLock& lock_;
    Make make_;
    std::int64_t most_calls_;
    exec::StepObserver* after_;
    std::unique_ptr<profile::StepRecorder> recorder_; // null: nothing is to be recorded
    std::int64_t first_ = 0;
    std::int64_t count_ = 0; // to be recorded
    std::int64_t asked_ = 0; // more than that where there is no room for all
    std::string cut_short_;
    bool is_on_ = false;
};

} // namespace weft::train
