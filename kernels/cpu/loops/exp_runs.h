// SPDX-License-Identifier: Apache-2.0
// Exponentials of runs of elements, f32 or bf16 as they are stored: what softmax and cross-entropy
// spend their time on. Relative errors below 3e-7; sums run in a fixed order per instruction set.
#pragma once

#include "kernels/numbers.h"

#include <cstdint>

namespace weft::kernels::cpu {

/// Sum of exp(x - shift).
template <class T>
float sum_of_exp(const T* x, float shift, std::int64_t count);

/// to = exp(from - shift); returns the sum. `to` may be `from`.
float exp_run(const float* from, float shift, float* to, std::int64_t count);

/// out = factor (exp(x - shift) - floor); `out` may be `x`.
template <class T, class Out>
void scaled_exp_run(const T* x, float shift, float factor, float floor, Out* out,
                    std::int64_t count);

} // namespace weft::kernels::cpu
