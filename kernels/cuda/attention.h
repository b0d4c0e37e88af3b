// SPDX-License-Identifier: Apache-2.0
// Attention in tiles, in the dialect: what its kernels share. A block of four warps holds a few own
// rows (queries, or for dk and dv keys), each warp some of them, and walks over the others in tiles
// of 32, one per lane. W is the head width rounded up; products are f32 multiply-adds, not tensor
// cores.
#pragma once

#include "kernels/attention_shape.h"
#include "kernels/cuda/dialect.h"
#include "kernels/philox.h"

namespace weft::kernels::cuda {

constexpr int kAttentionWarps = 4;
constexpr int kAttentionThreads = kAttentionWarps * kWarp;

/// What is unrolled of long loops: more of it spills registers.
constexpr int kAttentionStep = 4;
/// Own rows of a warp.
template <int W>
constexpr int kOwn = 256 / W;
/// Own rows of a block.
template <int W>
constexpr int kOwnRows = kAttentionWarps* kOwn<W>;
/// Channels of an own row that a lane adds up: lane, lane + 32, ...
template <int W>
constexpr int kLaneChannels = W / kWarp;

struct AttentionInputs {
    Source q, k, v;
    const i64* random;   // where there is dropout
    const i64* place;    // on a ring: the first query's position
    const i64* position; // of a cache: query t sees rows up to position + t
    const std::int32_t* positions; // of packed sequences: those of queries, [N, T]
};

/// A shape with what the device knows of a run.
struct AttentionPlace {
    AttentionShape shape;
    AttentionShape::Place at;
    i64 cached; // -1: no cache

    WEFT_DEVICE i64 visible(i64 row) const {
        return cached >= 0 ? cached + row + 1 : shape.visible(row, at);
    }
    /// First key that a query sees.
    WEFT_DEVICE i64 first_visible(const AttentionInputs& in, i64 n, i64 row) const {
        return in.positions == nullptr
                   ? 0
                   : shape.first_visible(row, at, in.positions[n * shape.t + row]);
    }
    WEFT_DEVICE bool sees(const AttentionInputs& in, i64 n, i64 row, i64 key) const {
        return row < shape.t && key < shape.s && key < visible(row) &&
               key >= first_visible(in, n, row);
    }
    /// 0 or 1 / (1 - rate).
    WEFT_DEVICE float keep(const i64* random, i64 n, i64 h, i64 row, i64 key) const {
        if (!shape.dropout) {
            return 1.0f;
        }
        const auto* numbers = reinterpret_cast<const std::int64_t*>(random);
        const i64 index = shape.index(numbers, at, n, h, row, key);
        const float u =
            uniform_of(Stream(numbers, shape.stream).word(static_cast<std::uint64_t>(index)));
        return u >= static_cast<float>(shape.rate) ? static_cast<float>(1.0 / (1.0 - shape.rate))
                                                   : 0.0f;
    }
};

WEFT_DEVICE AttentionPlace place_of(const AttentionShape& shape, const AttentionInputs& in) {
    return {shape, in.place != nullptr ? shape.place_from(*in.place) : AttentionShape::Place{},
            in.position != nullptr ? *in.position : -1};
}

/// Rows first .. + count of an array with `stride` elements from row to row, into tile[r][c], whose
/// rows have W + 1 elements so that lanes read different banks. Rows and channels that are not
/// there are zero. `start` is the first row's first element.
template <int W, class Tile>
WEFT_DEVICE void load_rows(Tile& tile, int rows, Source from, i64 start, i64 stride, i64 there,
                           i64 width) {
    for (int i = thread(); i < rows * W; i += kAttentionThreads) {
        const int r = i / W;
        const int c = i % W;
        tile[r * (W + 1) + c] = r < there && c < width ? load(from, start + r * stride + c) : 0.0f;
    }
}

/// The product of own row `own` with the lane's row of the tile.
template <int W, class Rows, class Tile>
WEFT_DEVICE float row_product(Rows& rows, int own, Tile& tile, int lane) {
    float sum = 0.0f;
    WEFT_ROLLED
    for (int part = 0; part < W; part += kAttentionStep) {
        WEFT_UNROLL
        for (int c = part; c < part + kAttentionStep; ++c) {
            sum += rows[own * (W + 1) + c] * tile[lane * (W + 1) + c];
        }
    }
    return sum;
}

/// sums[j] += weight of each lane times its row of the tile, at channels lane + 32 j.
template <int W, class Tile>
WEFT_DEVICE void add_rows(float (&sums)[kLaneChannels<W>], float weight, Tile& tile, int lane) {
    WEFT_ROLLED
    for (int part = 0; part < kWarp; part += kAttentionStep) {
        WEFT_UNROLL
        for (int r = part; r < part + kAttentionStep; ++r) {
            const float w = shuffle(weight, r);
            WEFT_UNROLL
            for (int j = 0; j < kLaneChannels<W>; ++j) {
                sums[j] += w * tile[r * (W + 1) + j * kWarp + lane];
            }
        }
    }
}

} // namespace weft::kernels::cuda
