// SPDX-License-Identifier: Apache-2.0
// The simplifying passes. Each keeps the program's results equal bit for bit, except that -0 may
// become 0. All return whether they changed anything.
#pragma once

#include "core/ir/program.h"

namespace weft::passes {

/// Runs the passes below until none finds more to do.
void simplify(ir::Program& program);

/// Removes ops that hand on their operand (x + 0, x * 1, casts to the same type, reshape of
/// reshape) and turns arithmetic with a scalar constant into `affine`.
bool fold_identities(ir::Program& program);
/// Turns a sum of zero-padded pieces that tile a value, the gradient of slicing it, into one
/// `concat`.
bool merge_pads(ir::Program& program);
/// Puts the body of a `repeat` with count 1 in the place of the loop.
bool inline_single_loops(ir::Program& program);
/// Keeps one of several equal ops. Never merges random ops, ops of different phases (a recomputed
/// value stays recomputed), or large constants (each becomes the start of an accumulator of its
/// own).
bool merge_duplicates(ir::Program& program);
/// Removes ops, carried values, and per-iteration inputs and outputs that reach no result.
bool remove_dead_code(ir::Program& program);

/// Numbers values in order of definition and drops numbers that nothing defines.
void renumber_values(ir::Program& program);

} // namespace weft::passes
