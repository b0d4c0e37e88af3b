// SPDX-License-Identifier: Apache-2.0
#include "core/exec/placement_copy.h"

#include "core/sharding/box.h"

#include <cstring>

namespace weft::exec {
namespace {

/// Visits the runs of bytes that whole and part have in common.
template <typename Fn>
void walk_runs(const ir::Type& whole, const sharding::Sharding& placement,
               const sharding::Mesh& mesh, int device, const Fn& fn) {
    const std::int64_t size = ir::dtype_bytes(whole.dtype);
    const sharding::Placed all = sharding::dense(sharding::whole_box(whole.shape));
    for (const sharding::Placed& block : sharding::blocks_of(whole, placement, mesh, device)) {
        sharding::for_each_run(all, block, [&](const sharding::Run& run) {
            fn(CommonRun{static_cast<std::size_t>(run.from * size),
                         static_cast<std::size_t>(run.to * size),
                         static_cast<std::size_t>(run.count * size)});
        });
    }
}

} // namespace

void cut_part(const ir::Type& whole, std::span<const std::byte> from,
              const sharding::Sharding& placement, const sharding::Mesh& mesh, int device,
              std::span<std::byte> part) {
    if (sharding::padding_bytes(whole, placement, mesh) != 0) {
        std::memset(part.data(), 0, part.size());
    }
    walk_runs(whole, placement, mesh, device, [&](const CommonRun& run) {
        std::memcpy(part.data() + run.in_part, from.data() + run.in_whole, run.bytes);
    });
}

void join_part(const ir::Type& whole, std::span<std::byte> to, const sharding::Sharding& placement,
               const sharding::Mesh& mesh, int device, std::span<const std::byte> part) {
    walk_runs(whole, placement, mesh, device, [&](const CommonRun& run) {
        std::memcpy(to.data() + run.in_whole, part.data() + run.in_part, run.bytes);
    });
}

void for_each_run(const ir::Type& whole, const sharding::Sharding& placement,
                  const sharding::Mesh& mesh, int device,
                  const std::function<void(const CommonRun&)>& visit) {
    walk_runs(whole, placement, mesh, device, visit);
}

bool first_replica(const sharding::Sharding& placement, const sharding::Mesh& mesh, int device) {
    const auto place = mesh.coordinates(device);
    for (std::size_t axis = 0; axis < place.size(); ++axis) {
        const bool pinned = placement.pin && placement.pin->axis == static_cast<int>(axis);
        const std::int64_t first = pinned ? placement.pin->index : 0;
        if (place[axis] != first && !placement.uses(static_cast<int>(axis))) {
            return false;
        }
    }
    return true;
}

} // namespace weft::exec
