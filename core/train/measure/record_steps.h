// SPDX-License-Identifier: Apache-2.0
// Records steps of a run for the profiler: watches the devices while its steps are on, and writes
// the recording into the run's folder when they are over. On the thread of the step loop.
#pragma once

#include "core/profile/step_recorder.h"

#include <filesystem>
#include <memory>
#include <string>

namespace weft::train {

class RecordSteps {
public:
    /// `count` steps, the first of them `first` or, where that is behind it already, the next one.
    /// `after` watches device 0 when the steps are over; may be null. Everything outlives this.
    RecordSteps(exec::Executor& executor, std::unique_ptr<profile::StepRecorder> recorder,
                std::int64_t first, std::int64_t count, exec::StepObserver* after);

    /// Whether the step that is under way, or comes next, is recorded.
    bool is_on() const { return is_on_; }
    void begin_step(std::int64_t step);
    void batch_ready();
    void computed();
    /// True when that was the last one: there is a recording to be written.
    bool end_step();

    /// Whether there is something to be written.
    bool has_steps() const { return recorder_ != nullptr && recorder_->steps() > 0; }
    /// Writes what is recorded and ends the recording. The file. Throws weft::Error{runtime}.
    std::filesystem::path write(const std::filesystem::path& folder, const std::string& run);

private:
    void watch(bool on);

    exec::Executor& executor_;
    std::unique_ptr<profile::StepRecorder> recorder_; // null: done
    const std::int64_t first_;
    const std::int64_t count_;
    exec::StepObserver* after_;
    bool is_on_ = false;
};

} // namespace weft::train
