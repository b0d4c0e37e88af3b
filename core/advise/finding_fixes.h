// SPDX-License-Identifier: Apache-2.0
// What to change so that a finding of the linter (core/sharding/lint.h) is gone.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/plan/plan.h"

namespace weft::advise {

/// The change that keeps most first; empty where only another number of devices helps. The plan
/// must be of this configuration.
std::vector<sharding::FindingFix> finding_fixes(const compile::RunConfig& config,
                                                const plan::ExecutionPlan& plan,
                                                const sharding::Finding& finding);

/// Fills in the fixes of all findings of a plan.
void add_finding_fixes(const compile::RunConfig& config, plan::ExecutionPlan& plan);

} // namespace weft::advise
