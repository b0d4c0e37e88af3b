// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/tiles/tile_packing.h"

#include "kernels/cpu/tiles/avx512_bf16.h"

#include <algorithm>

namespace weft::kernels::cpu {
namespace {

/// The first `count` of 32 numbers.
WEFT_INLINE std::uint32_t numbers(std::int64_t count) {
    return count >= 32 ? ~0u : count <= 0 ? 0u : (1u << count) - 1u;
}

// Where the numbers of two rows go that lie side by side: a pair is one number of each.
struct alignas(64) PairOrder {
    std::uint16_t first[32];  // of columns 0 to 15
    std::uint16_t second[32]; // of columns 16 to 31
};

constexpr PairOrder make_pair_order() {
    PairOrder order{};
    for (int i = 0; i < 32; ++i) {
        const int from = i / 2 + i % 2 * 32;
        order.first[i] = static_cast<std::uint16_t>(from);
        order.second[i] = static_cast<std::uint16_t>(from + 16);
    }
    return order;
}

constexpr PairOrder kPairOrder = make_pair_order();

} // namespace

WEFT_AVX512_BF16 void pack_left(const Rows16& from, std::int64_t rows, std::int64_t depth,
                                std::uint16_t* to) {
    for (std::int64_t d = 0; d < depth; d += kTileDepth, to += kTileNumbers) {
        const __mmask32 there = numbers(depth - d);
        for (std::int64_t r = 0; r < kTileSide; ++r) {
            const __mmask32 of_row = r < rows ? there : __mmask32{0};
            const std::uint16_t* at = from.data + std::min(r, rows - 1) * from.row + d;
            _mm512_storeu_si512(to + r * kTileDepth, _mm512_maskz_loadu_epi16(of_row, at));
        }
    }
}

WEFT_AVX512_BF16 void pack_left_turned(const Rows16& from, std::int64_t columns, std::int64_t depth,
                                       std::uint16_t* to) {
    const __mmask16 there = lanes(columns);
    for (std::int64_t d = 0; d < depth; d += kTileDepth, to += kTileNumbers) {
        __m512i block[16];
#pragma GCC unroll 16
        for (int p = 0; p < 16; ++p) {
            const std::int64_t row = d + 2 * p;
            const std::uint16_t* at = from.data + std::min(row, depth - 1) * from.row;
            const std::uint16_t* next = from.data + std::min(row + 1, depth - 1) * from.row;
            const __m512i low = _mm512_cvtepu16_epi32(
                _mm256_maskz_loadu_epi16(row < depth ? there : __mmask16{0}, at));
            const __m512i high = _mm512_cvtepu16_epi32(
                _mm256_maskz_loadu_epi16(row + 1 < depth ? there : __mmask16{0}, next));
            block[p] = _mm512_or_si512(_mm512_slli_epi32(high, 16), low);
        }
        turn_16(block);
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) {
            _mm512_storeu_si512(to + i * kTileDepth, block[i]);
        }
    }
}

WEFT_AVX512_BF16 void pack_right(const Rows16& from, std::int64_t columns, std::int64_t depth,
                                 std::uint16_t* to) {
    const __m512i first = _mm512_load_si512(kPairOrder.first);
    const __m512i second = _mm512_load_si512(kPairOrder.second);
    const __mmask32 there = numbers(columns);
    for (std::int64_t d = 0; d < depth; d += kTileDepth, to += 2 * kTileNumbers) {
        for (std::int64_t p = 0; p < kTileSide; ++p) {
            const std::int64_t row = d + 2 * p;
            const std::uint16_t* at = from.data + std::min(row, depth - 1) * from.row;
            const std::uint16_t* next = from.data + std::min(row + 1, depth - 1) * from.row;
            const __m512i even = _mm512_maskz_loadu_epi16(row < depth ? there : __mmask32{0}, at);
            const __m512i odd =
                _mm512_maskz_loadu_epi16(row + 1 < depth ? there : __mmask32{0}, next);
            _mm512_storeu_si512(to + p * kTileDepth, _mm512_permutex2var_epi16(even, first, odd));
            _mm512_storeu_si512(to + kTileNumbers + p * kTileDepth,
                                _mm512_permutex2var_epi16(even, second, odd));
        }
    }
}

WEFT_AVX512_BF16 void pack_right_turned(const Rows16& from, std::int64_t columns,
                                        std::int64_t depth, std::uint16_t* to) {
    for (std::int64_t d = 0; d < depth; d += kTileDepth) {
        const __mmask32 there = numbers(depth - d);
        for (std::int64_t half = 0; half < 2; ++half, to += kTileNumbers) {
            __m512i block[16];
#pragma GCC unroll 16
            for (int i = 0; i < 16; ++i) {
                const std::int64_t column = half * kTileSide + i;
                const std::uint16_t* at = from.data + std::min(column, columns - 1) * from.row + d;
                block[i] = _mm512_maskz_loadu_epi16(column < columns ? there : __mmask32{0}, at);
            }
            turn_16(block);
#pragma GCC unroll 16
            for (int i = 0; i < 16; ++i) {
                _mm512_storeu_si512(to + i * kTileDepth, block[i]);
            }
        }
    }
}

} // namespace weft::kernels::cpu
