// SPDX-License-Identifier: Apache-2.0
// What attention forward and backward on pairs of bf16 share. Scores stand turned, keys down and 64
// queries across, so that whatever belongs to a query (maximum, sum, logsumexp, how many keys it
// sees) is a lane of a vector and nothing is reduced across lanes.
#pragma once

#include "kernels/attention_shape.h"
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

/// A block of 64 queries: how many keys each sees (none where there is no query), and which
/// probabilities dropout keeps.
struct QueryBlock {
    const AttentionShape& a;
    AttentionShape::Place at;
    std::int64_t sample, head, first, rows;
    std::int64_t columns; // rows up to a multiple of 16

    std::int32_t visible[kPairBlock];
    std::int64_t least, most;          // of visible, over queries that there are
    std::uint32_t keep[2][kPairBlock]; // bit s % 32 of word s / 32: key s of a block is kept

    QueryBlock(const AttentionShape& shape, AttentionShape::Place place, std::int64_t sample,
               std::int64_t head, std::int64_t first);
    /// Draws `keep` for the keys `key` .. `key` + 64.
    void draw(const std::int64_t* random, std::int64_t key);
};

} // namespace weft::kernels::cpu
