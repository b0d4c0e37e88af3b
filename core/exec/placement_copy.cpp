// SPDX-License-Identifier: Apache-2.0
#include "core/exec/placement_copy.h"

#include <cstring>

namespace weft::exec {
namespace {

using sharding::Range;

/// Visits the runs of bytes that whole and part have in common: fn(offset in whole, offset in part,
/// bytes).
template <typename Fn>
class RunWalk {
public:
    RunWalk(const ir::Type& whole, const sharding::Sharding& placement, const sharding::Mesh& mesh,
            int device, const Fn& fn)
        : whole_(whole), local_(sharding::local_type(whole, placement, mesh)), fn_(fn) {
        for (int dim = 0; dim < whole.shape.rank(); ++dim) {
            ranges_.push_back(sharding::ranges(placement.dims[static_cast<std::size_t>(dim)],
                                               whole.shape[dim], mesh, device));
        }
    }

    void run() { visit(0, 0, 0); }

private:
    // Offsets in elements, of the dimensions before `dim`.
    void visit(int dim, std::int64_t in_whole, std::int64_t in_part) {
        if (dim == whole_.shape.rank()) {
            emit(in_whole, in_part, 1);
            return;
        }
        for (const Range& range : ranges_[static_cast<std::size_t>(dim)]) {
            const std::int64_t whole_start = in_whole * whole_.shape[dim] + range.first;
            const std::int64_t part_start = in_part * local_.shape[dim] + range.local;
            if (rest_is_whole(dim)) {
                emit_block(dim, whole_start, part_start, range.count);
                continue;
            }
            for (std::int64_t i = 0; i < range.count; ++i) {
                visit(dim + 1, whole_start + i, part_start + i);
            }
        }
    }

    bool rest_is_whole(int dim) const {
        for (int d = dim + 1; d < whole_.shape.rank(); ++d) {
            if (whole_.shape[d] != local_.shape[d]) {
                return false;
            }
        }
        return true;
    }

    void emit_block(int dim, std::int64_t whole_start, std::int64_t part_start,
                    std::int64_t count) {
        std::int64_t inner = 1;
        for (int d = dim + 1; d < whole_.shape.rank(); ++d) {
            inner *= whole_.shape[d];
        }
        emit(whole_start * inner, part_start * inner, count * inner);
    }

    void emit(std::int64_t in_whole, std::int64_t in_part, std::int64_t count) {
        const std::int64_t size = ir::dtype_bytes(whole_.dtype);
        fn_(in_whole * size, in_part * size, static_cast<std::size_t>(count * size));
    }

    const ir::Type& whole_;
    const ir::Type local_;
    const Fn& fn_;
    std::vector<std::vector<Range>> ranges_;
};

} // namespace

void cut_part(const ir::Type& whole, std::span<const std::byte> from,
              const sharding::Sharding& placement, const sharding::Mesh& mesh, int device,
              std::span<std::byte> part) {
    if (sharding::padding_bytes(whole, placement, mesh) != 0) {
        std::memset(part.data(), 0, part.size());
    }
    const auto copy = [&](std::int64_t in_whole, std::int64_t in_part, std::size_t bytes) {
        std::memcpy(part.data() + in_part, from.data() + in_whole, bytes);
    };
    RunWalk(whole, placement, mesh, device, copy).run();
}

void join_part(const ir::Type& whole, std::span<std::byte> to, const sharding::Sharding& placement,
               const sharding::Mesh& mesh, int device, std::span<const std::byte> part) {
    const auto copy = [&](std::int64_t in_whole, std::int64_t in_part, std::size_t bytes) {
        std::memcpy(to.data() + in_whole, part.data() + in_part, bytes);
    };
    RunWalk(whole, placement, mesh, device, copy).run();
}

void for_each_run(const ir::Type& whole, const sharding::Sharding& placement,
                  const sharding::Mesh& mesh, int device,
                  const std::function<void(const CommonRun&)>& visit) {
    const auto pass_on = [&](std::int64_t in_whole, std::int64_t in_part, std::size_t bytes) {
        visit({static_cast<std::size_t>(in_whole), static_cast<std::size_t>(in_part), bytes});
    };
    RunWalk(whole, placement, mesh, device, pass_on).run();
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
