// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/tiles/pairs.h"

#include "kernels/cpu/tiles/avx512_bf16.h"
#include "kernels/cpu/tiles/matrix_tiles.h"

#include <algorithm>
#include <cstring>

namespace weft::kernels::cpu {
namespace {

WEFT_INLINE int pair_at(const std::uint16_t* data) {
    int both;
    std::memcpy(&both, data, sizeof both);
    return both;
}

/// `Rows` rows by `Vectors` vectors of results, held in registers along the summed axis.
template <int Rows, int Vectors>
WEFT_AVX512_BF16 WEFT_INLINE void tile(const Rows16& left, const Pairs& right, float* out,
                                       std::int64_t out_row, std::int64_t pairs, bool accumulate) {
    __m512 sum[Rows][Vectors];
#pragma GCC unroll 6
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < Vectors; ++j) {
            sum[i][j] =
                accumulate ? _mm512_loadu_ps(out + i * out_row + 16 * j) : _mm512_setzero_ps();
        }
    }
    for (std::int64_t p = 0; p < pairs; ++p) {
        __m512bh b[Vectors];
#pragma GCC unroll 4
        for (int j = 0; j < Vectors; ++j) {
            b[j] =
                reinterpret_cast<__m512bh>(_mm512_loadu_si512(right.data + p * right.row + 16 * j));
        }
#pragma GCC unroll 6
        for (int i = 0; i < Rows; ++i) {
            const auto a = reinterpret_cast<__m512bh>(
                _mm512_set1_epi32(pair_at(left.data + i * left.row + 2 * p)));
#pragma GCC unroll 4
            for (int j = 0; j < Vectors; ++j) {
                sum[i][j] = _mm512_dpbf16_ps(sum[i][j], a, b[j]);
            }
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < Vectors; ++j) {
            _mm512_storeu_ps(out + i * out_row + 16 * j, sum[i][j]);
        }
    }
}

/// All rows of a column of tiles.
template <int Vectors>
WEFT_AVX512_BF16 void column(const Rows16& left, const Pairs& right, float* out,
                             std::int64_t out_row, std::int64_t m, std::int64_t pairs,
                             bool accumulate) {
    constexpr int kRows = 6; // with four vectors 24 sums, and five registers for operands
    std::int64_t i = 0;
    for (; i + kRows <= m; i += kRows) {
        tile<kRows, Vectors>({left.data + i * left.row, left.row}, right, out + i * out_row,
                             out_row, pairs, accumulate);
    }
    const Rows16 rest{left.data + i * left.row, left.row};
    float* to = out + i * out_row;
    switch (m - i) {
    case 5: return tile<5, Vectors>(rest, right, to, out_row, pairs, accumulate);
    case 4: return tile<4, Vectors>(rest, right, to, out_row, pairs, accumulate);
    case 3: return tile<3, Vectors>(rest, right, to, out_row, pairs, accumulate);
    case 2: return tile<2, Vectors>(rest, right, to, out_row, pairs, accumulate);
    case 1: return tile<1, Vectors>(rest, right, to, out_row, pairs, accumulate);
    default: return;
    }
}

/// 16 rows of `count` there are, from pair `first` on; lanes past `pairs` are zero.
WEFT_AVX512_BF16 WEFT_INLINE void load_16(const Rows16& from, std::int64_t count,
                                          std::int64_t first, std::int64_t pairs,
                                          __m512i (&r)[16]) {
    const __mmask16 there = lanes(pairs - first);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
        r[i] = i < count ? _mm512_maskz_loadu_epi32(there, from.data + i * from.row + 2 * first)
                         : _mm512_setzero_si512();
    }
}

} // namespace

bool machine_has_pairs() {
    static const bool has =
        __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    return has;
}

WEFT_AVX512_BF16 void multiply_pairs(const Rows16& left, const Pairs& right, float* out,
                                     std::int64_t out_row, std::int64_t m, std::int64_t n,
                                     std::int64_t pairs, bool accumulate) {
    if (m % 16 == 0 && pairs % 16 == 0 && tiles_are_ready()) {
        multiply_tiles(left, right, out, out_row, m, n, pairs, accumulate);
        return;
    }
    std::int64_t j = 0;
    for (; j + 64 <= n; j += 64) {
        column<4>(left, {right.data + j, right.row}, out + j, out_row, m, pairs, accumulate);
    }
    const Pairs rest{right.data + j, right.row};
    switch ((n - j) / 16) {
    case 3: return column<3>(left, rest, out + j, out_row, m, pairs, accumulate);
    case 2: return column<2>(left, rest, out + j, out_row, m, pairs, accumulate);
    case 1: return column<1>(left, rest, out + j, out_row, m, pairs, accumulate);
    default: return;
    }
}

WEFT_AVX512_BF16 void turn_pairs(const Rows16& from, std::int64_t count, std::int64_t pairs,
                                 std::uint32_t* to, std::int64_t to_row) {
    for (std::int64_t r = 0; r < count; r += 16) {
        const Rows16 rows{from.data + r * from.row, from.row};
        for (std::int64_t p = 0; p < pairs; p += 16) {
            __m512i block[16];
            load_16(rows, count - r, p, pairs, block);
            turn_16(block);
            const std::int64_t there = std::min<std::int64_t>(16, pairs - p);
            for (std::int64_t i = 0; i < there; ++i) {
                _mm512_storeu_si512(to + (p + i) * to_row + r, block[i]);
            }
        }
    }
}

WEFT_AVX512_BF16 void pair_rows(const Rows16& from, std::int64_t count, std::int64_t columns,
                                std::uint32_t* to, std::int64_t to_row) {
    for (std::int64_t r = 0; r < count; r += 2) {
        const std::uint16_t* low = from.data + r * from.row;
        for (std::int64_t c = 0; c < columns; c += 16) {
            const __mmask16 there = lanes(columns - c);
            const __m512i even = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, low + c));
            const __mmask16 second = r + 1 < count ? there : __mmask16{0};
            const __m512i odd = _mm512_cvtepu16_epi32(
                _mm256_maskz_loadu_epi16(second, low + (r + 1 < count ? from.row : 0) + c));
            _mm512_storeu_si512(to + r / 2 * to_row + c,
                                _mm512_or_si512(_mm512_slli_epi32(odd, 16), even));
        }
    }
}

WEFT_AVX512_BF16 void turn_rows(const Rows16& from, std::int64_t count, std::int64_t columns,
                                std::uint32_t* pairs, std::uint16_t* to, std::int64_t to_row) {
    const std::int64_t width = (columns + 15) / 16 * 16;
    for (std::int64_t r = 0; r < count; r += 32) {
        const std::int64_t rows = std::min<std::int64_t>(32, count - r);
        const std::int64_t paired = (rows + 1) / 2;
        pair_rows({from.data + r * from.row, from.row}, rows, columns, pairs, width);
        const __mmask16 there = lanes(paired);
        for (std::int64_t c = 0; c < columns; c += 16) {
            __m512i block[16];
#pragma GCC unroll 16
            for (int i = 0; i < 16; ++i) {
                block[i] =
                    i < paired ? _mm512_loadu_si512(pairs + i * width + c) : _mm512_setzero_si512();
            }
            turn_16(block);
            const std::int64_t wide = std::min<std::int64_t>(16, columns - c);
            for (std::int64_t i = 0; i < wide; ++i) {
                _mm512_mask_storeu_epi32(to + (c + i) * to_row + r, there, block[i]);
            }
        }
    }
}

} // namespace weft::kernels::cpu
