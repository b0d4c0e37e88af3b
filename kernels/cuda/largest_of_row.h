// SPDX-License-Identifier: Apache-2.0
// What sums of exponentials over a row begin with: softmax and the loss.
#pragma once

#include "kernels/cuda/rows.h"

namespace weft::kernels::cuda {

/// For each thread of the row. A row of one tile is left in `values`, -infinity behind its end, and
/// need not be loaded again.
template <class Totals>
WEFT_DEVICE float largest_of_row(const RowShape& s, const RowPlace& p, Source from,
                                 float (&values)[kRowTile], Totals& totals) {
    float max = -INFINITY;
    WEFT_ROLLED
    for (i64 tile = 0; tile < p.tiles; ++tile) {
        load_tile(s, p, from, p.row * s.width, tile, -INFINITY, values);
        WEFT_UNROLL
        for (int k = 0; k < kRowTile; ++k) {
            max = larger(max, values[k]);
        }
    }
    return row_max(p, max, totals);
}

} // namespace weft::kernels::cuda
