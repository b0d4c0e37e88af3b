// SPDX-License-Identifier: Apache-2.0
// Attention forward: blocks of 64 queries meet blocks of 64 keys with a running maximum and sum
// (online softmax: Milakov, Gimelshein 2018; Dao et al. 2022), so no T x S matrix exists. One piece
// of work is one block of queries of one head.
#include "kernels/cpu/attention/block_attention.h"
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/exp_runs.h"
#include "kernels/cpu/loops/gemm_block.h"
#include "kernels/cpu/loops/simd.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kB = kAttentionBlock;

WEFT_VECTOR void multiply_run(float* to, const float* factors, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] *= factors[i];
    }
}

class Attention final : public Kernel { // q, k, v, positions?, random?, place? -> out, logsumexp
public:
    explicit Attention(const Op& op)
        : a_(attention_op(op)), type_(op.input(0).dtype), threads_(team_size()),
          width_((a_.d + 15) / 16 * 16) {
        if (!is_float(type_) || op.input(1).dtype != type_ || op.input(2).dtype != type_ ||
            op.output(0).dtype != type_ || op.output(1).dtype != WEFT_F32 || a_.s == 0) {
            unsupported("attention in f32 or bf16 with at least one key only");
        }
        // q, k or v, out [64, width]; transposed keys [D, 64]; scores [64, 64]; factors, max, sum
        // [64]
        scratch_.bytes = 4 * (3 * kB * width_ + a_.d * kB + kB * kB + 3 * kB);
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const std::int64_t blocks = (a_.t + kB - 1) / kB;
        const std::int64_t work = a_.n * a_.h * a_.t * a_.s * a_.d / 4;
        parallel_each(a_.n * a_.h * blocks, work, threads_, [&](std::int64_t piece, int thread) {
            const std::int64_t head = piece / blocks;
            const HeadView view{a_, a_.place(args.inputs), type_, head / a_.h, head % a_.h, width_};
            block(args, view, piece % blocks * kB, scratch_.of(args.workspace, thread));
        });
        return WEFT_OK;
    }

private:
    struct Scratch {
        float *q, *kv, *out, *keys, *score, *keep, *max, *sum;
    };

    Scratch split(float* p) const {
        Scratch s{};
        s.q = p;
        s.kv = s.q + kB * width_;
        s.out = s.kv + kB * width_;
        s.keys = s.out + kB * width_;
        s.score = s.keys + a_.d * kB;
        s.keep = s.score + kB * kB;
        s.max = s.keep + kB;
        s.sum = s.max + kB;
        return s;
    }

    void block(const weft_run_args& args, const HeadView& view, std::int64_t first,
               float* memory) const {
        const Scratch s = split(memory);
        const std::int64_t rows = std::min(kB, a_.t - first);
        const std::int64_t padded = (rows + 3) / 4 * 4;
        view.load_queries(args.inputs[0], first, s.q);
        fill_run(s.out, 0.0f, kB * width_);
        fill_run(s.max, -std::numeric_limits<float>::infinity(), kB);
        fill_run(s.sum, 0.0f, kB);
        fill_run(s.score, 0.0f, kB * kB);
        const HeadView::Keys seen = view.seen_by_some(args, first, rows);
        for (std::int64_t key = seen.first / kB * kB; key < seen.end; key += kB) {
            view.load_keys_transposed(args.inputs[1], key, s.kv, s.keys);
            gemm_block({s.q, width_, 1}, s.keys, kB, s.score, kB, padded, kB, a_.d, false);
            for (std::int64_t r = 0; r < rows; ++r) {
                soften(args, view, s, first, r, key);
            }
            view.load_keys(args.inputs[2], key, s.kv);
            const std::int64_t keys = std::min(kB, a_.s - key);
            gemm_block({s.score, kB, 1}, s.kv, width_, s.out, width_, padded, width_, keys, true);
        }
        for (std::int64_t r = 0; r < rows; ++r) {
            const bool none = s.sum[r] == 0.0f; // there is no key that it sees
            scale_run(s.out + r * width_, none ? 0.0f : 1.0f / s.sum[r], a_.d);
            store_run(type_)(
                s.out + r * width_,
                element(args.outputs[0], type_, a_.q_offset(view.sample, first + r, view.head)),
                a_.d);
            static_cast<float*>(
                args.outputs[1])[(view.sample * a_.h + view.head) * a_.t + first + r] =
                none ? static_cast<float>(kNoKeys) : s.max[r] + std::log(s.sum[r]);
        }
    }

    /// Turns the scores of one query into unnormalised probabilities and rescales what it has so
    /// far.
    void soften(const weft_run_args& args, const HeadView& view, const Scratch& s,
                std::int64_t first, std::int64_t r, std::int64_t key) const {
        float* score = s.score + r * kB;
        const HeadView::Keys seen = view.seen(args, first + r);
        const std::int64_t from = std::max<std::int64_t>(0, seen.first - key);
        const std::int64_t count = std::min(kB, seen.end - key) - from;
        if (count <= 0) {
            fill_run(score, 0.0f, kB);
            return;
        }
        fill_run(score, 0.0f, from);
        score += from;
        scale_run(score, static_cast<float>(a_.scale), count);
        const float max = std::fmax(s.max[r], max_run(score, count));
        const float shrink = std::exp(s.max[r] - max);
        s.sum[r] = s.sum[r] * shrink + exp_run(score, max, score, count);
        fill_run(score + count, 0.0f, kB - from - count);
        s.max[r] = max;
        if (shrink != 1.0f) {
            scale_run(s.out + r * width_, shrink, width_);
        }
        if (a_.dropout) {
            view.keep_factors(static_cast<const std::int64_t*>(args.inputs[a_.random_operand]),
                              first + r, key + from, count, s.keep);
            multiply_run(score, s.keep, count);
        }
    }

    AttentionShape a_;
    std::int32_t type_;
    int threads_;
    std::int64_t width_;
    ThreadScratch scratch_;
};

constexpr std::int64_t kRowsAhead = 8; // that are fetched while a row is used
constexpr std::int64_t kHeadsTogether = 8;

/// Heads that one query has beside each other, and where theirs begins in a row of the cache. Rows
/// are read whole, in the order in which they lie.
struct HeadRun {
    std::int64_t count = 0, width = 0;
    std::int64_t step = 0;                                        // between rows of the cache
    std::int64_t rows = 0;                                        // that the query sees
    std::int64_t at[kHeadsTogether] = {};                         // of each head in its row
    std::int64_t length() const { return at[count - 1] + width; } // of a row's part
};

/// scores[h][s] = scale q[h] row[s]; runs of scores lie `between` apart.
template <class T>
WEFT_VECTOR void score_rows(const HeadRun& heads, const float* q, const T* rows, float scale,
                            float* scores, std::int64_t between) {
    const std::int64_t width = heads.width;
    for (std::int64_t s = 0; s < heads.rows; ++s) {
        const T* row = rows + s * heads.step;
        fetch_row(row + kRowsAhead * heads.step, heads.length());
        for (std::int64_t h = 0; h < heads.count; ++h) {
            const float* own = q + h * width;
            const T* part = row + heads.at[h];
            scores[h * between + s] =
                scale * blocked_sum(width, [=](std::int64_t i) WEFT_INLINE_LAMBDA {
                    return own[i] * to_float(part[i]);
                });
        }
    }
}

/// out[h] = sum of shares[h][s] times row[s].
template <class T>
WEFT_VECTOR void mix_rows(const HeadRun& heads, const float* shares, std::int64_t between,
                          const T* rows, float* out) {
    const std::int64_t width = heads.width;
    for (std::int64_t i = 0; i < heads.count * width; ++i) {
        out[i] = 0.0f;
    }
    for (std::int64_t s = 0; s < heads.rows; ++s) {
        const T* row = rows + s * heads.step;
        fetch_row(row + kRowsAhead * heads.step, heads.length());
        for (std::int64_t h = 0; h < heads.count; ++h) {
            const float share = shares[h * between + s];
            const T* part = row + heads.at[h];
            float* to = out + h * width;
#pragma GCC ivdep
            for (std::int64_t i = 0; i < width; ++i) {
                to[i] += share * to_float(part[i]);
            }
        }
    }
}

/// One query at a time over a key/value cache: decoding is bound by reading the cache.
class AttentionCached final : public Kernel { // q, k_cache, v_cache, position -> out
public:
    explicit AttentionCached(const Op& op)
        : a_(attention_shape(op, 4)), type_(op.input(0).dtype), threads_(team_size()),
          vectors_(round_up_to_line(kHeadsTogether * a_.d * 4) / 4),
          scores_(round_up_to_line(a_.s * 4) / 4) {
        require(same_shape(op.output(0), op.input(0)), "the output is not [N,T,H,D]");
        require(op.input(3).dtype == WEFT_I64 && element_count(op.input(3)) == 1,
                "the position is not i64[]");
        if (!is_float(type_) || op.input(1).dtype != type_ || op.input(2).dtype != type_ ||
            op.output(0).dtype != type_) {
            unsupported("attention in f32 or bf16 only");
        }
        scratch_.bytes = (2 * vectors_ + kHeadsTogether * scores_) * 4;
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const std::int64_t position = static_cast<const std::int64_t*>(args.inputs[3])[0];
        if (position < 0 || position + a_.t > a_.s) {
            return fail(WEFT_BAD_ARGUMENT, "attention_cached: the position leaves the cache");
        }
        const std::int64_t work = a_.n * a_.t * a_.h * (position + a_.t) * a_.d * 2;
        const auto share = [&](std::int64_t begin, std::int64_t end, int thread) {
            float* scratch = scratch_.of(args.workspace, thread);
            while (begin < end) { // heads of one query
                const std::int64_t count =
                    std::min({end - begin, kHeadsTogether, a_.h - begin % a_.h});
                if (type_ == WEFT_F32) {
                    look<float>(args, begin, count, position, scratch);
                } else {
                    look<bf16>(args, begin, count, position, scratch);
                }
                begin += count;
            }
        };
        parallel_ranges(a_.n * a_.t * a_.h, work, threads_, share);
        return WEFT_OK;
    }

private:
    template <class T>
    void look(const weft_run_args& args, std::int64_t piece, std::int64_t count,
              std::int64_t position, float* scratch) const {
        const std::int64_t n = piece / a_.h / a_.t;
        const std::int64_t t = piece / a_.h % a_.t;
        const std::int64_t h = piece % a_.h;
        float* out = scratch + vectors_;
        float* scores = out + vectors_;
        const std::int64_t first = a_.kv_offset(n, 0, h);
        HeadRun heads{count, a_.d, a_.kv_offset(n, 1, h) - first, position + t + 1};
        for (std::int64_t i = 0; i < count; ++i) {
            heads.at[i] = a_.kv_offset(n, 0, h + i) - first;
        }
        const std::int64_t at = a_.q_offset(n, t, h);
        const float* q =
            as_floats(element(args.inputs[0], type_, at), type_, scratch, count * a_.d);
        score_rows(heads, q, static_cast<const T*>(args.inputs[1]) + first,
                   static_cast<float>(a_.scale), scores, scores_);
        for (std::int64_t i = 0; i < count; ++i) {
            float* own = scores + i * scores_;
            const float sum = exp_run(own, max_run(own, heads.rows), own, heads.rows);
            scale_run(own, 1.0f / sum, heads.rows);
        }
        mix_rows(heads, scores, scores_, static_cast<const T*>(args.inputs[2]) + first, out);
        store_run(type_)(out, element(args.outputs[0], type_, at), count * a_.d);
    }

    AttentionShape a_;
    std::int32_t type_;
    int threads_;
    std::int64_t vectors_, scores_; // floats: of a query, or what it gets; of a run of scores
    ThreadScratch scratch_;
};

class CacheWrite final : public Kernel { // cache [N,S,K,D], new [N,T,K,D], position -> cache
public:
    explicit CacheWrite(const Op& op) {
        const Type& cache = op.input(0);
        const Type& rows = op.input(1);
        require(cache.rank == 4 && rows.rank == 4 && same_shape(cache, op.output(0)) &&
                    rows.shape[0] == cache.shape[0] && rows.shape[2] == cache.shape[2] &&
                    rows.shape[3] == cache.shape[3],
                "the new rows [N,T,K,D] do not fit the cache [N,S,K,D]");
        require(rows.dtype == cache.dtype && op.output(0).dtype == cache.dtype,
                "cache and new rows differ in dtype");
        require(op.input(2).dtype == WEFT_I64 && element_count(op.input(2)) == 1,
                "the position is not i64[]");
        samples_ = cache.shape[0];
        s_ = cache.shape[1];
        t_ = rows.shape[1];
        row_bytes_ = cache.shape[2] * cache.shape[3] * dtype_size(cache.dtype);
    }

    weft_status run(const weft_run_args& args) override {
        const std::int64_t position = static_cast<const std::int64_t*>(args.inputs[2])[0];
        if (position < 0 || position + t_ > s_) {
            return fail(WEFT_BAD_ARGUMENT, "cache_write: the position leaves the cache");
        }
        auto* out = static_cast<unsigned char*>(args.outputs[0]);
        const auto* fresh = static_cast<const unsigned char*>(args.inputs[1]);
        if (args.inputs[0] != args.outputs[0]) {
            std::memcpy(out, args.inputs[0], static_cast<std::size_t>(samples_ * s_ * row_bytes_));
        }
        for (std::int64_t n = 0; n < samples_; ++n) {
            std::memcpy(out + (n * s_ + position) * row_bytes_, fresh + n * t_ * row_bytes_,
                        static_cast<std::size_t>(t_ * row_bytes_));
        }
        return WEFT_OK;
    }

private:
    std::int64_t samples_, s_, t_, row_bytes_;
};

} // namespace

Made make_attention(const Op& op) {
    return std::make_unique<Attention>(op);
}

Made make_attention_cached(const Op& op) {
    return std::make_unique<AttentionCached>(op);
}

Made make_cache_write(const Op& op) {
    return std::make_unique<CacheWrite>(op);
}

} // namespace weft::kernels::cpu
