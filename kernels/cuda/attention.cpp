// SPDX-License-Identifier: Apache-2.0
// Attention forward (Dao et al. 2022, online softmax) and over a cache.
#include "kernels/cuda/attention.h"

#include "kernels/cuda/attention_launch.h"
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/move.h"

namespace weft::kernels::cuda {

/// out [N,T,H,D] and, where it is not null, logsumexp [N,H,T]. Grid: tiles of queries x (n, h).
template <int W>
WEFT_NARROW_KERNEL attend(const AttentionShape shape, const AttentionInputs in, const Target out,
                          float* logsumexps) {
    WEFT_SHARED(float, own, kOwnRows<W>*(W + 1));
    WEFT_SHARED(float, tile, kWarp*(W + 1));
    const AttentionPlace a = place_of(shape, in);
    const i64 n = block_y() / shape.h;
    const i64 h = block_y() % shape.h;
    const i64 first = block() * kOwnRows<W>;
    const int lane = thread() % kWarp;
    const int mine = thread() / kWarp * kOwn<W>; // first own row of the warp
    load_rows<W>(own, kOwnRows<W>, in.q, shape.q_offset(n, first, h), shape.h * shape.d,
                 shape.t - first, shape.d);
    float max[kOwn<W>];
    float sum[kOwn<W>];
    float sums[kOwn<W>][kLaneChannels<W>] = {};
    WEFT_UNROLL
    for (int r = 0; r < kOwn<W>; ++r) {
        max[r] = -INFINITY;
        sum[r] = 0.0f;
    }
    const i64 last = first + kOwnRows<W> < shape.t ? first + kOwnRows<W> : shape.t;
    const i64 end = a.visible(last - 1) < shape.s ? a.visible(last - 1) : shape.s;
    // Positions of a sample grow with the query, so that no later one sees an earlier key.
    for (i64 key = a.first_visible(in, n, first) / kWarp * kWarp; key < end; key += kWarp) {
        barrier(); // the tile is read no more
        load_rows<W>(tile, kWarp, in.k, shape.kv_offset(n, key, h), shape.k * shape.d,
                     shape.s - key, shape.d);
        barrier();
        float weight[kOwn<W>];
        WEFT_UNROLL
        for (int r = 0; r < kOwn<W>; ++r) {
            const i64 row = first + mine + r;
            const bool seen = a.sees(in, n, row, key + lane);
            const float product = row_product<W>(own, mine + r, tile, lane);
            const float score = seen ? static_cast<float>(shape.scale) * product : -INFINITY;
            const float top = larger(max[r], warp_max(score));
            const float shrink = top == -INFINITY ? 1.0f : expf(max[r] - top);
            const float p = seen ? expf(score - top) : 0.0f;
            sum[r] = sum[r] * shrink + warp_sum(p);
            max[r] = top;
            weight[r] = seen ? p * a.keep(in.random, n, h, row, key + lane) : 0.0f;
            WEFT_UNROLL
            for (int j = 0; j < kLaneChannels<W>; ++j) {
                sums[r][j] *= shrink;
            }
        }
        barrier();
        load_rows<W>(tile, kWarp, in.v, shape.kv_offset(n, key, h), shape.k * shape.d,
                     shape.s - key, shape.d);
        barrier();
        WEFT_UNROLL
        for (int r = 0; r < kOwn<W>; ++r) {
            add_rows<W>(sums[r], weight[r], tile, lane);
        }
    }
    WEFT_UNROLL
    for (int r = 0; r < kOwn<W>; ++r) {
        const i64 row = first + mine + r;
        if (row < shape.t) {
            const i64 to = shape.q_offset(n, row, h);
            WEFT_UNROLL
            for (int j = 0; j < kLaneChannels<W>; ++j) {
                if (j * kWarp + lane < shape.d) {
                    store(out, to + j * kWarp + lane,
                          sum[r] > 0.0f ? sums[r][j] / sum[r] : sums[r][j]);
                }
            }
            if (lane == 0 && logsumexps != nullptr) {
                logsumexps[(n * shape.h + h) * shape.t + row] =
                    max[r] == -INFINITY ? static_cast<float>(kNoKeys) : max[r] + logf(sum[r]);
            }
        }
    }
}

/// Rows that do not fit are reported and not written. Elements of `Bytes`.
template <int Bytes>
WEFT_KERNEL write_cache(i64 samples, i64 cached, i64 fresh, i64 row, const unsigned char* rows,
                        const i64* position, unsigned char* cache, volatile int* faults) {
    const i64 at = *position;
    if (at < 0 || at + fresh > cached) {
        if (block() == 0 && thread() == 0) {
            report_fault(faults, kWrittenPosition);
        }
        return;
    }
    for (i64 i = block() * threads() + thread(); i < samples * fresh * row;
         i += blocks() * threads()) {
        const i64 n = i / (fresh * row);
        u64 words[Bytes > 8 ? 2 : 1];
        load_vector<Bytes>(rows + i * Bytes, words);
        store_vector<Bytes>(cache + ((n * cached + at) * row + i % (fresh * row)) * Bytes, words);
    }
}

/// Reports a position at which queries would see more rows than the cache has.
WEFT_KERNEL check_position(i64 queries, i64 cached, const i64* position, volatile int* faults) {
    if (thread() == 0 && (*position < 0 || *position + queries > cached)) {
        report_fault(faults, kCachedPosition);
    }
}

namespace {

Grid query_grid(const AttentionShape& a, int own_rows) {
    return {ceil_divide(a.t, own_rows), a.n * a.h, kAttentionThreads};
}

} // namespace

Made make_attention(const Op& op) { // q, k, v, positions?, random?, place? -> out, logsumexp
    const AttentionShape a = attention_op(op);
    want_dtype(op.output(1), WEFT_F32);
    const AttentionTypes types(op);
    const int out = float_dtype(op.output(0));
    return launches([=](const Run& run) {
        const AttentionInputs in = types.inputs(run, a);
        with_width(a, [&](auto width) {
            constexpr int W = decltype(width)::value;
            run.launch(query_grid(a, kOwnRows<W>), attend<W>, a, in, Target{run.out(0), out},
                       static_cast<float*>(run.out(1)));
        });
    });
}

Made make_attention_cached(const Op& op) { // q, k_cache, v_cache, position -> out
    const AttentionShape a = attention_shape(op, 4);
    require(same_shape(op.output(0), op.input(0)), "the output is not [N,T,H,D]");
    require(op.input(3).dtype == WEFT_I64 && element_count(op.input(3)) == 1,
            "the position is not i64[]");
    const AttentionTypes types(op);
    const int out = float_dtype(op.output(0));
    return launches([=, faults = fault_word()](const Run& run) {
        AttentionInputs in = types.inputs(run, a);
        in.position = static_cast<const i64*>(run.in(3));
        run.launch(Grid{1, 1, kWarp}, check_position, a.t, a.s, in.position, faults);
        with_width(a, [&](auto width) {
            constexpr int W = decltype(width)::value;
            run.launch(query_grid(a, kOwnRows<W>), attend<W>, a, in, Target{run.out(0), out},
                       nullptr);
        });
    });
}

Made make_cache_write(const Op& op) { // cache [N,S,K,D], new [N,T,K,D], position -> cache
    const Type& cache = op.input(0);
    const Type& rows = op.input(1);
    require(cache.rank == 4 && rows.rank == 4 && same_shape(cache, op.output(0)),
            "the cache is not [N,S,K,D]");
    require(rows.shape[0] == cache.shape[0] && rows.shape[2] == cache.shape[2] &&
                rows.shape[3] == cache.shape[3],
            "the new rows do not fit the cache");
    require(rows.dtype == cache.dtype && op.output(0).dtype == cache.dtype,
            "cache and new rows differ in dtype");
    require(op.input(2).dtype == WEFT_I64 && element_count(op.input(2)) == 1,
            "the position is not i64[]");
    const i64 size = dtype_size(cache.dtype);
    const i64 row = cache.shape[2] * cache.shape[3];
    const i64 samples = cache.shape[0];
    const i64 cached = cache.shape[1];
    const i64 fresh = rows.shape[1];
    const Box whole = merged({size, {element_count(cache)}, {size}, {size}});
    return launches([=, faults = fault_word()](const Run& run) {
        if (run.in(0) != run.out(0)) {
            move_box(run, whole, run.in(0), run.out(0));
        }
        with_bytes(widest_bytes(row * size, {run.in(1), run.out(0)}), [&](auto bytes) {
            const i64 pieces = row * size / bytes;
            run.launch(grid_over(samples * fresh * pieces), write_cache<bytes>, samples, cached,
                       fresh, pieces, static_cast<const unsigned char*>(run.in(1)),
                       static_cast<const i64*>(run.in(2)), static_cast<unsigned char*>(run.out(0)),
                       faults);
        });
    });
}

} // namespace weft::kernels::cuda
