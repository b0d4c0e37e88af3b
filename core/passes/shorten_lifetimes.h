// SPDX-License-Identifier: Apache-2.0
// Order of elementwise ops: as early as it frees memory.
#pragma once

#include "core/ir/program.h"

namespace weft::passes {

/// Moves an elementwise op or group up to where its last operand is made, when more bytes die with
/// it than it makes. A gradient is added to its accumulator while it is in the cache, instead of
/// waiting with all others for the end of the backward phase. No op leaves its phase.
void shorten_lifetimes(ir::Program& program);

} // namespace weft::passes
