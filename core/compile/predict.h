// SPDX-License-Identifier: Apache-2.0
// Prices a laid-out plan: predicted time of every step, program and of one training step.
#pragma once

#include "core/cost/cost_model.h"
#include "core/pipeline/schedule.h"
#include "core/plan/plan.h"

#include <vector>

namespace weft::compile {

/// One execution of a step that is no loop.
cost::Work work_of(const plan::Step& step);
/// Of one call of the program: every kernel call, loops multiplied out into `times`, and what is
/// beside kernels.
std::vector<cost::Work> work_of(const plan::PlannedProgram& program);
/// The same with its exchanges, on the mesh that it was planned for. `host_devices`: so many are
/// joined by the links of one host; 0: all.
cost::MeshWork mesh_work_of(const plan::PlannedProgram& program, const sharding::Mesh& mesh,
                            std::int64_t host_devices);
/// What a run does around one call of the program; its bytes are the arguments, which the host
/// prepares and writes every time.
cost::Work work_beside_kernels(const plan::PlannedProgram& program);

/// Fills every predicted_ms, the errors, and what the prediction rests on. Without ceilings only
/// the latter, which says what to do about it. `schedule`: of a pipeline; null: there is none.
/// `workers`: threads. `beside`: devices of this machine compute while they exchange, too, because
/// each has a process.
void predict(plan::ExecutionPlan& plan, const cost::CostModel& cost,
             const pipeline::Schedule* schedule = nullptr, int workers = 1, bool beside = false);

} // namespace weft::compile
