// SPDX-License-Identifier: Apache-2.0
// A configuration as a plan for given back ends, without a file or a run folder.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/plan/plan.h"
#include "kernels/weft_kernels.h"
#include "tests/e2e/emulated/models.h"

#include <memory>
#include <vector>

namespace weft::test {

compile::RunConfig config_of(const EmulatedModel& model);
std::shared_ptr<const plan::ExecutionPlan> plan_for(const compile::RunConfig& config,
                                                    std::vector<const weft_backend*> backends);

} // namespace weft::test
