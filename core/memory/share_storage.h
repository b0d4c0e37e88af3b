// SPDX-License-Identifier: Apache-2.0
// Which values share memory: views, slices, loop-carried values, state slots updated in place, and
// elementwise results written over a dying operand.
#pragma once

#include "core/memory/liveness.h"

#include <string>
#include <vector>

namespace weft::memory {

/// Memory for a set of values that never hold different contents at the same time.
struct Stretch {
    ir::ValueIds values;             // owners, see Liveness::root
    Range range;                     // from the first write to the last read
    std::int64_t bytes = 0;
    std::string slot;      // state slot that it is; "" = scratch
    bool argument = false; // written by the host before the run
};

struct Storage {
    Liveness liveness;
    std::vector<Stretch> stretches;
    std::vector<int> stretch_of; // [value], through views and slices

    const Stretch& of(ir::ValueId id) const {
        return stretches[static_cast<std::size_t>(stretch_of[static_cast<std::size_t>(id.index)])];
    }
};

/// Decides sharing, and inserts `copy` ops where a program asks for sharing that is not legal:
///  - a loop's carried value has one place: initial value, body argument, body result and final
///  value;
///  - a per-iteration output is written into its stack;
///  - a state result lies in its slot, which is overwritten only after the last read of the old
///  value.
Storage share_storage(ir::Program& program);

} // namespace weft::memory
