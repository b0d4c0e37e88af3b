// SPDX-License-Identifier: Apache-2.0
// From programs on whole arrays to those that each device of a mesh runs on its parts.
#pragma once

#include "core/compile/pipeline.h"
#include "core/sharding/lint.h"
#include "core/sharding/partition.h"

namespace weft::compile {

/// What the ports of a program are parts of, by name.
using PortPlaces = std::map<std::string, std::pair<ir::Type, sharding::Sharding>, std::less<>>;

struct ShardedPrograms {
    std::vector<PortPlaces> arguments; // one per program
    std::vector<PortPlaces> results;
    std::vector<sharding::Finding> findings;   // what is padded or stays whole
    std::vector<plan::Activation> activations; // of the training step
};

/// Replaces every program by the local one, and the slots' types by those of a device's part.
/// Activations are listed when `compute_dtype` is given: the precision pass will give them that.
/// Stops with weft::Error{runtime}.
ShardedPrograms shard_programs(ProgramSet& programs, const sharding::Placement& placement,
                               std::optional<ir::DType> compute_dtype,
                               const std::stop_token& stop = {});

/// One of the programs as shard_programs cuts it, with what devices hold of every value. The
/// programs must not have been sharded yet.
sharding::PartitionedProgram shard_program(const ProgramSet& programs, const ir::Program& program,
                                           const sharding::Placement& placement);

} // namespace weft::compile
