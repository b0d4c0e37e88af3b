// SPDX-License-Identifier: Apache-2.0
// Puts `copy` ops where share_storage found that two values cannot share. Private to core/memory.
#pragma once

#include "core/ir/program.h"

#include <map>
#include <set>

namespace weft::memory {

/// Loops are named by their position (liveness.h).
struct MissingCopies {
    std::map<int, std::set<std::size_t>> initial_values; // loop -> carried inputs to copy before it
    std::map<int, std::set<std::size_t>> body_results; // loop -> results to copy at its body's end
    std::set<std::size_t> program_results;             // results to copy at the program's end

    bool empty() const {
        return initial_values.empty() && body_results.empty() && program_results.empty();
    }
};

void insert_copies(ir::Program& program, const MissingCopies& missing);

} // namespace weft::memory
