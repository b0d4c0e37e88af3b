// SPDX-License-Identifier: Apache-2.0
// The cost model of the machine that this process runs on: what `weft bench machine` and finished
// runs taught, out of a file whose place the programs decide
// ($XDG_CACHE_HOME/weft/calibration.json).
#pragma once

#include "core/cost/cost_model.h"
#include "core/plan/plan.h"

#include <filesystem>
#include <span>
#include <string>

namespace weft::train {

/// This processor, its kernels, and a team of `threads` (0: all cores that this process may use).
cost::MachineKey machine_key(int threads);

/// Never throws for what is in the file: a damaged or absent one gives a model that is not
/// available and says why. An empty path is an absent file.
cost::CostModel machine_cost_model(const std::filesystem::path& calibration_file, int threads);

/// Lets a finished run correct later predictions of the same program: the median of `step_ms`
/// against what the plan predicts from kernels alone. Does nothing with less than 20 steps, without
/// ceilings, or when the plan predicted nothing. Returns a problem to warn about; empty: none.
std::string note_finished_run(const std::filesystem::path& calibration_file, int threads,
                              const plan::ExecutionPlan& plan, std::span<const double> step_ms);

} // namespace weft::train
