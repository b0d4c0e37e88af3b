// SPDX-License-Identifier: Apache-2.0
// Why devices exchange a value, in words for people: what travels, and the array whose placement
// makes it necessary. Private to core/sharding.
#pragma once

#include "core/sharding/reshard.h"

namespace weft::sharding {

/// A state slot and how the ops see it.
struct SlotView {
    const ir::Port* slot = nullptr; // null: none
    const Sharding* used = nullptr;
};

/// A value on its way from one placement to another.
struct Move {
    const std::string& name; // of the value, or of what it is a term of: "gradient/..."
    const Sharding& from;
    const Sharding& to;
    const ir::Op& reader;
    const ir::Op* maker = nullptr;  // null: an argument, or what a loop gives
    const ir::Op* sums = nullptr;   // the op whose results are terms of sums; null: there are none
    const ir::Port* slot = nullptr; // the value is this slot as it is kept
    SlotView summing;               // the operand of `sums` that is split along what it adds up
    SlotView reading;               // the operand of the reader that is a slot
    const std::vector<int>& batch_axes;
    const Mesh& mesh;
};
Cause explain(const Move& move);

/// An exchange inside of an op that works on split arrays.
Cause explain_within(const ir::Op& op, std::span<const int> axes, const Mesh& mesh);

} // namespace weft::sharding
