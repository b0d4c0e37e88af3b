// SPDX-License-Identifier: Apache-2.0
// What devices send each other goes in the type in which it is used.
#pragma once

#include "core/ir/program.h"

namespace weft::passes {

/// Moves a cast to a smaller float type in front of an exchange that only moves data, where
/// everything that reads the result casts it so: split weights are gathered in bf16, not in f32.
/// Nothing between them computes, so the results are the same bits. Runs after precision; leaves
/// casts of a type to itself for simplify.
void narrow_exchanges(ir::Program& program);

} // namespace weft::passes
