// SPDX-License-Identifier: Apache-2.0
// The geometry and options of attention ops, read once for every back end. Query head h reads the
// key/value head h / (H / K). A causal query t sees the keys s <= t + S - T. The dropout decision
// of probability (n, h, t, s) has the logical index ((n_global H + h) T + t) S + s, where n_global
// counts from the `first sample` of the random operand. For a part of the samples and heads the
// random operand goes on with the first sample and the first key/value head of the part, and
// attribute `extents` is [all query heads].
#pragma once

#include "kernels/op.h"

namespace weft::kernels {

struct AttentionShape {
    std::int64_t n, t, s, h, k,
        d; // samples, queries, keys, query heads, key/value heads, head width
    bool causal;
    bool dropout; // a random operand is there and the rate is above 0
    double scale;
    double rate;
    std::uint64_t stream; // hash
    bool part;            // of the samples and heads
    std::int64_t all_heads;

    /// Logical index of the dropout decision of the probability (sample, head, row, key).
    std::int64_t index(const std::int64_t* random, std::int64_t sample, std::int64_t head,
                       std::int64_t row, std::int64_t key) const {
        const std::int64_t n = random[2] + sample + (part ? random[3] : 0);
        const std::int64_t first_head = part ? random[4] * (h / k) : 0;
        return ((n * all_heads + first_head + head) * t + row) * s + key;
    }

    std::int64_t q_offset(std::int64_t sample, std::int64_t row, std::int64_t head) const {
        return ((sample * t + row) * h + head) * d;
    }
    std::int64_t kv_offset(std::int64_t sample, std::int64_t row, std::int64_t head) const {
        return ((sample * s + row) * k + head / (h / k)) * d;
    }
    /// Number of keys that query `row` sees.
    std::int64_t visible(std::int64_t row) const {
        return causal ? (row + s - t + 1 < s ? row + s - t + 1 : s) : s;
    }
};

/// q [N,T,H,D], k [N,S,K,D], v alike, with the options of `op`; `random` is the index of the
/// optional random operand. Throws BAD_ARGUMENT.
AttentionShape attention_shape(const Op& op, int random);

} // namespace weft::kernels
