// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/gemm_block.h"

#include "kernels/cpu/simd.h"

namespace weft::kernels::cpu {
namespace {

// Sixteen floats: one register with AVX-512, two with AVX2. May lie anywhere.
typedef float Vector __attribute__((vector_size(64), aligned(4), may_alias));

/// Four rows by Columns vectors, held in registers along k.
template <int Columns>
WEFT_INLINE void tile(const LeftBlock& a, const float* b, std::int64_t b_row, float* out,
                      std::int64_t out_row, std::int64_t k, bool accumulate) {
    Vector sum[4][Columns] = {};
    for (std::int64_t p = 0; p < k; ++p) {
        const float* row = b + p * b_row;
        const float* left = a.data + p * a.column;
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            const float x = left[i * a.row];
#pragma GCC unroll 2
            for (int c = 0; c < Columns; ++c) {
                sum[i][c] += x * *reinterpret_cast<const Vector*>(row + 16 * c);
            }
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 2
        for (int c = 0; c < Columns; ++c) {
            auto* to = reinterpret_cast<Vector*>(out + i * out_row + 16 * c);
            *to = accumulate ? *to + sum[i][c] : sum[i][c];
        }
    }
}

} // namespace

WEFT_VECTOR void gemm_block(const LeftBlock& a, const float* b, std::int64_t b_row, float* out,
                            std::int64_t out_row, std::int64_t m, std::int64_t n, std::int64_t k,
                            bool accumulate) {
    for (std::int64_t j = 0; j < n; j += 32) {
        for (std::int64_t i = 0; i < m; i += 4) {
            const LeftBlock rows{a.data + i * a.row, a.row, a.column};
            float* to = out + i * out_row + j;
            if (n - j >= 32) {
                tile<2>(rows, b + j, b_row, to, out_row, k, accumulate);
            } else {
                tile<1>(rows, b + j, b_row, to, out_row, k, accumulate);
            }
        }
    }
}

} // namespace weft::kernels::cpu
