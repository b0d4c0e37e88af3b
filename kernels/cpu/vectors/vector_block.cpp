// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/vectors/vector_block.h"

#include "kernels/cpu/vectors/avx512.h"

#include <array>
#include <utility>

namespace weft::kernels::cpu {
namespace {

template <int kRows, int kVectors, bool kTurned>
WEFT_AVX512 void multiply(const VectorBlock& given) {
    const VectorBlock block = given;
    __m512 sum[kRows][kVectors];
#pragma GCC unroll 14
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
            sum[r][v] = _mm512_setzero_ps();
        }
    }
    const float* left = block.left;
    const float* right = block.right;
#pragma GCC unroll 4
    for (std::int64_t d = 0; d < block.depth; ++d) {
        __m512 columns[kVectors];
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
            columns[v] = _mm512_loadu_ps(right + v * kVector);
        }
#pragma GCC unroll 14
        for (int r = 0; r < kRows; ++r) {
            const __m512 factor = _mm512_set1_ps(left[kTurned ? r : r * kLeftRow]);
#pragma GCC unroll 2
            for (int v = 0; v < kVectors; ++v) {
                sum[r][v] = _mm512_fmadd_ps(factor, columns[v], sum[r][v]);
            }
        }
        left += kTurned ? kTurnedRow : 1;
        right += kVectors * kVector;
    }
#pragma GCC unroll 14
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
            float* to = block.sums + r * block.sums_row + v * kVector;
            // Sums of sums: their error does not grow with all steps.
            _mm512_storeu_ps(to, block.resume ? _mm512_add_ps(sum[r][v], _mm512_loadu_ps(to))
                                              : sum[r][v]);
        }
    }
}

using Multiply = void (*)(const VectorBlock&);

template <int kVectors, bool kTurned, int... kRows>
constexpr std::array<Multiply, sizeof...(kRows)> by_rows(std::integer_sequence<int, kRows...>) {
    return {&multiply<kRows + 1, kVectors, kTurned>...};
}

using Rows = std::make_integer_sequence<int, kBlockRows>;
constexpr std::array<Multiply, kBlockRows> kMultiply[2][2] = {
    {by_rows<1, false>(Rows()), by_rows<2, false>(Rows())},
    {by_rows<1, true>(Rows()), by_rows<2, true>(Rows())}};

} // namespace

void multiply_block(const VectorBlock& block) {
    kMultiply[block.turned ? 1 : 0][block.vectors - 1][static_cast<std::size_t>(block.rows - 1)](
        block);
}

} // namespace weft::kernels::cpu
