// SPDX-License-Identifier: Apache-2.0
// From one program to the programs of a pipeline's stages. Pure.
#pragma once

#include "core/pipeline/schedule.h"
#include "core/stages/stage_map.h"

namespace weft::stages {

/// The mesh axis along which stages talk to each other.
struct PipelineAxis {
    std::string name;
    std::int64_t stages = 1;
};

/// The program of each stage. A training step runs the schedule's actions, whose microbatches are
/// the iterations of its loop (or the one that an inlined loop is); ops carry the action that they
/// belong to. Programs without a backward phase are cut as they stand. `program` is legal and holds
/// no other loop than that over microbatches; the schedule is legal.
std::vector<ir::Program> split_stages(const ir::Program& program, const StageMap& map,
                                      const pipeline::Schedule& schedule, const PipelineAxis& axis);

} // namespace weft::stages
