// SPDX-License-Identifier: Apache-2.0
// Attention backward on pairs of bf16 (Dao et al. 2022, appendix B): probabilities are computed
// again from the stored logsumexp, turned as in the forward. One piece of work is one key/value
// head of one sample with all query heads that read it, so every gradient has one owner and one
// order of summation.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/tiles/avx512_bf16.h"
#include "kernels/cpu/tiles/matrix_tiles.h"
#include "kernels/cpu/tiles/pair_attention.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kB = kPairBlock;

/// delta[r] = sum over d of dout out, of one head's rows.
WEFT_AVX512_BF16 void dot_rows(const Rows16& x, const Rows16& y, std::int64_t rows, std::int64_t d,
                               float* delta) {
    for (std::int64_t r = 0; r < rows; ++r) {
        __m512 sum = _mm512_setzero_ps();
        for (std::int64_t i = 0; i < d; i += 32) {
            const auto there = static_cast<__mmask32>(
                lanes(d - i) | static_cast<std::uint32_t>(lanes(d - i - 16)) << 16);
            sum = _mm512_dpbf16_ps(
                sum,
                reinterpret_cast<__m512bh>(_mm512_maskz_loadu_epi16(there, x.data + r * x.row + i)),
                reinterpret_cast<__m512bh>(
                    _mm512_maskz_loadu_epi16(there, y.data + r * y.row + i)));
        }
        delta[r] = _mm512_reduce_add_ps(sum);
    }
}

/// What a block of scores is turned into, [64, 64] each, keys down.
struct Turned {
    std::uint16_t* probabilities; // after dropout
    std::uint16_t* grads;         // of the scores
    std::uint32_t* paired_grads;  // [32, 64], pairs of keys
};

/// With the scores and the gradients of probabilities, [keys, 64] each:
/// p = exp(scale score - logsumexp), grad = p (dp keep - delta) scale, and p keep.
template <Seen kSeen>
WEFT_AVX512_BF16 void score_grads(const QueryBlock& q, const float* score, const float* dp,
                                  std::int64_t key, std::int64_t keys, const float* logsumexp,
                                  const float* delta, float scale, float kept, const Turned& to) {
    const __m512 to_log2 = _mm512_set1_ps(scale * kLog2E);
    const __m512 factor = _mm512_set1_ps(scale);
    const __m512 weight = _mm512_set1_ps(kept);
    for (std::int64_t c = 0; c < q.columns; c += 16) {
        const __m512i seen = _mm512_sub_epi32(_mm512_loadu_si512(q.visible + c),
                                              _mm512_set1_epi32(static_cast<int>(key)));
        const __m512i from = _mm512_sub_epi32(_mm512_loadu_si512(q.from + c),
                                              _mm512_set1_epi32(static_cast<int>(key)));
        const __m512 level = _mm512_mul_ps(_mm512_loadu_ps(logsumexp + c), _mm512_set1_ps(kLog2E));
        const __m512 less = _mm512_loadu_ps(delta + c);
        const __m512i low_words = _mm512_loadu_si512(q.keep[0] + c);
        const __m512i high_words = _mm512_loadu_si512(q.keep[1] + c);
        for (std::int64_t s = 0; s < keys; s += 2) {
            __m512 grad[2];
#pragma GCC unroll 2
            for (int i = 0; i < 2; ++i) {
                const std::int64_t one = s + i;
                if (one >= keys) {
                    grad[i] = _mm512_setzero_ps();
                    continue;
                }
                __m512 p = power_of_two_512(
                    _mm512_fmsub_ps(_mm512_loadu_ps(score + one * kB + c), to_log2, level));
                if constexpr (kSeen != Seen::all) {
                    p = _mm512_maskz_mov_ps(is_seen<kSeen>(one, from, seen), p);
                }
                __m512 up = _mm512_loadu_ps(dp + one * kB + c);
                __m512 after = p;
                if (q.a.dropout) {
                    const __mmask16 keep = _mm512_test_epi32_mask(
                        one < 32 ? low_words : high_words,
                        _mm512_set1_epi32(static_cast<int>(1u << (one % 32))));
                    up = _mm512_maskz_mul_ps(keep, up, weight);
                    after = _mm512_maskz_mul_ps(keep, p, weight);
                }
                grad[i] = _mm512_mul_ps(_mm512_mul_ps(p, _mm512_sub_ps(up, less)), factor);
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(to.probabilities + one * kB + c),
                                    reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(after)));
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(to.grads + one * kB + c),
                                    reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(grad[i])));
            }
            _mm512_storeu_si512(to.paired_grads + s / 2 * kB + c, pair_of(grad[0], grad[1]));
        }
    }
}

/// bf16 of `count` floats.
WEFT_AVX512_BF16 void store_row(const float* from, std::uint16_t* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += 16) {
        _mm256_mask_storeu_epi16(to + i, lanes(count - i),
                                 reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(
                                     _mm512_maskz_loadu_ps(lanes(count - i), from + i))));
    }
}

/// q, k, v, out, logsumexp, dout, positions?, random?, place? -> dq, dk, dv
class PairAttentionGrad final : public Kernel {
public:
    explicit PairAttentionGrad(const Op& op)
        : a_(attention_grad_op(op)), threads_(team_size()), keys_((a_.s + kB - 1) / kB * kB),
          width_((a_.d + 15) / 16 * 16) {
        require_pairs(op, a_);
        const auto bytes = PairScratch::bytes;
        scratch_.bytes = 2 * bytes(2 * a_.s * a_.d) + bytes(2 * a_.d * keys_) + bytes(64 * width_) +
                         2 * bytes(2 * kB * a_.d) + 2 * bytes(2 * kB * width_) +
                         2 * bytes(4 * kB * kB) + 3 * bytes(2 * kB * kB) + bytes(4 * a_.d * kB) +
                         2 * bytes(4 * keys_ * width_);
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const std::int64_t work = a_.n * a_.h * a_.t * a_.s * a_.d / 8;
        parallel_each(a_.n * a_.k, work, threads_, [&](std::int64_t piece, int thread) {
            const TileScope tiles;
            head(args, piece / a_.k, piece % a_.k, split(scratch_.of(args.workspace, thread)));
        });
        return WEFT_OK;
    }

private:
    struct Scratch {
        std::uint16_t *keys, *values;                 // [S, D]
        std::uint16_t* keys_turned;                   // [D, S']
        std::uint32_t* rows;                          // of turning, [16, width]
        std::uint32_t *queries_turned, *douts_turned; // [D / 2, 64]
        std::uint32_t *queries_paired, *douts_paired; // [32, width]
        float *score, *dp;                            // [64, 64], keys down
        Turned turned;
        float* dq;      // [D, 64]
        float *dk, *dv; // [S', width]
    };

    Scratch split(void* memory) const {
        PairScratch parts(memory);
        Scratch s{};
        s.keys = parts.take<std::uint16_t>(a_.s * a_.d);
        s.values = parts.take<std::uint16_t>(a_.s * a_.d);
        s.keys_turned = parts.take<std::uint16_t>(a_.d * keys_);
        s.rows = parts.take<std::uint32_t>(16 * width_);
        s.queries_turned = parts.take<std::uint32_t>(a_.d / 2 * kB);
        s.douts_turned = parts.take<std::uint32_t>(a_.d / 2 * kB);
        s.queries_paired = parts.take<std::uint32_t>(kB / 2 * width_);
        s.douts_paired = parts.take<std::uint32_t>(kB / 2 * width_);
        s.score = parts.take<float>(kB * kB);
        s.dp = parts.take<float>(kB * kB);
        s.turned.probabilities = parts.take<std::uint16_t>(kB * kB);
        s.turned.grads = parts.take<std::uint16_t>(kB * kB);
        s.turned.paired_grads = parts.take<std::uint32_t>(kB / 2 * kB);
        s.dq = parts.take<float>(a_.d * kB);
        s.dk = parts.take<float>(keys_ * width_);
        s.dv = parts.take<float>(keys_ * width_);
        return s;
    }

    void head(const weft_run_args& args, std::int64_t sample, std::int64_t k,
              const Scratch& s) const {
        const std::int64_t group = a_.h / a_.k;
        const std::int64_t row = a_.k * a_.d;
        const std::int64_t at = a_.kv_offset(sample, 0, k * group);
        const Rows16 keys = head_rows(args.inputs[1], at, row);
        const Rows16 values = head_rows(args.inputs[2], at, row);
        for (std::int64_t i = 0; i < a_.s; ++i) {
            const auto bytes = static_cast<std::size_t>(2 * a_.d);
            std::memcpy(s.keys + i * a_.d, keys.data + i * row, bytes);
            std::memcpy(s.values + i * a_.d, values.data + i * row, bytes);
        }
        turn_rows({s.keys, a_.d}, a_.s, a_.d, s.rows, s.keys_turned, keys_);
        std::fill_n(s.dk, keys_ * width_, 0.0f);
        std::fill_n(s.dv, keys_ * width_, 0.0f);
        for (std::int64_t h = 0; h < group; ++h) {
            for (std::int64_t first = 0; first < a_.t; first += kB) {
                QueryBlock q(a_, args, sample, k * group + h, first);
                query_block(args, q, s);
            }
        }
        auto* dk = static_cast<std::uint16_t*>(args.outputs[1]) + at;
        auto* dv = static_cast<std::uint16_t*>(args.outputs[2]) + at;
        for (std::int64_t i = 0; i < a_.s; ++i) {
            store_row(s.dk + i * width_, dk + i * row, a_.d);
            store_row(s.dv + i * width_, dv + i * row, a_.d);
        }
    }

    void query_block(const weft_run_args& args, QueryBlock& q, const Scratch& s) const {
        const std::int64_t row = a_.h * a_.d;
        const std::int64_t at = a_.q_offset(q.sample, q.first, q.head);
        const Rows16 queries = head_rows(args.inputs[0], at, row);
        const Rows16 douts = head_rows(args.inputs[5], at, row);
        float delta[kB] = {};
        float logsumexp[kB];
        // Of a query that is not there no probability comes.
        std::fill_n(logsumexp, kB, std::numeric_limits<float>::infinity());
        std::memcpy(logsumexp,
                    static_cast<const float*>(args.inputs[4]) + (q.sample * a_.h + q.head) * a_.t +
                        q.first,
                    static_cast<std::size_t>(q.rows) * sizeof(float));
        dot_rows(douts, head_rows(args.inputs[3], at, row), q.rows, a_.d, delta);
        turn_pairs(queries, q.rows, a_.d / 2, s.queries_turned, kB);
        turn_pairs(douts, q.rows, a_.d / 2, s.douts_turned, kB);
        pair_rows(queries, q.rows, a_.d, s.queries_paired, width_);
        pair_rows(douts, q.rows, a_.d, s.douts_paired, width_);
        std::fill_n(s.dq, a_.d * kB, 0.0f);
        const float kept = a_.dropout ? static_cast<float>(1.0 / (1.0 - a_.rate)) : 1.0f;
        const auto scale = static_cast<float>(a_.scale);
        const std::int64_t paired = (q.rows + 1) / 2;
        for (std::int64_t key = q.begin; key < q.most; key += kB) {
            const std::int64_t keys = std::min(kB, q.most - key);
            multiply_pairs({s.keys + key * a_.d, a_.d}, {s.queries_turned, kB}, s.score, kB, keys,
                           q.columns, a_.d / 2, false);
            multiply_pairs({s.values + key * a_.d, a_.d}, {s.douts_turned, kB}, s.dp, kB, keys,
                           q.columns, a_.d / 2, false);
            if (a_.dropout) {
                q.draw(static_cast<const std::int64_t*>(args.inputs[a_.random_operand]), key);
            }
            constexpr decltype(&score_grads<Seen::all>) kSteps[] = {
                &score_grads<Seen::all>, &score_grads<Seen::before>, &score_grads<Seen::between>};
            kSteps[static_cast<int>(q.seen(key, keys))](q, s.score, s.dp, key, keys, logsumexp,
                                                        delta, scale, kept, s.turned);
            multiply_pairs({s.turned.probabilities, kB}, {s.douts_paired, width_},
                           s.dv + key * width_, width_, keys, width_, paired, true);
            multiply_pairs({s.turned.grads, kB}, {s.queries_paired, width_}, s.dk + key * width_,
                           width_, keys, width_, paired, true);
            multiply_pairs({s.keys_turned + key, keys_}, {s.turned.paired_grads, kB}, s.dq, kB,
                           a_.d, q.columns, (keys + 1) / 2, true);
        }
        float ones[kB];
        std::fill_n(ones, kB, 1.0f);
        store_turned(s.dq, kB, ones, q.rows, a_.d,
                     static_cast<std::uint16_t*>(args.outputs[0]) + at, row);
    }

    AttentionShape a_;
    int threads_;
    std::int64_t keys_, width_;
    ThreadScratch scratch_;
};

} // namespace

Made make_pair_attention_grad(const Op& op) {
    return std::make_unique<PairAttentionGrad>(op);
}

} // namespace weft::kernels::cpu
