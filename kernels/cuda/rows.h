// SPDX-License-Identifier: Apache-2.0
// Rows of a matrix, each by a warp or a block: how they are dealt out, read and reduced. A thread
// holds a tile of 16 elements of its row in registers; rows of more tiles are read in each pass
// over them. Which thread has which element, and the order of sums, hang on the width alone.
#pragma once

#include "kernels/cuda/dialect.h"

namespace weft::kernels::cuda {

constexpr int kRowPack = 8;
constexpr int kRowTile = 16;

/// What a kernel gets: rows x width, with `lanes` threads to a row: a warp (a block has several
/// rows) or a whole block.
struct RowShape {
    i64 rows, width;
    int lanes;
    int packed; // rows begin at multiples of 16 bytes, in every array
};

/// The row of a thread.
struct RowPlace {
    i64 row;
    int lane, lanes;
    i64 tiles;
};

WEFT_DEVICE RowPlace row_place(const RowShape& s) {
    const i64 group = thread() / s.lanes;
    return {block() * (threads() / s.lanes) + group, thread() % s.lanes, s.lanes,
            (s.width + static_cast<i64>(s.lanes) * kRowTile - 1) /
                (static_cast<i64>(s.lanes) * kRowTile)};
}

/// Column of element k of tile number `tile`.
WEFT_DEVICE i64 column_of(const RowPlace& p, i64 tile, int k) {
    return ((tile * (kRowTile / kRowPack) + k / kRowPack) * p.lanes + p.lane) * kRowPack +
           k % kRowPack;
}

/// Whether a pass has to read its tiles: the first does, the others where one tile is not all.
WEFT_DEVICE bool reads(const RowPlace& p, int pass) {
    return pass == 0 || p.tiles > 1;
}

/// Elements of a tile; `fallback` beyond the row's end. `start` is the row's first element.
WEFT_DEVICE void load_tile(const RowShape& s, const RowPlace& p, Source from, i64 start, i64 tile,
                           float fallback, float (&to)[kRowTile]) {
    WEFT_UNROLL
    for (int part = 0; part < kRowTile; part += kRowPack) {
        const i64 column = column_of(p, tile, part);
        float pack[kRowPack];
        if (s.packed && column < s.width) {
            load_pack<kRowPack>(from, start + column, pack);
        } else {
            WEFT_UNROLL
            for (int k = 0; k < kRowPack; ++k) {
                pack[k] = column + k < s.width ? load(from, start + column + k) : fallback;
            }
        }
        WEFT_UNROLL
        for (int k = 0; k < kRowPack; ++k) {
            to[part + k] = pack[k];
        }
    }
}

WEFT_DEVICE void store_tile(const RowShape& s, const RowPlace& p, Target to, i64 start, i64 tile,
                            const float (&from)[kRowTile]) {
    WEFT_UNROLL
    for (int part = 0; part < kRowTile; part += kRowPack) {
        const i64 column = column_of(p, tile, part);
        float pack[kRowPack];
        WEFT_UNROLL
        for (int k = 0; k < kRowPack; ++k) {
            pack[k] = from[part + k];
        }
        if (s.packed && column < s.width) {
            store_pack<kRowPack>(to, start + column, pack);
        } else {
            store_some<kRowPack>(to, start + column, s.width - column, pack);
        }
    }
}

/// What `of_warp` makes of all values of a row, for each of its threads. `totals` are shared, 32 of
/// them; `nothing` changes no result.
template <class Totals, class OfWarp>
WEFT_DEVICE float of_row(const RowPlace& p, float value, Totals& totals, float nothing,
                         OfWarp of_warp) {
    value = of_warp(value);
    if (p.lanes == kWarp) {
        return value;
    }
    if (thread() % kWarp == 0) {
        totals[thread() / kWarp] = value;
    }
    barrier();
    const int lane = thread() % kWarp;
    value = lane < p.lanes / kWarp ? float(totals[lane]) : nothing;
    barrier(); // before the next one writes there
    return of_warp(value);
}

template <class Totals>
WEFT_DEVICE float row_sum(const RowPlace& p, float value, Totals& totals) {
    return of_row(p, value, totals, 0.0f, [](float v) { return warp_sum(v); });
}

template <class Totals>
WEFT_DEVICE float row_max(const RowPlace& p, float value, Totals& totals) {
    return of_row(p, value, totals, -INFINITY, [](float v) { return warp_max(v); });
}

} // namespace weft::kernels::cuda
