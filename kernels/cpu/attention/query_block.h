// SPDX-License-Identifier: Apache-2.0
// What attention forward and backward on AVX-512 share, whatever form their products take. Scores
// stand turned, keys down and 64 queries across, so that whatever belongs to a query (maximum, sum,
// logsumexp, how many keys it sees) is a lane of a vector and nothing is reduced across lanes.
#pragma once

#include "kernels/attention_shape.h"
#include "kernels/cpu/vectors/vector_packing.h"

#include <cstddef>
#include <initializer_list>

namespace weft::kernels::cpu {

inline constexpr std::int64_t kQueryBlock = 64; // queries, and keys, of a block

/// Floats that may be written behind the last row of a left operand.
inline constexpr std::int64_t kSlack = 16;

/// Throws UNSUPPORTED unless the inputs `alike` and the first `results` outputs are of one type,
/// and there are keys, queries and a positive scale.
void require_turned(const Op& op, const AttentionShape& a, std::initializer_list<int> alike,
                    int results);

/// Parts of a thread's scratch memory, in order, each a multiple of 64 bytes.
class ScratchParts {
public:
    explicit ScratchParts(void* memory) : memory_(static_cast<std::byte*>(memory)) {}

    template <class Number>
    Number* take(std::int64_t count) {
        auto* part = memory_ == nullptr ? nullptr : reinterpret_cast<Number*>(memory_ + bytes_);
        bytes_ += (count * static_cast<std::int64_t>(sizeof(Number)) + 63) / 64 * 64;
        return part;
    }
    /// Of all parts so far; their addresses are not used where there is no memory.
    std::int64_t bytes() const { return bytes_; }

private:
    std::byte* memory_;
    std::int64_t bytes_ = 0;
};

/// Rows of a head in an operand [N,T,H,D] or [N,S,K,D].
template <class T>
Rows<T> rows_at(const void* operand, std::int64_t offset, std::int64_t row) {
    return {static_cast<const T*>(operand) + offset, row};
}

/// Which keys of a block its queries see: all, those before an end, or those from a first one on.
enum class Seen : std::uint8_t { all, before, between };

/// Whether the queries of 16 lanes see key `s` of a block: from <= s < seen.
template <Seen kSeen>
WEFT_AVX512 WEFT_INLINE __mmask16 is_seen(std::int64_t s, __m512i from, __m512i seen) {
    const __m512i key = _mm512_set1_epi32(static_cast<int>(s));
    const __mmask16 before = _mm512_cmplt_epi32_mask(key, seen);
    return kSeen == Seen::between ? _mm512_mask_cmple_epi32_mask(before, from, key) : before;
}

/// A block of 64 queries: which keys each sees (none where there is no query), and which
/// probabilities dropout keeps.
struct QueryBlock {
    const AttentionShape& a;
    AttentionShape::Place at;
    std::int64_t sample, head, first, rows;
    std::int64_t columns; // rows up to a multiple of 16

    std::int32_t from[kQueryBlock], visible[kQueryBlock]; // the keys [from, visible)
    std::int64_t begin;                 // of the first block of keys that is seen by some
    std::int64_t latest;                // of `from`, over queries that there are
    std::int64_t least, most;           // of `visible`
    std::uint32_t keep[2][kQueryBlock]; // bit s % 32 of word s / 32: key s of a block is kept

    QueryBlock(const AttentionShape& shape, const weft_run_args& args, std::int64_t sample,
               std::int64_t head, std::int64_t first);
    Seen seen(std::int64_t key, std::int64_t keys) const {
        return latest > key ? Seen::between : least < key + keys ? Seen::before : Seen::all;
    }
    /// Draws `keep` for the keys `key` .. `key` + 64.
    void draw(const std::int64_t* random, std::int64_t key);
};

/// The state of the softmax of 64 queries.
struct RunningSoftmax {
    float max[kQueryBlock]; // of the scores before the scale
    float sum[kQueryBlock];
    float shrink[kQueryBlock]; // of what has been summed so far, by the last block

    RunningSoftmax();
    bool shrinks(std::int64_t columns) const;
};

/// What probabilities come of.
struct ScoreScale {
    float scale; // above 0
    float kept;  // what dropout multiplies those with that it keeps

    explicit ScoreScale(const AttentionShape& a)
        : scale(static_cast<float>(a.scale)),
          kept(a.dropout ? static_cast<float>(1.0 / (1.0 - a.rate)) : 1.0f) {}
};

/// Scores [keys, 64] of the keys from `key` on become probabilities against the running maximum, in
/// place.
void soften(const QueryBlock& q, const ScoreScale& by, std::int64_t key, std::int64_t keys,
            RunningSoftmax& state, float* score);

/// Of 64 queries.
struct QueryNumbers {
    float logsumexp[kQueryBlock]; // infinity where there is no query
    float delta[kQueryBlock];     // sum of dout out
};

/// With the scores and the gradients of probabilities, [keys, 64] each, in place:
/// p = exp(scale score - logsumexp); dp = p (dp keep - delta) scale; score = p keep.
void score_grads(const QueryBlock& q, const ScoreScale& by, std::int64_t key, std::int64_t keys,
                 const QueryNumbers& numbers, float* score, float* dp);

/// out [rows, 64] *= factor[64].
void scale_columns(float* out, std::int64_t rows, std::int64_t columns, const float* factor);

} // namespace weft::kernels::cpu
