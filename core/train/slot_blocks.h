// SPDX-License-Identifier: Apache-2.0
// Where the whole array of a state slot lies on a mesh, as blocks that a checkpoint can save and
// restore. Padding is in no block. Pure.
#pragma once

#include "core/plan/plan.h"
#include "core/sharding/box.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::train {

/// The blocks of the array that a device holds, each with its place in the device's part.
std::vector<sharding::Placed> blocks_of(const plan::StateSlot& slot, const sharding::Mesh& mesh,
                                        int device);

/// A block and the device that saves it: the first of those that hold it.
struct OwnedBlock {
    int device = 0;
    sharding::Placed place;
};
/// They tile the array.
std::vector<OwnedBlock> owned_blocks(const plan::StateSlot& slot, const sharding::Mesh& mesh);

/// "P('data', None)"
std::string spec_text(const plan::StateSlot& slot, const sharding::Mesh& mesh);
/// The axes as a checkpoint's record names them; none for one device.
std::vector<std::pair<std::string, std::int64_t>> recorded_axes(const sharding::Mesh& mesh);
/// "data=4 x model=2"
std::string mesh_text(const std::vector<std::pair<std::string, std::int64_t>>& recorded);

} // namespace weft::train
