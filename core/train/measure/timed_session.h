// SPDX-License-Identifier: Apache-2.0
// A short training session with a clock at every kernel call: what calibrate learns from. It is the
// session of `weft train`, with its loader, its events and its threads, so that what a step takes
// beside its kernels is in it.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/plan/plan.h"

#include <filesystem>
#include <memory>
#include <stop_token>
#include <vector>

namespace weft::train {

struct TimedSessionOptions {
    std::filesystem::path folder; // of the run; is created and removed again
    int threads = 0;              // 0: all that this process may use
    double seconds = 5;           // of steps; at least kFewestTimedSteps are taken
    std::stop_token stop;
};
constexpr std::size_t kFewestTimedSteps = 2;

/// Means over the middle half of the steps, by duration: close to the median, and yet the parts add
/// up to the whole.
struct TimedSteps {
    std::shared_ptr<const plan::ExecutionPlan> plan;
    int steps = 0;     // that were timed, the first of the session is not
    double step_s = 0; // of a whole step, as step events count it
    double mean_s = 0; // of all timed steps: what training takes, with every interruption
    double spread = 0; // of all timed steps, relative standard deviation
    std::vector<double> kernel_s; // [linear position in train_step], all visits of a step
};

/// Trains `config` without evaluations and checkpoints. Throws weft::Error; stops with
/// weft::Error{runtime}.
TimedSteps time_session(const compile::RunConfig& config, const TimedSessionOptions& options);

} // namespace weft::train
