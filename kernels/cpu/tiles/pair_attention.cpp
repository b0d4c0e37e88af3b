// SPDX-License-Identifier: Apache-2.0
// Attention forward on pairs of bf16, with a running maximum and sum (online softmax: Milakov,
// Gimelshein 2018; Dao et al. 2022). Probabilities are rounded to bf16 before they meet the values.
// A piece of work is some blocks of queries of the heads that share a key/value head, whose keys
// and values it copies and turns once.
#include "kernels/cpu/tiles/pair_attention.h"

#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/random_runs.h"
#include "kernels/cpu/tiles/avx512_bf16.h"
#include "kernels/cpu/tiles/matrix_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kB = kPairBlock;

/// The state of the softmax of 64 queries.
struct Running {
    float max[kB]; // of the scores before the scale
    float sum[kB];
    float shrink[kB]; // of what has been summed so far, by the last block
};

/// The largest of `before` and the seen scores of 16 queries, `score` [keys, 64].
template <Seen kSeen>
WEFT_AVX512_BF16 WEFT_INLINE __m512 largest(const float* score, std::int64_t keys, __m512i from,
                                            __m512i seen, __m512 before) {
    constexpr int kChains = 4; // a maximum has to wait for the one before it
    __m512 max[kChains] = {before, before, before, before};
    for (std::int64_t s = 0; s < keys; s += kChains) {
#pragma GCC unroll 4
        for (int i = 0; i < kChains; ++i) {
            const std::int64_t one = std::min(s + i, keys - 1);
            const __m512 x = _mm512_loadu_ps(score + one * kB);
            if constexpr (kSeen != Seen::all) {
                max[i] = _mm512_mask_max_ps(max[i], is_seen<kSeen>(one, from, seen), max[i], x);
            } else {
                max[i] = _mm512_max_ps(max[i], x);
            }
        }
    }
    return _mm512_max_ps(_mm512_max_ps(max[0], max[1]), _mm512_max_ps(max[2], max[3]));
}

/// Scores [keys, 64] of the keys from `key` on become probabilities against the running maximum,
/// in pairs of keys.
template <Seen kSeen>
WEFT_AVX512_BF16 void soften(const QueryBlock& q, Running& state, const float* score,
                             std::int64_t key, std::int64_t keys, float scale, float kept,
                             std::uint32_t* pairs) {
    const __m512 to_log2 = _mm512_set1_ps(scale * kLog2E);
    const __m512 weight = _mm512_set1_ps(kept);
    for (std::int64_t c = 0; c < q.columns; c += 16) {
        const __m512i seen = _mm512_sub_epi32(_mm512_loadu_si512(q.visible + c),
                                              _mm512_set1_epi32(static_cast<int>(key)));
        const __m512i from = _mm512_sub_epi32(_mm512_loadu_si512(q.from + c),
                                              _mm512_set1_epi32(static_cast<int>(key)));
        const __m512 before = _mm512_loadu_ps(state.max + c);
        const __m512 max = largest<kSeen>(score + c, keys, from, seen, before);
        // No key so far: any finite number will do, since nothing is taken from it.
        const __mmask16 some = _mm512_cmp_ps_mask(
            max, _mm512_set1_ps(-std::numeric_limits<float>::infinity()), _CMP_NEQ_UQ);
        const __m512 level = _mm512_maskz_mul_ps(some, max, to_log2);
        const __m512 shrink = _mm512_mask_mov_ps( // exactly 1 where the maximum stays
            power_of_two_512(_mm512_fmsub_ps(before, to_log2, level)),
            _mm512_cmp_ps_mask(before, max, _CMP_EQ_OQ), _mm512_set1_ps(1.0f));
        __m512 sum = _mm512_mul_ps(_mm512_loadu_ps(state.sum + c), shrink);
        const __m512i low_words = _mm512_loadu_si512(q.keep[0] + c);
        const __m512i high_words = _mm512_loadu_si512(q.keep[1] + c);
        for (std::int64_t s = 0; s < keys; s += 2) {
            __m512 p[2];
#pragma GCC unroll 2
            for (int i = 0; i < 2; ++i) {
                const std::int64_t one = s + i;
                if (one >= keys) {
                    p[i] = _mm512_setzero_ps();
                    continue;
                }
                p[i] = power_of_two_512(
                    _mm512_fmsub_ps(_mm512_loadu_ps(score + one * kB + c), to_log2, level));
                if constexpr (kSeen != Seen::all) {
                    p[i] = _mm512_maskz_mov_ps(is_seen<kSeen>(one, from, seen), p[i]);
                }
                sum = _mm512_add_ps(sum, p[i]);
                if (q.a.dropout) {
                    const __mmask16 keep = _mm512_test_epi32_mask(
                        one < 32 ? low_words : high_words,
                        _mm512_set1_epi32(static_cast<int>(1u << (one % 32))));
                    p[i] = _mm512_maskz_mul_ps(keep, p[i], weight);
                }
            }
            _mm512_storeu_si512(pairs + s / 2 * kB + c, pair_of(p[0], p[1]));
        }
        _mm512_storeu_ps(state.max + c, max);
        _mm512_storeu_ps(state.sum + c, sum);
        _mm512_storeu_ps(state.shrink + c, shrink);
    }
}

/// Bit i: number i of at most 64 is not below `rate`.
WEFT_AVX512_BF16 std::uint64_t at_least(const float* numbers, float rate, std::int64_t count) {
    std::uint64_t out = 0;
    for (std::int64_t i = 0; i < count; i += 16) {
        const __mmask16 there = lanes(count - i);
        const __mmask16 kept = _mm512_mask_cmp_ps_mask(
            there, _mm512_maskz_loadu_ps(there, numbers + i), _mm512_set1_ps(rate), _CMP_GE_OQ);
        out |= static_cast<std::uint64_t>(kept) << i;
    }
    return out;
}

/// out [rows, 64] *= factor[64].
WEFT_AVX512_BF16 void scale_columns(float* out, std::int64_t rows, std::int64_t columns,
                                    const float* factor) {
    for (std::int64_t c = 0; c < columns; c += 16) {
        const __m512 f = _mm512_loadu_ps(factor + c);
        for (std::int64_t r = 0; r < rows; ++r) {
            float* at = out + r * kB + c;
            _mm512_storeu_ps(at, _mm512_mul_ps(_mm512_loadu_ps(at), f));
        }
    }
}

class PairAttention final
    : public Kernel { // q, k, v, positions?, random?, place? -> out, logsumexp
public:
    explicit PairAttention(const Op& op)
        : a_(attention_op(op)), threads_(team_size()), keys_((a_.s + kB - 1) / kB * kB),
          width_((a_.d + 15) / 16 * 16) {
        require_pairs(op, a_);
        const std::int64_t heads = std::max<std::int64_t>(1, a_.n * a_.k);
        const std::int64_t blocks = std::max<std::int64_t>(1, (a_.t + kB - 1) / kB);
        // Enough pieces for the team, and each with enough queries to pay for turning the values.
        parts_ = std::clamp<std::int64_t>((4 * threads_ + heads - 1) / heads, 1, blocks);
        const auto bytes = PairScratch::bytes;
        scratch_.bytes = bytes(2 * a_.s * a_.d) + bytes(2 * a_.d * keys_) + bytes(64 * width_) +
                         bytes(2 * kB * a_.d) + bytes(4 * kB * kB) + bytes(2 * kB * kB) +
                         bytes(4 * a_.d * kB);
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const std::int64_t work = a_.n * a_.h * a_.t * a_.s * a_.d / 16;
        parallel_each(a_.n * a_.k * parts_, work, threads_, [&](std::int64_t piece, int thread) {
            const TileScope tiles;
            some_blocks(args, piece / parts_, piece % parts_,
                        split(scratch_.of(args.workspace, thread)));
        });
        return WEFT_OK;
    }

private:
    struct Scratch {
        std::uint16_t* keys;          // [S, D]
        std::uint16_t* values_turned; // [D, S']
        std::uint32_t* rows;          // of turning, [16, width]
        std::uint32_t* queries;       // [D / 2, 64]
        float* score;                 // [64, 64], keys down
        std::uint32_t* probabilities; // [32, 64]
        float* out;                   // [D, 64]
    };

    Scratch split(void* memory) const {
        PairScratch parts(memory);
        Scratch s{};
        s.keys = parts.take<std::uint16_t>(a_.s * a_.d);
        s.values_turned = parts.take<std::uint16_t>(a_.d * keys_);
        s.rows = parts.take<std::uint32_t>(16 * width_);
        s.queries = parts.take<std::uint32_t>(a_.d / 2 * kB);
        s.score = parts.take<float>(kB * kB);
        s.probabilities = parts.take<std::uint32_t>(kB / 2 * kB);
        s.out = parts.take<float>(a_.d * kB);
        return s;
    }

    /// The blocks `part`, `part` + parts, ... of all query heads of a key/value head.
    void some_blocks(const weft_run_args& args, std::int64_t pair, std::int64_t part,
                     const Scratch& s) const {
        const std::int64_t group = a_.h / a_.k;
        const std::int64_t sample = pair / a_.k;
        const std::int64_t head = pair % a_.k * group;
        const std::int64_t row = a_.k * a_.d;
        const std::int64_t at = a_.kv_offset(sample, 0, head);
        const Rows16 keys = head_rows(args.inputs[1], at, row);
        for (std::int64_t i = 0; i < a_.s; ++i) {
            std::memcpy(s.keys + i * a_.d, keys.data + i * row, static_cast<std::size_t>(2 * a_.d));
        }
        turn_rows(head_rows(args.inputs[2], at, row), a_.s, a_.d, s.rows, s.values_turned, keys_);
        for (std::int64_t h = 0; h < group; ++h) {
            for (std::int64_t first = part * kB; first < a_.t; first += parts_ * kB) {
                QueryBlock q(a_, args, sample, head + h, first);
                block(args, q, s);
            }
        }
    }

    void block(const weft_run_args& args, QueryBlock& q, const Scratch& s) const {
        const std::int64_t row = a_.h * a_.d;
        const std::int64_t at = a_.q_offset(q.sample, q.first, q.head);
        turn_pairs(head_rows(args.inputs[0], at, row), q.rows, a_.d / 2, s.queries, kB);
        Running state;
        std::fill_n(state.max, kB, -std::numeric_limits<float>::infinity());
        std::fill_n(state.sum, kB, 0.0f);
        const float kept = a_.dropout ? static_cast<float>(1.0 / (1.0 - a_.rate)) : 1.0f;
        for (std::int64_t key = q.begin; key < q.most; key += kB) {
            const std::int64_t keys = std::min(kB, q.most - key);
            multiply_pairs({s.keys + key * a_.d, a_.d}, {s.queries, kB}, s.score, kB, keys,
                           q.columns, a_.d / 2, false);
            if (a_.dropout) {
                q.draw(static_cast<const std::int64_t*>(args.inputs[a_.random_operand]), key);
            }
            constexpr decltype(&soften<Seen::all>) kSteps[] = {
                &soften<Seen::all>, &soften<Seen::before>, &soften<Seen::between>};
            kSteps[static_cast<int>(q.seen(key, keys))](
                q, state, s.score, key, keys, static_cast<float>(a_.scale), kept, s.probabilities);
            if (key > q.begin && std::any_of(state.shrink, state.shrink + q.columns,
                                             [](float x) { return x != 1.0f; })) {
                scale_columns(s.out, a_.d, q.columns, state.shrink);
            }
            multiply_pairs({s.values_turned + key, keys_}, {s.probabilities, kB}, s.out, kB, a_.d,
                           q.columns, (keys + 1) / 2, key > q.begin);
        }
        finish(args, q, state, s);
    }

    void finish(const weft_run_args& args, const QueryBlock& q, const Running& state,
                const Scratch& s) const {
        if (q.begin >= q.most) {
            std::fill_n(s.out, a_.d * kB, 0.0f);
        }
        float factor[kB];
        auto* logsumexp =
            static_cast<float*>(args.outputs[1]) + (q.sample * a_.h + q.head) * a_.t + q.first;
        for (std::int64_t r = 0; r < kB; ++r) {
            const bool none = state.sum[r] == 0.0f; // there is no key that it sees
            factor[r] = none ? 0.0f : 1.0f / state.sum[r];
            if (r < q.rows) {
                logsumexp[r] =
                    none ? static_cast<float>(kNoKeys)
                         : state.max[r] * static_cast<float>(a_.scale) + std::log(state.sum[r]);
            }
        }
        auto* out =
            static_cast<std::uint16_t*>(args.outputs[0]) + a_.q_offset(q.sample, q.first, q.head);
        store_turned(s.out, kB, factor, q.rows, a_.d, out, a_.h * a_.d);
    }

    AttentionShape a_;
    int threads_;
    std::int64_t keys_, width_, parts_;
    ThreadScratch scratch_;
};

} // namespace

void require_pairs(const Op& op, const AttentionShape& a) {
    if (!machine_has_pairs()) {
        unsupported("attention on pairs of bf16 needs AVX-512 BF16");
    }
    for (int i = 0; i < 3; ++i) {
        if (op.input(i).dtype != WEFT_BF16) {
            unsupported("attention on pairs of bf16 takes bf16 only");
        }
    }
    if (a.d % 2 != 0 || a.s == 0 || a.t == 0 || a.scale <= 0.0) {
        unsupported("attention on pairs of bf16 takes an even head width, keys, queries and a "
                    "positive scale only");
    }
}

QueryBlock::QueryBlock(const AttentionShape& shape, const weft_run_args& args, std::int64_t sample_,
                       std::int64_t head_, std::int64_t first_)
    : a(shape), at(shape.place(args.inputs)), sample(sample_), head(head_), first(first_),
      rows(std::min(kB, shape.t - first_)), columns((rows + 15) / 16 * 16) {
    const std::int32_t* own = a.positions_of(args.inputs, sample);
    for (std::int64_t r = 0; r < kB; ++r) {
        const bool there = r < rows;
        visible[r] =
            there ? static_cast<std::int32_t>(std::max<std::int64_t>(0, a.visible(first + r, at)))
                  : 0;
        from[r] = there && own != nullptr
                      ? static_cast<std::int32_t>(a.first_visible(first + r, at, own[first + r]))
                      : 0;
        keep[0][r] = keep[1][r] = 0;
    }
    begin = *std::min_element(from, from + rows) / kB * kB;
    latest = *std::max_element(from, from + rows);
    // It grows with the query. Lanes without a query are computed along and thrown away.
    least = visible[0];
    most = visible[rows - 1];
}

void QueryBlock::draw(const std::int64_t* random, std::int64_t key) {
    const Stream stream(random, a.stream);
    float uniform[kB];
    for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t count = std::clamp<std::int64_t>(visible[r] - key, 0, kB);
        const std::int64_t index = a.index(random, at, sample, head, first + r, key);
        uniform_words(stream, static_cast<std::uint64_t>(index), uniform, count);
        const std::uint64_t words = at_least(uniform, static_cast<float>(a.rate), count);
        keep[0][r] = static_cast<std::uint32_t>(words);
        keep[1][r] = static_cast<std::uint32_t>(words >> 32);
    }
}

Made make_pair_attention(const Op& op) {
    return std::make_unique<PairAttention>(op);
}

} // namespace weft::kernels::cpu
