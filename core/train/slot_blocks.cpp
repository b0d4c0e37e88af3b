// SPDX-License-Identifier: Apache-2.0
#include "core/train/slot_blocks.h"

#include "core/exec/placement_copy.h"
#include "core/ir/text.h"

namespace weft::train {

using sharding::Placed;

std::vector<Placed> blocks_of(const plan::StateSlot& slot, const sharding::Mesh& mesh, int device) {
    if (!slot.placement.holds(mesh, device)) {
        return {};
    }
    return sharding::blocks_of(slot.whole, slot.placement, mesh, device);
}

std::vector<OwnedBlock> owned_blocks(const plan::StateSlot& slot, const sharding::Mesh& mesh) {
    std::vector<OwnedBlock> out;
    for (int device = 0; device < mesh.devices(); ++device) {
        if (exec::first_replica(slot.placement, mesh, device)) {
            for (const Placed& block : blocks_of(slot, mesh, device)) {
                out.push_back({device, block});
            }
        }
    }
    return out;
}

std::string spec_text(const plan::StateSlot& slot, const sharding::Mesh& mesh) {
    return ir::to_text(sharding::to_spec(slot.placement, mesh));
}

std::vector<std::pair<std::string, std::int64_t>> recorded_axes(const sharding::Mesh& mesh) {
    std::vector<std::pair<std::string, std::int64_t>> out;
    if (!mesh.single()) {
        for (const sharding::Axis& axis : mesh.axes) {
            out.emplace_back(axis.name, axis.size);
        }
    }
    return out;
}

std::string mesh_text(const std::vector<std::pair<std::string, std::int64_t>>& recorded) {
    sharding::Mesh mesh;
    for (const auto& [name, size] : recorded) {
        mesh.axes.push_back({name, size});
    }
    return mesh.to_text();
}

} // namespace weft::train
