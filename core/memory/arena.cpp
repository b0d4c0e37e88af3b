// SPDX-License-Identifier: Apache-2.0
#include "core/memory/arena.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace weft::memory {
namespace {

/// Lowest offset from `base` on where `block` fits between the placed blocks alive with it.
std::int64_t lowest_place(const Block& block, const std::vector<Block>& placed_by_offset,
                          std::int64_t base) {
    std::int64_t offset = base;
    for (const Block& other : placed_by_offset) {
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
    std::vector<Block> placed; // by offset; copies, so that a search reads memory in order
    placed.reserve(blocks.size());
    for (const std::size_t index : order) {
        Block& block = blocks[index];
        block.offset = lowest_place(block, placed, base);
        const auto before = [](const Block& x, const Block& y) { return x.offset < y.offset; };
        placed.insert(std::upper_bound(placed.begin(), placed.end(), block, before), block);
        plan.bytes = std::max(plan.bytes, block.offset + block.bytes);
    }
    return plan;
}

std::vector<std::string> check_offsets(std::span<const Block> blocks, std::int64_t base) {
    std::vector<std::string> found;
    std::vector<std::size_t> by_first(blocks.size());
    std::iota(by_first.begin(), by_first.end(), std::size_t{0});
    std::stable_sort(by_first.begin(), by_first.end(), [&](std::size_t a, std::size_t b) {
        return blocks[a].range.first < blocks[b].range.first;
    });
    // In order of time. While no fault was found, the blocks alive lie apart, so that a new one can
    // only meet its neighbours.
    std::multimap<std::int64_t, std::size_t> alive;     // by offset
    std::multimap<int, decltype(alive)::iterator> ends; // by last position
    for (const std::size_t index : by_first) {
        const Block& block = blocks[index];
        if (block.offset < base || block.offset % kAlignment != 0) {
            found.push_back("block " + std::to_string(index) + " starts at " +
                            std::to_string(block.offset) +
                            ", before the base or off the alignment");
        }
        if (block.bytes == 0) {
            continue;
        }
        while (!ends.empty() && ends.begin()->first < block.range.first) {
            alive.erase(ends.begin()->second);
            ends.erase(ends.begin());
        }
        const auto report = [&](std::size_t other) {
            found.push_back("blocks " + std::to_string(std::min(index, other)) + " and " +
                            std::to_string(std::max(index, other)) + " overlap in memory and time");
        };
        const auto next = alive.lower_bound(block.offset);
        if (next != alive.end() && next->first < block.offset + block.bytes) {
            report(next->second);
        }
        if (next != alive.begin()) {
            const Block& previous = blocks[std::prev(next)->second];
            if (previous.offset + previous.bytes > block.offset) {
                report(std::prev(next)->second);
            }
        }
        ends.emplace(block.range.last, alive.emplace(block.offset, index));
    }
    return found;
}

} // namespace weft::memory
