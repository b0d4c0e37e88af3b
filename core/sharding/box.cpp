// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/box.h"

#include <algorithm>
#include <vector>

namespace weft::sharding {
namespace {

ir::Shape zeros(int rank) {
    ir::Shape out;
    for (int dim = 0; dim < rank; ++dim) {
        out.push_back(0);
    }
    return out;
}

/// A corner of boxes, and how often it counts.
struct Corner {
    ir::Shape at;
    std::int64_t sign = 0;
};

/// The corners of a box, each with the sign of its mixed difference.
void add_corners(const Box& box, std::int64_t sign, std::vector<Corner>& out) {
    const int rank = box.start.rank();
    for (unsigned ends = 0; ends < 1U << rank; ++ends) {
        Corner corner{box.start, sign};
        for (int dim = 0; dim < rank; ++dim) {
            if ((ends >> dim & 1U) != 0) {
                corner.at[dim] += box.count[dim];
                corner.sign = -corner.sign;
            }
        }
        out.push_back(corner);
    }
}

/// Elements from one index to the next, of each dimension.
ir::Shape strides_of(const ir::Shape& memory) {
    ir::Shape out = zeros(memory.rank());
    std::int64_t stride = 1;
    for (int dim = memory.rank() - 1; dim >= 0; --dim) {
        out[dim] = stride;
        stride *= memory[dim];
    }
    return out;
}

std::int64_t offset_of(const Placed& block, const ir::Shape& index, const ir::Shape& strides) {
    std::int64_t out = 0;
    for (int dim = 0; dim < index.rank(); ++dim) {
        out += (block.at[dim] + index[dim] - block.box.start[dim]) * strides[dim];
    }
    return out;
}

/// The first dimension whose indices within `common` are neighbours in both memories.
int run_dimension(const Box& common, const ir::Shape& from, const ir::Shape& to) {
    int dim = common.count.rank();
    do {
        --dim;
    } while (dim > 0 && common.count[dim] == from[dim] && common.count[dim] == to[dim]);
    return dim;
}

} // namespace

Box whole_box(const ir::Shape& array) {
    return {zeros(array.rank()), array};
}

bool inside(const Box& box, const ir::Shape& array) {
    if (box.start.rank() != array.rank() || box.count.rank() != array.rank()) {
        return false;
    }
    for (int dim = 0; dim < array.rank(); ++dim) {
        if (box.start[dim] < 0 || box.count[dim] < 0 || box.count[dim] > array[dim] ||
            box.start[dim] > array[dim] - box.count[dim]) {
            return false;
        }
    }
    return true;
}

std::optional<Box> overlap(const Box& a, const Box& b) {
    Box out;
    for (int dim = 0; dim < a.start.rank(); ++dim) {
        const std::int64_t first = std::max(a.start[dim], b.start[dim]);
        const std::int64_t end = std::min(a.start[dim] + a.count[dim], b.start[dim] + b.count[dim]);
        if (first >= end) {
            return std::nullopt;
        }
        out.start.push_back(first);
        out.count.push_back(end - first);
    }
    return out;
}

// A function on a grid that is zero far away is known from its mixed difference, which for a box is
// +1 or -1 at each corner. So the boxes hold each element once exactly when their corners cancel to
// those of the whole.
bool tiles(const ir::Shape& array, std::span<const Box> boxes) {
    std::vector<Corner> corners;
    add_corners(whole_box(array), -1, corners);
    for (const Box& box : boxes) {
        add_corners(box, 1, corners);
    }
    std::sort(corners.begin(), corners.end(), [](const Corner& a, const Corner& b) {
        return std::lexicographical_compare(a.at.begin(), a.at.end(), b.at.begin(), b.at.end());
    });
    for (std::size_t i = 0; i < corners.size();) {
        std::int64_t sum = 0;
        const ir::Shape at = corners[i].at;
        for (; i < corners.size() && corners[i].at == at; ++i) {
            sum += corners[i].sign;
        }
        if (sum != 0) {
            return false;
        }
    }
    return true;
}

std::string to_text(const Box& box) {
    std::string out;
    for (int dim = 0; dim < box.start.rank(); ++dim) {
        out += (out.empty() ? "" : ", ") + std::to_string(box.start[dim]) + ":" +
               std::to_string(box.start[dim] + box.count[dim]);
    }
    return "[" + out + "]";
}

Placed dense(const Box& box) {
    return {box, box.count, zeros(box.count.rank())};
}

std::vector<Placed> blocks_of(const ir::Type& whole, const Sharding& placement, const Mesh& mesh,
                              int device) {
    std::vector<Placed> blocks = {{{}, local_type(whole, placement, mesh).shape, {}}};
    for (int dim = 0; dim < whole.shape.rank(); ++dim) {
        // What each dimension has of its own goes with everything that the dimensions before have.
        std::vector<Placed> longer;
        for (const Placed& block : blocks) {
            for (const Range& range : ranges(placement.dims[static_cast<std::size_t>(dim)],
                                             whole.shape[dim], mesh, device)) {
                Placed& added = longer.emplace_back(block);
                added.box.start.push_back(range.first);
                added.box.count.push_back(range.count);
                added.at.push_back(range.local);
            }
        }
        blocks = std::move(longer);
    }
    std::erase_if(blocks, [](const Placed& block) { return block.box.elements() == 0; });
    return blocks;
}

void for_each_run(const Placed& from, const Placed& to, const std::function<void(const Run&)>& fn) {
    const std::optional<Box> common = overlap(from.box, to.box);
    if (!common) {
        return;
    }
    if (common->count.rank() == 0) {
        fn({0, 0, 1});
        return;
    }
    const int inner = run_dimension(*common, from.memory, to.memory);
    std::int64_t count = 1;
    for (int dim = inner; dim < common->count.rank(); ++dim) {
        count *= common->count[dim];
    }
    const ir::Shape from_strides = strides_of(from.memory);
    const ir::Shape to_strides = strides_of(to.memory);
    ir::Shape index = common->start;
    for (;;) {
        fn({offset_of(from, index, from_strides), offset_of(to, index, to_strides), count});
        int dim = inner - 1;
        while (dim >= 0 && ++index[dim] == common->start[dim] + common->count[dim]) {
            index[dim] = common->start[dim];
            --dim;
        }
        if (dim < 0) {
            return;
        }
    }
}

} // namespace weft::sharding
