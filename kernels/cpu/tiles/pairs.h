// SPDX-License-Identifier: Apache-2.0
// Matrix products of bf16 in which two neighbours along the summed axis are one 32-bit lane, as
// VDPBF16PS and TDPBF16PS take them: each lane adds two products in f32. The left operand is an
// ordinary row-major matrix; the right one lies in pairs: [k / 2][n][2].
#pragma once

#include <cstdint>

namespace weft::kernels::cpu {

/// Whether this machine multiplies pairs of bf16 (AVX-512 BF16).
bool machine_has_pairs();

/// A row-major matrix of bf16; rows lie `row` elements apart.
struct Rows16 {
    const std::uint16_t* data;
    std::int64_t row;
};

/// A matrix in pairs; its rows of n pairs lie `row` pairs apart.
struct Pairs {
    const std::uint32_t* data;
    std::int64_t row;
};

/// out [m, n] (+)= left [m, 2 pairs] right [2 pairs, n]; n is a multiple of 16, rows of out lie
/// `out_row` floats apart. Overwrites when `accumulate` is false. On AMX
/// where a TileScope is open (matrix_tiles.h) and m and pairs are multiples of 16.
void multiply_pairs(const Rows16& left, const Pairs& right, float* out, std::int64_t out_row,
                    std::int64_t m, std::int64_t n, std::int64_t pairs, bool accumulate);

/// The transposed rows as a right operand: to[p][r] is the pair p of row r. Rows from `count` on,
/// up to a multiple of 16, become zeros.
void turn_pairs(const Rows16& from, std::int64_t count, std::int64_t pairs, std::uint32_t* to,
                std::int64_t to_row);

/// The rows as a right operand: to[r / 2][c] holds rows r and r + 1. A missing row, and columns
/// from `columns` up to a multiple of 16, become zeros.
void pair_rows(const Rows16& from, std::int64_t count, std::int64_t columns, std::uint32_t* to,
               std::int64_t to_row);

/// The transposed matrix [columns, count] as rows of bf16 that lie `to_row` elements apart; a last
/// row without a partner gets a zero beside it. `pairs` is scratch of 16 rows of pairs, each
/// `columns` up to a multiple of 16 wide.
void turn_rows(const Rows16& from, std::int64_t count, std::int64_t columns, std::uint32_t* pairs,
               std::uint16_t* to, std::int64_t to_row);

} // namespace weft::kernels::cpu
