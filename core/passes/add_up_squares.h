// SPDX-License-Identifier: Apache-2.0
// Sums of squares that are added up become one op over all the arrays.
#pragma once

#include "core/passes/op_groups.h"

namespace weft::passes {

/// In the update: `add(sum_squares(a...), sum_squares(b))` becomes `sum_squares(a..., b)`, which
/// adds in the same order, where nothing else reads the terms and all are of one group of `kinds`.
/// The arrays are gradients, which live until the update anyway.
void add_up_squares(ir::Program& program, const OpGroups& kinds = one_group);

} // namespace weft::passes
