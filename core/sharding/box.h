// SPDX-License-Identifier: Apache-2.0
// Blocks of an array, and how the elements of one memory map to those of another. Pure; all numbers
// are elements. Arrays and memories are dense and row-major.
#pragma once

#include "core/sharding/sharding.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::sharding {

/// Per dimension of an array the first element and how many.
struct Box {
    ir::Shape start;
    ir::Shape count;

    std::int64_t elements() const { return count.elements(); }
    friend bool operator==(const Box&, const Box&) = default;
};

Box whole_box(const ir::Shape& array);
/// Whether the box names elements of the array only, without overflow.
bool inside(const Box& box, const ir::Shape& array);
/// What both have; none when that is nothing.
std::optional<Box> overlap(const Box& a, const Box& b);
/// Whether the boxes, each inside the array, hold each of its elements exactly once.
bool tiles(const ir::Shape& array, std::span<const Box> boxes);
/// "[0:512, 3:6]": first and last-plus-one element of each dimension.
std::string to_text(const Box& box);

/// A block of an array that lies in a memory with extents `memory`, its first element at `at`.
struct Placed {
    Box box;
    ir::Shape memory;
    ir::Shape at;
};
/// A block in a memory of its own.
Placed dense(const Box& box);

/// What a device holds of an array, as blocks of its part of it; padding is left out.
std::vector<Placed> blocks_of(const ir::Type& whole, const Sharding& placement, const Mesh& mesh,
                              int device);

/// A stretch of neighbours on both sides: offsets in the two memories.
struct Run {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t count = 0;

    friend bool operator==(const Run&, const Run&) = default;
};
/// The longest runs of what two blocks of one array have in common, in the order of the array.
void for_each_run(const Placed& from, const Placed& to, const std::function<void(const Run&)>& fn);

} // namespace weft::sharding
