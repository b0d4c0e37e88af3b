// SPDX-License-Identifier: GPL-3.0-or-later
// Plans of a small GPT on several devices, for tests of what the studio shows of them.
#pragma once

#include "core/train/planning.h"
#include "ui/bridge/plan/plan_digest.h"

#include <string>

namespace weft::test {

inline constexpr const char* kTwoByTwo =
    R"({"devices": "cpu:4", "strategy": "2d", "axes": [["data", 2], ["model", 2]]})";
inline constexpr const char* kFourDataRanks =
    R"({"devices": "cpu:4", "strategy": "data_parallel"})";
inline constexpr const char* kGpipe =
    R"({"devices": "cpu:4", "strategy": "pipeline", "pipeline": {"schedule": "gpipe"}})";

/// Four layers; on two data ranks two microsteps. `mesh`: the section of this name; null: none.
config::Json small_gpt(const char* mesh, const char* precision = "f32");

/// Everything that a run does, planned for this machine.
std::shared_ptr<const plan::ExecutionPlan> plan_of(const compile::RunConfig& config);

/// Planned for hardware it has predicted times.
std::shared_ptr<const ui::PlanDigest> digest_of(const config::Json& document,
                                                bool predicted = false);

/// The training step of a stage.
const plan::PlannedProgram& step_of(const ui::PlanDigest& digest, int stage = 0);

/// The first op that satisfies a condition; -1: none does.
template <typename Condition>
int find_op(const plan::PlannedProgram& program, const Condition& wanted) {
    for (int op = 0; const plan::Step* step = plan::step_at(program, op); ++op) {
        if (wanted(*step)) {
            return op;
        }
    }
    return -1;
}

} // namespace weft::test
