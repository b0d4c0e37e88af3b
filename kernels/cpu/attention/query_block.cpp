// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/attention/query_block.h"

#include "kernels/cpu/loops/random_runs.h"
#include "kernels/cpu/loops/rows.h"

#include <algorithm>
#include <limits>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kB = kQueryBlock;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Whether dropout keeps the probabilities of key `s` of a block, of 16 queries with these words.
WEFT_AVX512 WEFT_INLINE __mmask16 is_kept(std::int64_t s, __m512i low_words, __m512i high_words) {
    return _mm512_test_epi32_mask(s < 32 ? low_words : high_words,
                                  _mm512_set1_epi32(static_cast<int>(1u << (s % 32))));
}

/// The largest of `before` and the seen scores of 16 queries, `score` [keys, 64].
template <Seen kSeen>
WEFT_AVX512 WEFT_INLINE __m512 largest(const float* score, std::int64_t keys, __m512i from,
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

template <Seen kSeen>
WEFT_AVX512 void soften_seen(const QueryBlock& q, const ScoreScale& by, std::int64_t key,
                             std::int64_t keys, RunningSoftmax& state, float* score) {
    const __m512 to_log2 = _mm512_set1_ps(by.scale * kLog2E);
    const __m512 weight = _mm512_set1_ps(by.kept);
    for (std::int64_t c = 0; c < q.columns; c += 16) {
        const __m512i seen = _mm512_sub_epi32(_mm512_loadu_si512(q.visible + c),
                                              _mm512_set1_epi32(static_cast<int>(key)));
        const __m512i from = _mm512_sub_epi32(_mm512_loadu_si512(q.from + c),
                                              _mm512_set1_epi32(static_cast<int>(key)));
        const __m512 before = _mm512_loadu_ps(state.max + c);
        const __m512 max = largest<kSeen>(score + c, keys, from, seen, before);
        // No key so far: any finite number will do, since nothing is taken from it.
        const __mmask16 some = _mm512_cmp_ps_mask(max, _mm512_set1_ps(-kInfinity), _CMP_NEQ_UQ);
        const __m512 level = _mm512_maskz_mul_ps(some, max, to_log2);
        const __m512 shrink = _mm512_mask_mov_ps( // exactly 1 where the maximum stays
            power_of_two_512(_mm512_fmsub_ps(before, to_log2, level)),
            _mm512_cmp_ps_mask(before, max, _CMP_EQ_OQ), _mm512_set1_ps(1.0f));
        __m512 sum = _mm512_mul_ps(_mm512_loadu_ps(state.sum + c), shrink);
        const __m512i low_words = _mm512_loadu_si512(q.keep[0] + c);
        const __m512i high_words = _mm512_loadu_si512(q.keep[1] + c);
        for (std::int64_t s = 0; s < keys; ++s) {
            float* at = score + s * kB + c;
            __m512 p = power_of_two_512(_mm512_fmsub_ps(_mm512_loadu_ps(at), to_log2, level));
            if constexpr (kSeen != Seen::all) {
                p = _mm512_maskz_mov_ps(is_seen<kSeen>(s, from, seen), p);
            }
            sum = _mm512_add_ps(sum, p);
            if (q.a.dropout) {
                p = _mm512_maskz_mul_ps(is_kept(s, low_words, high_words), p, weight);
            }
            _mm512_storeu_ps(at, p);
        }
        _mm512_storeu_ps(state.max + c, max);
        _mm512_storeu_ps(state.sum + c, sum);
        _mm512_storeu_ps(state.shrink + c, shrink);
    }
}

template <Seen kSeen>
WEFT_AVX512 void grads_seen(const QueryBlock& q, const ScoreScale& by, std::int64_t key,
                            std::int64_t keys, const QueryNumbers& numbers, float* score,
                            float* dp) {
    const __m512 to_log2 = _mm512_set1_ps(by.scale * kLog2E);
    const __m512 factor = _mm512_set1_ps(by.scale);
    const __m512 weight = _mm512_set1_ps(by.kept);
    for (std::int64_t c = 0; c < q.columns; c += 16) {
        const __m512i seen = _mm512_sub_epi32(_mm512_loadu_si512(q.visible + c),
                                              _mm512_set1_epi32(static_cast<int>(key)));
        const __m512i from = _mm512_sub_epi32(_mm512_loadu_si512(q.from + c),
                                              _mm512_set1_epi32(static_cast<int>(key)));
        const __m512 level =
            _mm512_mul_ps(_mm512_loadu_ps(numbers.logsumexp + c), _mm512_set1_ps(kLog2E));
        const __m512 less = _mm512_loadu_ps(numbers.delta + c);
        const __m512i low_words = _mm512_loadu_si512(q.keep[0] + c);
        const __m512i high_words = _mm512_loadu_si512(q.keep[1] + c);
        for (std::int64_t s = 0; s < keys; ++s) {
            float* at = score + s * kB + c;
            float* slope = dp + s * kB + c;
            __m512 p = power_of_two_512(_mm512_fmsub_ps(_mm512_loadu_ps(at), to_log2, level));
            if constexpr (kSeen != Seen::all) {
                p = _mm512_maskz_mov_ps(is_seen<kSeen>(s, from, seen), p);
            }
            __m512 up = _mm512_loadu_ps(slope);
            __m512 after = p;
            if (q.a.dropout) {
                const __mmask16 keep = is_kept(s, low_words, high_words);
                up = _mm512_maskz_mul_ps(keep, up, weight);
                after = _mm512_maskz_mul_ps(keep, p, weight);
            }
            _mm512_storeu_ps(slope,
                             _mm512_mul_ps(_mm512_mul_ps(p, _mm512_sub_ps(up, less)), factor));
            _mm512_storeu_ps(at, after);
        }
    }
}

/// Bit i: number i of at most 64 is not below `rate`.
WEFT_AVX512 std::uint64_t at_least(const float* numbers, float rate, std::int64_t count) {
    std::uint64_t out = 0;
    for (std::int64_t i = 0; i < count; i += 16) {
        const __mmask16 there = lanes(count - i);
        const __mmask16 kept = _mm512_mask_cmp_ps_mask(
            there, _mm512_maskz_loadu_ps(there, numbers + i), _mm512_set1_ps(rate), _CMP_GE_OQ);
        out |= static_cast<std::uint64_t>(kept) << i;
    }
    return out;
}

} // namespace

void require_turned(const Op& op, const AttentionShape& a, std::initializer_list<int> alike,
                    int results) {
    bool same = is_float(op.input(0).dtype);
    for (const int i : alike) {
        same = same && op.input(i).dtype == op.input(0).dtype;
    }
    for (int i = 0; i < results; ++i) {
        same = same && op.output(i).dtype == op.input(0).dtype;
    }
    if (!same || a.s == 0 || a.t == 0 || a.scale <= 0.0) {
        unsupported(
            "turned attention takes operands of f32 or of bf16, keys, queries and a positive "
            "scale only");
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

RunningSoftmax::RunningSoftmax() {
    std::fill_n(max, kB, -kInfinity);
    std::fill_n(sum, kB, 0.0f);
}

bool RunningSoftmax::shrinks(std::int64_t columns) const {
    return std::any_of(shrink, shrink + columns, [](float x) { return x != 1.0f; });
}

void soften(const QueryBlock& q, const ScoreScale& by, std::int64_t key, std::int64_t keys,
            RunningSoftmax& state, float* score) {
    constexpr decltype(&soften_seen<Seen::all>) kSteps[] = {
        &soften_seen<Seen::all>, &soften_seen<Seen::before>, &soften_seen<Seen::between>};
    kSteps[static_cast<int>(q.seen(key, keys))](q, by, key, keys, state, score);
}

void score_grads(const QueryBlock& q, const ScoreScale& by, std::int64_t key, std::int64_t keys,
                 const QueryNumbers& numbers, float* score, float* dp) {
    constexpr decltype(&grads_seen<Seen::all>) kSteps[] = {
        &grads_seen<Seen::all>, &grads_seen<Seen::before>, &grads_seen<Seen::between>};
    kSteps[static_cast<int>(q.seen(key, keys))](q, by, key, keys, numbers, score, dp);
}

WEFT_AVX512 void scale_columns(float* out, std::int64_t rows, std::int64_t columns,
                               const float* factor) {
    for (std::int64_t c = 0; c < columns; c += 16) {
        const __m512 f = _mm512_loadu_ps(factor + c);
        for (std::int64_t r = 0; r < rows; ++r) {
            float* at = out + r * kB + c;
            _mm512_storeu_ps(at, _mm512_mul_ps(_mm512_loadu_ps(at), f));
        }
    }
}

} // namespace weft::kernels::cpu
