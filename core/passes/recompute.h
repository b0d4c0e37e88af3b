// SPDX-License-Identifier: Apache-2.0
// Recompute (activation checkpointing): forward values that the backward phase reads are computed
// again instead of kept (Chen et al., 2016). Runs once, after the last common-subexpression
// removal, which would undo it, and before fusion, on every block that holds a forward and a
// backward phase: the microstep's body. Loops inside of it are left alone: a model's layers are
// built unrolled.
#pragma once

#include "core/ir/program.h"

#include <string_view>
#include <vector>

namespace weft::passes {

enum class Recompute : std::uint8_t {
    none,      // keep everything that backward reads
    blocks,    // keep what crosses from one block of the model to another, and of the rest what is
               // dearest to compute: above the average FLOPs per byte, a tenth of the bytes
    selective, // keep the values worth it: those below `flops_per_byte` are computed again
};

struct RecomputeOptions {
    Recompute mode = Recompute::none;
    /// selective: a value is computed again when that costs fewer FLOPs per byte that it frees.
    double flops_per_byte = 0;
};

/// Clones, in front of their first backward reader, the forward ops whose results are not kept;
/// readers in the backward phase read the clones. A clone keeps path, attributes and random stream,
/// so its result is bitwise the same; what nobody reads is not cloned. Always kept: what one block
/// of the model hands to another, what the update and the program's results read (loss, metrics,
/// running statistics: nothing is counted twice), what follows from weights alone, handfuls of
/// numbers, and everything of the last blocks that is needed again before memory is short.
void recompute(ir::Program& program, const RecomputeOptions& options);

/// The distinct thresholds at which `selective` changes what is kept, ascending: 0 keeps
/// everything, the last keeps nothing within blocks. Equal ops of several blocks have thresholds of
/// their own, earlier blocks first.
std::vector<double> recompute_thresholds(const ir::Program& program);

} // namespace weft::passes
