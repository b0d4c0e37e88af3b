// SPDX-License-Identifier: Apache-2.0
// From the programs of a device to those of the stages of a pipeline.
#pragma once

#include "core/pipeline/schedule.h"
#include "core/plan/plan.h"
#include "core/stages/split_stages.h"

namespace weft::compile {

/// How layers and microbatches are spread over the stages of a pipeline.
struct StageChoice {
    int axis = 0; // of the mesh
    pipeline::Schedule schedule;
    std::vector<int> layers; // of each part of the model, in model order; empty: balanced by FLOPs
};

class StagePrograms {
public:
    /// `forward`: with whole arrays, for layers are weighed against each other. Throws
    /// weft::Error{usage} when the model has fewer layers than the pipeline has parts, or other
    /// ones than `choice` spreads.
    StagePrograms(const StageChoice& choice, const sharding::Mesh& mesh,
                  const ir::Program& forward);

    int stages() const { return choice_.schedule.stages; }
    int stage_of(std::string_view path) const;
    /// As group in passes: ops of different parts stay apart.
    int part_of(const ir::Op& op) const { return map_.part_of(op.path); }
    void separate_sums(ir::Program& program) const;
    std::vector<ir::Program> split(const ir::Program& program) const;
    /// Layers of a stage, schedule and bubble; times follow from the plan's predictions.
    std::string layers_of(int stage) const;
    plan::Pipeline describe() const;

private:
    const StageChoice& choice_;
    stages::PipelineAxis axis_;
    stages::StageMap map_;
};

/// The training step of a predicted plan as its schedule runs it: the times of actions, the bubble;
/// gives the milliseconds of the whole step. Messages are part of the actions that send them.
double predict_pipeline(plan::ExecutionPlan& plan, const pipeline::Schedule& schedule);

} // namespace weft::compile
