// SPDX-License-Identifier: Apache-2.0
#include "core/memory/arena.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace weft::memory {
namespace {

/// Taken bytes, up to where the next block may begin.
struct Run {
    std::int64_t begin;
    std::int64_t end;
};
using Runs = std::vector<Run>; // by offset; none touches another

void take(Runs& runs, Run added) {
    const auto first = std::partition_point(runs.begin(), runs.end(),
                                            [&](const Run& run) { return run.end < added.begin; });
    auto last = first;
    for (; last != runs.end() && last->begin <= added.end; ++last) {
        added.begin = std::min(added.begin, last->begin);
        added.end = std::max(added.end, last->end);
    }
    if (first == last) {
        runs.insert(first, added);
    } else {
        *first = added;
        runs.erase(std::next(first), last);
    }
}

/// What is taken when. Time is a tree of spans, of single positions up to all of it: a lifetime is
/// a few spans as thick as can be, so that neither long nor short ones are looked at one by one.
class Taken {
public:
    explicit Taken(std::span<const Block> blocks) {
        int positions = 1;
        for (const Block& block : blocks) {
            positions = std::max(positions, block.range.last + 1);
        }
        auto spans = static_cast<std::size_t>(positions);
        levels_.emplace_back(spans);
        while (spans > 1) {
            spans = (spans + kFan - 1) / kFan;
            levels_.emplace_back(spans);
        }
    }

    /// Lowest offset from `base` on where `block` fits between those alive with it.
    std::int64_t lowest_place(const Block& block, std::int64_t base) {
        met_.clear();
        const auto meet = [this](const Runs& runs) {
            if (!runs.empty()) {
                met_.push_back(runs);
            }
        };
        walk(block.range, [&](Span& span) { meet(span.ever); },
             [&](Span& span) { meet(span.always); });
        std::int64_t offset = base;
        for (bool moved = true; moved;) {
            moved = false;
            for (std::span<const Run>& runs : met_) {
                std::size_t next = 0;
                for (; next < runs.size() && runs[next].begin < offset + block.bytes; ++next) {
                    if (runs[next].end > offset) {
                        offset = runs[next].end;
                        moved = true;
                    }
                }
                runs = runs.subspan(next);
            }
        }
        return offset;
    }

    void add(const Block& block) {
        if (block.bytes == 0) {
            return;
        }
        const Run run{block.offset, align(block.offset + block.bytes)};
        walk(
            block.range,
            [&](Span& span) {
                take(span.always, run);
                take(span.ever, run);
            },
            [&](Span& span) { take(span.ever, run); });
    }

private:
    static constexpr std::size_t kFan = 4;

    struct Span {
        Runs always; // by blocks that live through it, but for what its larger spans know
        Runs ever;   // by any that lives in it, but for what its larger spans know always taken
    };

    /// Calls `whole` for the thickest spans that make up a lifetime, `part` for those around them.
    template <class Whole, class Part>
    void walk(const Range& range, const Whole& whole, const Part& part) {
        const auto from = static_cast<std::size_t>(range.first);
        const auto to = static_cast<std::size_t>(range.last) + 1;
        std::size_t first = from;
        std::size_t end = to;
        std::size_t width = 1;
        for (std::vector<Span>& level : levels_) {
            for (; first < end && first % kFan != 0; ++first) {
                whole(level[first]);
            }
            for (; first < end && end % kFan != 0; --end) {
                whole(level[end - 1]);
            }
            const std::size_t left = from / width;
            const std::size_t right = (to - 1) / width;
            if (left * width < from || (left + 1) * width > to) {
                part(level[left]);
            }
            if (right != left && (right + 1) * width > to) {
                part(level[right]);
            }
            first /= kFan;
            end /= kFan;
            width *= kFan;
        }
    }

    std::vector<std::vector<Span>> levels_; // single positions first; the last is one span
    std::vector<std::span<const Run>> met_;
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
    Taken taken(blocks);
    for (const std::size_t index : order) {
        Block& block = blocks[index];
        block.offset = taken.lowest_place(block, base);
        taken.add(block);
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
