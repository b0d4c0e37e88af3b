// SPDX-License-Identifier: Apache-2.0
// The host's side of rows.h.
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"

#include <initializer_list>

namespace weft::kernels::cuda {

/// Threads to a row: each with one tile, where a block is enough.
inline int lanes_for(i64 width) {
    int lanes = kWarp;
    while (lanes < 1024 && static_cast<i64>(lanes) * kRowTile < width) {
        lanes *= 2;
    }
    return lanes;
}

/// `arrays` are those that are read or written in tiles.
inline RowShape row_shape(i64 rows, i64 width, std::initializer_list<const void*> arrays) {
    bool packed = width % kRowPack == 0;
    for (const void* array : arrays) {
        packed = packed && aligned_to(array, 16);
    }
    return {rows, width, lanes_for(width), packed ? 1 : 0};
}

/// The first maximum of each row of x; NaN counts where it stands first, as it does for a
/// comparison.
WEFT_WIDE_KERNEL argmax_rows(const RowShape s, const Source x, int* out);

inline Grid row_grid(const RowShape& s) {
    const int threads = s.lanes == kWarp ? 128 : s.lanes;
    return {ceil_divide(s.rows, threads / s.lanes), 1, threads};
}

} // namespace weft::kernels::cuda
