// SPDX-License-Identifier: Apache-2.0
// Keeps the times of a training step's calls while it runs: one list per device, room for all of
// them reserved before the first, so that nothing is allocated in a step. What is recorded costs
// two readings of the clock and one store per call.
#pragma once

#include "core/base/clock.h"
#include "core/cost/cost_model.h"
#include "core/exec/executor.h"
#include "core/plan/plan.h"
#include "core/profile/recording.h"

#include <memory>
#include <string>
#include <vector>

namespace weft::profile {

/// Calls that one training step makes on all devices together.
std::int64_t events_of_step(const plan::ExecutionPlan& plan);

class StepRecorder {
public:
    /// Of `steps` runs of the plan's train_step. `cost` prices best times; one that is not
    /// available leaves them out. The clock outlives the recorder.
    StepRecorder(std::shared_ptr<const plan::ExecutionPlan> plan, const cost::CostModel& cost,
                 std::vector<std::string> device_names, std::int64_t steps, const Clock& clock);
    ~StepRecorder();
    StepRecorder(const StepRecorder&) = delete;
    StepRecorder& operator=(const StepRecorder&) = delete;

    /// To be given to the executor (set_observer), used on the thread of the device.
    exec::StepObserver& observer(int device);

    // On the thread of the step loop, in this order.
    void begin_step(std::int64_t step);
    void batch_ready();
    void computed();
    void end_step();

    /// Steps that are over.
    std::int64_t steps() const;
    /// Of all steps that are over; at least one.
    Recording recording(const std::string& run) const;

private:
    class Lane;
    double now_us() const;

    const Clock& clock_;
    Recording head_; // everything but events
    double origin_s_ = 0;
    StepTimes now_;
    std::vector<std::unique_ptr<Lane>> lanes_;
};

} // namespace weft::profile
