// SPDX-License-Identifier: Apache-2.0
// The gradient of attention with probabilities recomputed from logsumexp (Dao et al. 2022, appendix
// B). dq is summed by blocks of queries, dk and dv by blocks of keys over their group of query
// heads: nothing is added atomically, so bits are equal each time.
#include "kernels/cuda/attention_launch.h"
#include "kernels/cuda/cuda_list.h"

namespace weft::kernels::cuda {

struct AttentionGradInputs {
    AttentionInputs in;
    Source out, dout;
    const float* logsumexps;
    float* deltas; // [N,H,T]: dout times out
};

/// A warp to a query.
WEFT_KERNEL attention_deltas(const AttentionShape shape, const Source out, const Source dout,
                             float* deltas) {
    const i64 i = block() * kAttentionWarps + thread() / kWarp; // of [N,T,H]
    if (i >= shape.n * shape.t * shape.h) {
        return;
    }
    const int lane = thread() % kWarp;
    float sum = 0.0f;
    for (i64 c = lane; c < shape.d; c += kWarp) {
        sum += load(out, i * shape.d + c) * load(dout, i * shape.d + c);
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        const i64 h = i % shape.h;
        const i64 t = i / shape.h % shape.t;
        const i64 n = i / shape.h / shape.t;
        deltas[(n * shape.h + h) * shape.t + t] = sum;
    }
}

/// Grid: tiles of queries x (n, h).
template <int W>
WEFT_NARROW_KERNEL attention_query_grad(const AttentionShape shape, const AttentionGradInputs g,
                                        const Target dq) {
    WEFT_SHARED(float, queries, kOwnRows<W>*(W + 1));
    WEFT_SHARED(float, grads, kOwnRows<W>*(W + 1));
    WEFT_SHARED(float, tile, kWarp*(W + 1));
    const AttentionPlace a = place_of(shape, g.in);
    const i64 n = block_y() / shape.h;
    const i64 h = block_y() % shape.h;
    const i64 first = block() * kOwnRows<W>;
    const int lane = thread() % kWarp;
    const int mine = thread() / kWarp * kOwn<W>;
    const i64 from = shape.q_offset(n, first, h);
    load_rows<W>(queries, kOwnRows<W>, g.in.q, from, shape.h * shape.d, shape.t - first, shape.d);
    load_rows<W>(grads, kOwnRows<W>, g.dout, from, shape.h * shape.d, shape.t - first, shape.d);
    float sums[kOwn<W>][kLaneChannels<W>] = {};
    const i64 last = first + kOwnRows<W> < shape.t ? first + kOwnRows<W> : shape.t;
    const i64 end = a.visible(last - 1);
    for (i64 key = a.first_visible(g.in, n, first) / kWarp * kWarp; key < end; key += kWarp) {
        const i64 keys = shape.kv_offset(n, key, h);
        barrier(); // the tile is read no more
        load_rows<W>(tile, kWarp, g.in.k, keys, shape.k * shape.d, shape.s - key, shape.d);
        barrier();
        float weight[kOwn<W>];
        WEFT_UNROLL
        for (int r = 0; r < kOwn<W>; ++r) {
            weight[r] =
                static_cast<float>(shape.scale) * row_product<W>(queries, mine + r, tile, lane);
        }
        barrier();
        load_rows<W>(tile, kWarp, g.in.v, keys, shape.k * shape.d, shape.s - key, shape.d);
        barrier();
        WEFT_UNROLL
        for (int r = 0; r < kOwn<W>; ++r) {
            const i64 row = first + mine + r;
            const bool seen = a.sees(g.in, n, row, key + lane);
            const float dp = row_product<W>(grads, mine + r, tile, lane);
            const i64 at = (n * shape.h + h) * shape.t + row;
            const float keep = seen ? a.keep(g.in.random, n, h, row, key + lane) : 0.0f;
            weight[r] = seen ? expf(weight[r] - g.logsumexps[at]) * (dp * keep - g.deltas[at]) *
                                   static_cast<float>(shape.scale)
                             : 0.0f;
        }
        barrier();
        load_rows<W>(tile, kWarp, g.in.k, keys, shape.k * shape.d, shape.s - key, shape.d);
        barrier();
        WEFT_UNROLL
        for (int r = 0; r < kOwn<W>; ++r) {
            add_rows<W>(sums[r], weight[r], tile, lane);
        }
    }
    WEFT_UNROLL
    for (int r = 0; r < kOwn<W>; ++r) {
        const i64 row = first + mine + r;
        WEFT_UNROLL
        for (int j = 0; j < kLaneChannels<W>; ++j) {
            if (row < shape.t && j * kWarp + lane < shape.d) {
                store(dq, shape.q_offset(n, row, h) + j * kWarp + lane, sums[r][j]);
            }
        }
    }
}

/// Grid: tiles of keys x (n, key head).
template <int W>
WEFT_NARROW_KERNEL attention_key_grad(const AttentionShape shape, const AttentionGradInputs g,
                                      const Target dk, const Target dv) {
    WEFT_SHARED(float, keys, kOwnRows<W>*(W + 1));
    WEFT_SHARED(float, values, kOwnRows<W>*(W + 1));
    WEFT_SHARED(float, tile, kWarp*(W + 1));
    const AttentionPlace a = place_of(shape, g.in);
    const i64 group = shape.h / shape.k;
    const i64 n = block_y() / shape.k;
    const i64 head = block_y() % shape.k;
    const i64 first = block() * kOwnRows<W>;
    const int lane = thread() % kWarp;
    const int mine = thread() / kWarp * kOwn<W>;
    const i64 from = shape.kv_offset(n, first, head * group);
    load_rows<W>(keys, kOwnRows<W>, g.in.k, from, shape.k * shape.d, shape.s - first, shape.d);
    load_rows<W>(values, kOwnRows<W>, g.in.v, from, shape.k * shape.d, shape.s - first, shape.d);
    float key_sums[kOwn<W>][kLaneChannels<W>] = {};
    float value_sums[kOwn<W>][kLaneChannels<W>] = {};
    for (i64 h = head * group; h < (head + 1) * group; ++h) {
        for (i64 query = 0; query < shape.t; query += kWarp) {
            const i64 last = query + kWarp < shape.t ? query + kWarp : shape.t;
            if (a.visible(last - 1) <=
                first) { // of what grows with the query, none sees these keys
                continue;
            }
            const i64 start = shape.q_offset(n, query, h);
            const i64 row = query + lane;
            const i64 at = (n * shape.h + h) * shape.t + row;
            barrier(); // the tile is read no more
            load_rows<W>(tile, kWarp, g.in.q, start, shape.h * shape.d, shape.t - query, shape.d);
            barrier();
            float weight[kOwn<W>];
            float kept[kOwn<W>];
            WEFT_UNROLL
            for (int r = 0; r < kOwn<W>; ++r) {
                const i64 key = first + mine + r;
                const bool seen = a.sees(g.in, n, row, key);
                const float score =
                    static_cast<float>(shape.scale) * row_product<W>(keys, mine + r, tile, lane);
                weight[r] = seen ? expf(score - g.logsumexps[at]) : 0.0f;
                kept[r] = seen ? a.keep(g.in.random, n, h, row, key) : 0.0f;
            }
            barrier();
            load_rows<W>(tile, kWarp, g.dout, start, shape.h * shape.d, shape.t - query, shape.d);
            barrier();
            WEFT_UNROLL
            for (int r = 0; r < kOwn<W>; ++r) {
                add_rows<W>(value_sums[r], weight[r] * kept[r], tile, lane);
                const float dp = row_product<W>(values, mine + r, tile, lane);
                const float delta = row < shape.t ? g.deltas[at] : 0.0f;
                weight[r] *= (dp * kept[r] - delta) * static_cast<float>(shape.scale);
            }
            barrier();
            load_rows<W>(tile, kWarp, g.in.q, start, shape.h * shape.d, shape.t - query, shape.d);
            barrier();
            WEFT_UNROLL
            for (int r = 0; r < kOwn<W>; ++r) {
                add_rows<W>(key_sums[r], weight[r], tile, lane);
            }
        }
    }
    WEFT_UNROLL
    for (int r = 0; r < kOwn<W>; ++r) {
        const i64 key = first + mine + r;
        WEFT_UNROLL
        for (int j = 0; j < kLaneChannels<W>; ++j) {
            if (key < shape.s && j * kWarp + lane < shape.d) {
                const i64 to = shape.kv_offset(n, key, head * group) + j * kWarp + lane;
                store(dk, to, key_sums[r][j]);
                store(dv, to, value_sums[r][j]);
            }
        }
    }
}

Made make_attention_grad(
    const Op& op) { // q, k, v, out, logsumexp, dout, positions?, random?, place? -> dq, dk, dv
    const AttentionShape a = attention_grad_op(op);
    want_dtype(op.input(4), WEFT_F32);
    const AttentionTypes types(op);
    const int out = float_dtype(op.input(3));
    const int dout = float_dtype(op.input(5));
    const int dq = float_dtype(op.output(0));
    const int dk = float_dtype(op.output(1));
    const int dv = float_dtype(op.output(2));
    return launches(a.n * a.h * a.t * 4, [=](const Run& run) {
        const AttentionGradInputs g{types.inputs(run, a),
                                    {run.in(3), out},
                                    {run.in(5), dout},
                                    static_cast<const float*>(run.in(4)),
                                    run.workspace<float>()};
        run.launch(Grid{ceil_divide(a.n * a.t * a.h, kAttentionWarps), 1, kAttentionThreads},
                   attention_deltas, a, g.out, g.dout, g.deltas);
        with_width(a, [&](auto width) {
            constexpr int W = decltype(width)::value;
            run.launch(Grid{ceil_divide(a.t, kOwnRows<W>), a.n * a.h, kAttentionThreads},
                       attention_query_grad<W>, a, g, Target{run.out(0), dq});
            run.launch(Grid{ceil_divide(a.s, kOwnRows<W>), a.n * a.k, kAttentionThreads},
                       attention_key_grad<W>, a, g, Target{run.out(1), dk}, Target{run.out(2), dv});
        });
    });
}

} // namespace weft::kernels::cuda
