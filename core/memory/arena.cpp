// SPDX-License-Identifier: Apache-2.0
#include "core/memory/arena.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace weft::memory {
namespace {

/// Blocks that have their place, by offset. They stand in a list for all of the time and in lists
/// for finer and finer slices of it: a search reads the list of the thinnest slice that its block
/// lies in, and so hardly more than what is alive with it.
class Placed {
public:
    explicit Placed(std::span<const Block> blocks) {
        int positions = 1;
        for (const Block& block : blocks) {
            positions = std::max(positions, block.range.last + 1);
        }
        for (int slices = blocks.size() < kFew ? 1 : kMostSlices; slices >= 1; slices /= 4) {
            const int width = (positions + slices - 1) / slices;
            levels_.push_back({width, std::vector<List>(static_cast<std::size_t>(slices))});
        }
    }

    /// Lowest offset from `base` on where `block` fits between those alive with it.
    std::int64_t lowest_place(const Block& block, std::int64_t base) const {
        const auto within = std::find_if(levels_.begin(), levels_.end(), [&](const Level& level) {
            return level.slice(block.range.first) == level.slice(block.range.last);
        });
        std::int64_t offset = base;
        for (const Block& other : within->lists[within->slice(block.range.first)]) {
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

    void add(const Block& block) {
        const auto before = [](const Block& x, const Block& y) { return x.offset < y.offset; };
        for (Level& level : levels_) {
            const std::size_t last = level.slice(block.range.last);
            for (std::size_t i = level.slice(block.range.first); i <= last; ++i) {
                List& list = level.lists[i];
                list.insert(std::upper_bound(list.begin(), list.end(), block, before), block);
            }
        }
    }

private:
    static constexpr std::size_t kFew = 256; // that one list serves as well
    static constexpr int kMostSlices = 64;

    using List = std::vector<Block>;
    struct Level {
        int width; // positions of a slice
        std::vector<List> lists;

        std::size_t slice(int position) const { return static_cast<std::size_t>(position / width); }
    };
    std::vector<Level> levels_; // finest first; the last is one slice
};

std::int64_t most_alive(std::span<const Block> blocks) {
    int last = 0;
    for (const Block& block : blocks) {
        last = std::max(last, block.range.last);
    }
    std::vector<std::int64_t> change(static_cast<std::size_t>(last) + 2, 0); // [position]
    for (const Block& block : blocks) {
        change[static_cast<std::size_t>(block.range.first)] += align(block.bytes);
        change[static_cast<std::size_t>(block.range.last) + 1] -= align(block.bytes);
    }
    std::int64_t alive = 0;
    std::int64_t most = 0;
    for (const std::int64_t bytes : change) {
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
    Placed placed(blocks);
    for (const std::size_t index : order) {
        Block& block = blocks[index];
        block.offset = placed.lowest_place(block, base);
        placed.add(block);
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
