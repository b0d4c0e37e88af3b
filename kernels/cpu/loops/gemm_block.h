// SPDX-License-Identifier: Apache-2.0
// Small f32 matrix products on blocks that sit in cache: the inner loops of attention.
#pragma once

#include <cstdint>

namespace weft::kernels::cpu {

/// A view of the left operand: element (i, k) is data[i * row + k * column], so a transposed block
/// needs no copy.
struct LeftBlock {
    const float* data;
    std::int64_t row, column;
};

/// out [m, n] (+)= a [m, k] b [k, n]; m is a multiple of 4 and n of 16; rows of b and out have the
/// strides `b_row` and `out_row`. Overwrites when `accumulate` is false.
void gemm_block(const LeftBlock& a, const float* b, std::int64_t b_row, float* out,
                std::int64_t out_row, std::int64_t m, std::int64_t n, std::int64_t k,
                bool accumulate);

} // namespace weft::kernels::cpu
