// SPDX-License-Identifier: Apache-2.0
// What the layers of a training step put out, and how it lies on the mesh. Taken from the program
// on whole arrays, because values have names and layers there; the plan's buffers have neither.
#pragma once

#include "core/plan/plan.h"
#include "core/sharding/partition.h"

#include <span>

namespace weft::compile {

/// One for every layer, its last forward op, and one for every op that reads parameters of the
/// layer and puts out something that lies otherwise: sums that are not added up yet. Numbers and
/// integers are left out. `values` says where the values of `whole` lie; empty: on one device.
std::vector<plan::Activation> activations_of(const ir::Program& whole,
                                             std::span<const sharding::PlacedValue> values,
                                             const sharding::Mesh& mesh, ir::DType compute_dtype);

} // namespace weft::compile
