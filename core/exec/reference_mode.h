// SPDX-License-Identifier: Apache-2.0
// The reference mode: the same program with every float held as f64, on the reference kernels. What
// differs between two programs by more than some 1e-13 then differs in what is computed, not in the
// order of its sums.
#pragma once

#include "core/exec/interpreter.h"

namespace weft::exec {

/// f32, bf16 and f16 become f64 everywhere: types, casts, constants. Random numbers and masks stay
/// the same.
void widen(ir::Program& program);
/// The tensor as a widened program takes it.
Tensor widened(const Tensor& tensor);

} // namespace weft::exec
