// SPDX-License-Identifier: Apache-2.0
// Training steps of a plan on any devices, without a session around them.
#pragma once

#include "core/data/loader.h"
#include "core/exec/executor.h"
#include "core/train/update.h"
#include "tests/e2e/emulated/emulated_plan.h"

#include <memory>

namespace weft::test {

/// The first emulated GPUs.
exec::Compute emulated(int devices);

class SteppedRun {
public:
    SteppedRun(const compile::RunConfig& config, const exec::Compute& compute,
               std::shared_ptr<const plan::ExecutionPlan> plan,
               exec::ExecutorOptions options = {.threads = 1});

    exec::Executor& executor() { return executor_; }
    /// Makes a step and returns its loss.
    double step();

private:
    exec::Executor executor_;
    data::DataSet data_;
    data::Loader loader_;
    train::Update update_;
    int steps_ = 0;
};

} // namespace weft::test
