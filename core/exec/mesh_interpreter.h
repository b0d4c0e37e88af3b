// SPDX-License-Identifier: Apache-2.0
// Runs a partitioned program on every device of a mesh in step, op by op. The exchanges are done in
// plain sight on all devices' values, so that nothing depends on threads or on core/exec/comm: this
// is to a mesh what the interpreter is to one device.
#pragma once

#include "core/exec/interpreter.h"
#include "core/sharding/partition.h"

#include <vector>

namespace weft::exec {

/// For an Interpreter with as many devices as the mesh.
Interpreter::Exchange exchange_over(sharding::Mesh mesh);

/// Hands every device its parts of the whole arrays, one per argument of the program; coordinates
/// are made here.
void cut_arguments(Interpreter& devices, const sharding::PartitionedProgram& local,
                   const sharding::Mesh& mesh, std::span<const Tensor> arguments);
/// The results, put together again.
std::vector<Tensor> join_results(Interpreter& devices, const sharding::PartitionedProgram& local,
                                 const sharding::Mesh& mesh);

/// Whole arrays in, one per argument but for the coordinates; whole arrays out, one per result.
std::vector<Tensor> interpret_on_mesh(const sharding::PartitionedProgram& local,
                                      const sharding::Mesh& mesh, std::span<const Tensor> arguments,
                                      const InterpretOptions& options = {});

} // namespace weft::exec
