// SPDX-License-Identifier: Apache-2.0
// Operands of a product in tiles of 1 KiB: 16 rows of 32 numbers along the summed axis (left), or
// 16 pairs of rows of 16 columns (right). What lies outside the matrix is zero.
#pragma once

#include "kernels/cpu/tiles/pairs.h"

namespace weft::kernels::cpu {

inline constexpr std::int64_t kTileSide = 16;  // rows of a tile, columns of results
inline constexpr std::int64_t kTileDepth = 32; // numbers along the summed axis
inline constexpr std::int64_t kTileNumbers = kTileSide * kTileDepth;

/// 16 rows from `from` on, of which there are `rows`, as tiles along `depth` numbers.
void pack_left(const Rows16& from, std::int64_t rows, std::int64_t depth, std::uint16_t* to);
/// The same of the transpose: `from` has `depth` rows; 16 of its columns, of which there are
/// `columns`.
void pack_left_turned(const Rows16& from, std::int64_t columns, std::int64_t depth,
                      std::uint16_t* to);
/// 32 columns from `from` on, of which there are `columns`, as pairs of tiles along `depth` rows.
void pack_right(const Rows16& from, std::int64_t columns, std::int64_t depth, std::uint16_t* to);
/// The same of the transpose: `from` has `columns` rows of `depth` numbers.
void pack_right_turned(const Rows16& from, std::int64_t columns, std::int64_t depth,
                       std::uint16_t* to);

} // namespace weft::kernels::cpu
