// SPDX-License-Identifier: Apache-2.0
// When each value of a program is alive, over the linear step order.
//
// Positions number the steps in the order of the text: each op takes one, a loop takes one and then
// its body's ops theirs; views take none (they are no steps). A loop ends at the last position of
// its body.
#pragma once

#include "core/ir/program.h"

#include <vector>

namespace weft::memory {

/// Closed interval of positions.
struct Range {
    int first = 0;
    int last = 0;

    bool overlaps(const Range& other) const { return first <= other.last && other.first <= last; }
    friend bool operator==(const Range&, const Range&) = default;
};

/// A value is either memory of its own or a part of another one.
struct Part {
    ir::ValueId of; // invalid: memory of its own
    int loop = -1;  // position of the loop whose iterations walk over `of`; -1: all of it
    std::int64_t stride_bytes = 0; // per iteration
};

struct LoopRange {
    int first = 0; // position of the loop itself
    int last = 0;  // last position of its body
};

struct Liveness {
    int positions = 0;
    std::vector<Part> parts;      // [value]
    std::vector<Range> ranges;    // [value]; of values with memory of their own
    std::vector<int> definitions; // [value] position of the defining step; -1: program argument
    std::vector<int> loops; // [value] position of the loop in whose body it is defined; -1: none
    std::vector<LoopRange> nesting; // every loop, outer before inner
    /// The value that owns the memory of `id`.
    ir::ValueId root(ir::ValueId id) const;
};

/// Whether the op is a step of its own: everything but views.
bool is_step(const ir::Op& op);

/// Ranges of the program as it stands; program results are read at position `positions`, after the
/// last step. A value that a loop's body reads from outside lives until the loop's end;
/// per-iteration inputs are parts of the stack; a per-iteration output that the body makes by a
/// step of its own, and that nothing else claims, is written straight into its stack. What an
/// exchange reads that may hide behind work (attribute `overlaps`), and does not write over, lives
/// until the next exchange: else the work behind it would take the memory, and have to wait.
Liveness analyse_liveness(const ir::Program& program);

} // namespace weft::memory
