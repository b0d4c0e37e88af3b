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

/// Rows by vectors of results, held in registers along the summed axis.
template <int kRows, int kVectors>
WEFT_AVX512 WEFT_INLINE void multiply_tile(const FloatRows& left, const FloatRows& right,
                                           float* out, std::int64_t out_row, std::int64_t k,
                                           bool accumulate) {
    __m512 sum[kRows][kVectors];
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
            sum[r][v] =
                accumulate ? _mm512_loadu_ps(out + r * out_row + v * kVector) : _mm512_setzero_ps();
        }
    }
    for (std::int64_t d = 0; d < k; ++d) {
        __m512 columns[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
            columns[v] = _mm512_loadu_ps(right.data + d * right.row + v * kVector);
        }
#pragma GCC unroll 6
        for (int r = 0; r < kRows; ++r) {
            const __m512 factor = _mm512_set1_ps(left.data[r * left.row + d]);
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v) {
                sum[r][v] = _mm512_fmadd_ps(factor, columns[v], sum[r][v]);
            }
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
            _mm512_storeu_ps(out + r * out_row + v * kVector, sum[r][v]);
        }
    }
}

/// All rows of a column of tiles.
template <int kVectors>
WEFT_AVX512 void multiply_column(const FloatRows& left, const FloatRows& right, float* out,
                                 std::int64_t out_row, std::int64_t m, std::int64_t k,
                                 bool accumulate) {
    constexpr int kRows = 6; // with four vectors 24 sums, and five registers for operands
    std::int64_t r = 0;
    for (; r + kRows <= m; r += kRows) {
        multiply_tile<kRows, kVectors>({left.data + r * left.row, left.row}, right,
                                       out + r * out_row, out_row, k, accumulate);
    }
    for (; r + 2 <= m; r += 2) {
        multiply_tile<2, kVectors>({left.data + r * left.row, left.row}, right, out + r * out_row,
                                   out_row, k, accumulate);
    }
    if (r < m) {
        multiply_tile<1, kVectors>({left.data + r * left.row, left.row}, right, out + r * out_row,
                                   out_row, k, accumulate);
    }
}

using Multiply = void (*)(const VectorBlock&);

template <int kVectors, bool kTurned, int... kRows>
constexpr std::array<Multiply, sizeof...(kRows)> by_rows(std::integer_sequence<int, kRows...>) {
    return {&multiply<kRows + 1, kVectors, kTurned>...};
}

using RowCounts = std::make_integer_sequence<int, kBlockRows>;
constexpr std::array<Multiply, kBlockRows> kMultiply[2][2] = {
    {by_rows<1, false>(RowCounts()), by_rows<2, false>(RowCounts())},
    {by_rows<1, true>(RowCounts()), by_rows<2, true>(RowCounts())}};

} // namespace

void multiply_block(const VectorBlock& block) {
    kMultiply[block.turned ? 1 : 0][block.vectors - 1][static_cast<std::size_t>(block.rows - 1)](
        block);
}

void multiply_floats(const FloatRows& left, const FloatRows& right, float* out,
                     std::int64_t out_row, std::int64_t m, std::int64_t n, std::int64_t k,
                     bool accumulate) {
    constexpr std::int64_t kWide = 4 * kVector;
    std::int64_t c = 0;
    for (; c + kWide <= n; c += kWide) {
        multiply_column<4>(left, {right.data + c, right.row}, out + c, out_row, m, k, accumulate);
    }
    const FloatRows rest{right.data + c, right.row};
    switch ((n - c) / kVector) {
    case 3: return multiply_column<3>(left, rest, out + c, out_row, m, k, accumulate);
    case 2: return multiply_column<2>(left, rest, out + c, out_row, m, k, accumulate);
    case 1: return multiply_column<1>(left, rest, out + c, out_row, m, k, accumulate);
    default: return;
    }
}

} // namespace weft::kernels::cpu
