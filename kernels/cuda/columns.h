// SPDX-License-Identifier: Apache-2.0
// Columns of a matrix [rows, width] in blocks of 256 threads: 32 lanes with 4 neighbouring columns
// each, times 8 threads that take every eighth row of a chunk of rows. What is added per column is
// left per chunk and combined in order, so the order of sums hangs on the shape alone.
#pragma once

#include "kernels/cuda/launch.h"

namespace weft::kernels::cuda {

constexpr int kColumnPack = 4;
constexpr int kColumnBlock = kWarp * kColumnPack; // columns of a block
constexpr int kColumnRows = 8;                    // threads that share a column
constexpr int kColumnThreads = kWarp * kColumnRows;

struct ColumnShape {
    i64 rows, width;
    i64 chunk_rows; // of one block
    i64 chunks;
    int packed; // rows begin at multiples of 4 elements, in every array
};

/// The columns `column` .. + 3 and the rows first, first + 8, ... below `end` of a thread.
struct ColumnPlace {
    i64 column, first, end;
    int lane, row; // in the block
};

WEFT_DEVICE ColumnPlace column_place(const ColumnShape& s) {
    const int lane = thread() % kWarp;
    const int row = thread() / kWarp;
    const i64 start = block_y() * s.chunk_rows;
    const i64 end = start + s.chunk_rows;
    return {(block() * kWarp + lane) * kColumnPack, start + row, end < s.rows ? end : s.rows, lane,
            row};
}

/// Four elements of a row; zero beyond its end.
WEFT_DEVICE void load_columns(const ColumnShape& s, Source from, i64 row, i64 column,
                              float (&to)[kColumnPack]) {
    const i64 at = row * s.width + column;
    if (s.packed && column < s.width) {
        load_pack<kColumnPack>(from, at, to);
    } else {
        load_some<kColumnPack>(from, at, s.width - column, 0.0f, to);
    }
}

WEFT_DEVICE void store_columns(const ColumnShape& s, Target to, i64 row, i64 column,
                               const float (&from)[kColumnPack]) {
    const i64 at = row * s.width + column;
    if (s.packed && column < s.width) {
        store_pack<kColumnPack>(to, at, from);
    } else {
        store_some<kColumnPack>(to, at, s.width - column, from);
    }
}

/// Four channel numbers, f32 at any address.
WEFT_DEVICE void load_channels(const ColumnShape& s, const float* from, i64 column,
                               float (&to)[kColumnPack]) {
    WEFT_UNROLL
    for (int k = 0; k < kColumnPack; ++k) {
        to[k] = column + k < s.width ? from[column + k] : 0.0f;
    }
}

/// Adds what the eight threads of a column have and leaves it at partials[chunk][column].
/// `scratch` is shared, 8 x 128 floats; a barrier stands between two uses of it.
template <class Scratch>
WEFT_DEVICE void leave_sums(const ColumnShape& s, const ColumnPlace& p,
                            const float (&sums)[kColumnPack], Scratch& scratch, float* partials) {
    WEFT_UNROLL
    for (int k = 0; k < kColumnPack; ++k) {
        scratch[p.row * kColumnBlock + k * kWarp + p.lane] = sums[k];
    }
    barrier();
    if (thread() < kColumnBlock) {
        float sum = 0.0f;
        for (int row = 0; row < kColumnRows; ++row) {
            sum += scratch[row * kColumnBlock + thread()];
        }
        // Thread k * 32 + lane has column 4 lane + k.
        const i64 column =
            block() * kColumnBlock + thread() % kWarp * kColumnPack + thread() / kWarp;
        if (column < s.width) {
            partials[block_y() * s.width + column] = sum;
        }
    }
    barrier();
}

/// The shape that one pass over [rows, width] has: enough chunks to keep a large GPU busy, each
/// long enough to be worth its partial sums.
inline ColumnShape column_shape(i64 rows, i64 width) {
    constexpr i64 kBlocks = 1024;
    constexpr i64 kLeastRows = 64;
    const i64 across = std::max<i64>(1, ceil_divide(width, kColumnBlock));
    const i64 wanted = std::max<i64>(1, kBlocks / across);
    const i64 chunk =
        std::max(kLeastRows, ceil_divide(ceil_divide(rows, wanted), kColumnRows) * kColumnRows);
    return {rows, width, chunk, std::max<i64>(1, ceil_divide(rows, chunk)), 0};
}

/// With the addresses of a run, that are read or written in packs.
inline ColumnShape column_shape(ColumnShape s, std::initializer_list<const void*> arrays) {
    bool packed = s.width % kColumnPack == 0;
    for (const void* array : arrays) {
        packed = packed && aligned_to(array, 16);
    }
    s.packed = packed ? 1 : 0;
    return s;
}

inline Grid column_grid(const ColumnShape& s) {
    return {ceil_divide(s.width, kColumnBlock), s.chunks, kColumnThreads};
}

inline std::int64_t partial_bytes(const ColumnShape& s) {
    return round_up_to_line(s.chunks * s.width * 4);
}

/// Queues out[c] = sum of partials[chunk][c].
void combine_partials(const Run& run, const ColumnShape& s, const float* partials, float* out);

} // namespace weft::kernels::cuda
