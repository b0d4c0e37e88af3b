// SPDX-License-Identifier: Apache-2.0
// What attention forward and backward on pairs of bf16 share. Scores stand turned, keys down and 64
// queries across, so that whatever belongs to a query (maximum, sum, logsumexp, how many keys it
// sees) is a lane of a vector and nothing is reduced across lanes.
#pragma once

#include "kernels/attention_shape.h"
#include "kernels/cpu/tiles/avx512_bf16.h"
#include "kernels/cpu/tiles/pairs.h"

#include <cstddef>

namespace weft::kernels::cpu {

inline constexpr std::int64_t kPairBlock = 64; // queries, and keys, of a block

/// Throws UNSUPPORTED unless the machine and the operands suit.
void require_pairs(const Op& op, const AttentionShape& a);

/// A part of a thread's scratch memory, in order.
class PairScratch {
public:
    explicit PairScratch(void* memory) : next_(static_cast<std::byte*>(memory)) {}

    template <class Number>
    Number* take(std::int64_t count) {
        auto* part = reinterpret_cast<Number*>(next_);
        next_ += bytes(count * static_cast<std::int64_t>(sizeof(Number)));
        return part;
    }
    /// Of a part with so many bytes.
    static std::int64_t bytes(std::int64_t size) { return (size + 63) / 64 * 64; }

private:
    std::byte* next_;
};

/// Rows of a head in an operand [N,T,H,D] or [N,S,K,D].
inline Rows16 head_rows(const void* operand, std::int64_t offset, std::int64_t row) {
    return {static_cast<const std::uint16_t*>(operand) + offset, row};
}

/// Which keys of a block its queries see: all, those before an end, or those from a first one on.
enum class Seen : std::uint8_t { all, before, between };

/// Whether the queries of 16 lanes see key `s` of a block: from <= s < seen.
template <Seen kSeen>
WEFT_AVX512_BF16 WEFT_INLINE __mmask16 is_seen(std::int64_t s, __m512i from, __m512i seen) {
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

    std::int32_t from[kPairBlock], visible[kPairBlock]; // the keys [from, visible)
    std::int64_t begin;                // of the first block of keys that is seen by some
    std::int64_t latest;               // of `from`, over queries that there are
    std::int64_t least, most;          // of `visible`
    std::uint32_t keep[2][kPairBlock]; // bit s % 32 of word s / 32: key s of a block is kept

    QueryBlock(const AttentionShape& shape, const weft_run_args& args, std::int64_t sample,
               std::int64_t head, std::int64_t first);
    Seen seen(std::int64_t key, std::int64_t keys) const {
        return latest > key ? Seen::between : least < key + keys ? Seen::before : Seen::all;
    }
    /// Draws `keep` for the keys `key` .. `key` + 64.
    void draw(const std::int64_t* random, std::int64_t key);
};

} // namespace weft::kernels::cpu
