// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation of a block by the ops' gradient rules (Griewank and Walther, 2008).
#pragma once

#include "core/ops/builder.h"

#include <span>
#include <vector>

namespace weft::autodiff {

/// Appends the backward part of everything in the builder's block that leads from `wrt` to `output`.
/// `seed` is the gradient of the final loss with respect to `output` (same shape). Returns one value
/// per entry of `wrt`, with its shape; a zero constant where the output does not depend on it.
/// Fan-out is summed in op order, so results are deterministic. A `repeat` on the way is
/// differentiated into a reverse `repeat` over stacked residuals. Throws weft::Error{usage} naming the op
/// when a non-differentiable one lies on the way.
ir::ValueIds append_gradients(ops::Builder& builder, ir::ValueId output, ir::ValueId seed,
                              std::span<const ir::ValueId> wrt);

} // namespace weft::autodiff
