// SPDX-License-Identifier: Apache-2.0
#include "core/memory/arena.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace weft::memory {
namespace {

/// Lowest offset from `base` on where `block` fits between the placed blocks alive with it.
std::int64_t lowest_place(const Block& block, std::span<const Block> blocks,
                          const std::vector<std::size_t>& placed_by_offset, std::int64_t base) {
    std::int64_t offset = base;
    for (const std::size_t index : placed_by_offset) {
        const Block& other = blocks[index];
        if (!other.range.overlaps(block.range)) {
            continue;
        }
        if (offset + block.bytes <= other.offset) {
            break;
        }
        offset = std::max(offset, align(other.offset + other.bytes));
    }
    return offset;
}

std::int64_t most_alive(std::span<const Block> blocks) {
    std::map<int, std::int64_t> change;
    for (const Block& block : blocks) {
        change[block.range.first] += align(block.bytes);
        change[block.range.last + 1] -= align(block.bytes);
    }
    std::int64_t alive = 0;
    std::int64_t most = 0;
    for (const auto& [position, bytes] : change) {
        alive += bytes;
        most = std::max(most, alive);
    }
    return most;
}

} // namespace

ArenaPlan assign_offsets(std::span<Block> blocks, std::int64_t base) {
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const Block& x = blocks[a];
        const Block& y = blocks[b];
        return x.bytes != y.bytes ? x.bytes > y.bytes
                                  : x.range.last - x.range.first > y.range.last - y.range.first;
    });
    ArenaPlan plan{base, base + most_alive(blocks)};
    std::vector<std::size_t> placed; // by offset
    for (const std::size_t index : order) {
        Block& block = blocks[index];
        block.offset = lowest_place(block, blocks, placed, base);
        const auto before = [&](std::size_t a, std::size_t b) {
            return blocks[a].offset < blocks[b].offset;
        };
        placed.insert(std::upper_bound(placed.begin(), placed.end(), index, before), index);
        plan.bytes = std::max(plan.bytes, block.offset + block.bytes);
    }
    return plan;
}

std::vector<std::string> check_offsets(std::span<const Block> blocks, std::int64_t base) {
    std::vector<std::string> found;
    for (std::size_t a = 0; a < blocks.size(); ++a) {
        const Block& x = blocks[a];
        if (x.offset < base || x.offset % kAlignment != 0) {
            found.push_back("block " + std::to_string(a) + " starts at " +
                            std::to_string(x.offset) + ", before the base or off the alignment");
        }
        for (std::size_t b = a + 1; b < blocks.size(); ++b) {
            const Block& y = blocks[b];
            const bool same_time = x.range.overlaps(y.range);
            const bool same_place = x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes;
            if (same_time && same_place && x.bytes > 0 && y.bytes > 0) {
                found.push_back("blocks " + std::to_string(a) + " and " + std::to_string(b) +
                                " overlap in memory and time");
            }
        }
    }
    return found;
}

} // namespace weft::memory
