// SPDX-License-Identifier: Apache-2.0
// The same run otherwise: what changes would make it fit, what they cost, and which are worth
// having. Every figure comes from planning the changed run again, never from a guess.
#pragma once

#include "core/compile/programs/programs.h"
#include "core/plan/plan.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace weft::advise {

/// Plans a configuration completely (pipeline, host memory, verdict). Given by core/train.
using Planner = std::function<plan::ExecutionPlan(const compile::RunConfig&)>;

/// The figures of a changed run's plan.
plan::Alternative alternative_of(std::string change, std::vector<std::string> overrides,
                                 const plan::ExecutionPlan& plan);
/// Marks those that no other one beats in memory and in predicted time.
void mark_front(std::vector<plan::Alternative>& all);

/// Ways to make a run fit that does not, cheapest first: fewest predicted milliseconds, then fewest
/// changes. At most `most`; only ones that do fit by the plan that `planner` makes. Tried: bf16,
/// recompute auto and blocks, checkpoints that training waits for, and their combinations, each
/// with the largest micro batch that fits. None when the run fits, or when the state alone is too
/// much.
std::vector<plan::Alternative> fixes(const compile::RunConfig& config, const Planner& planner,
                                     std::size_t most, std::stop_token stop);

/// Precision x recompute x micro batch: every combination planned; those on the Pareto front of
/// memory against predicted step time are marked, sorted by memory.
std::vector<plan::Alternative> alternatives(const compile::RunConfig& config,
                                            const Planner& planner, std::stop_token stop);

/// Memory against predicted time over how much is computed again: none, up to six steps of auto
/// with budgets between the two, blocks; memory falls from each to the next. `fits` judges by the
/// memory that the configuration as it is may take.
std::vector<plan::Alternative> recompute_curve(const compile::RunConfig& config,
                                               const Planner& planner, std::stop_token stop);

} // namespace weft::advise
