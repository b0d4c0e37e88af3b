// SPDX-License-Identifier: Apache-2.0
// The geometry and options of attention ops, read once for every back end. Query head h reads the
// key/value head h / (H / K). A causal query t sees the keys s <= t + S - T. The dropout decision
// of probability (n, h, t, s) has the logical index ((n_global H + h) T + t) S + s, where n_global
// counts from the `first sample` of the random operand. For a part of the samples and heads the
// random operand goes on with the first sample and the first key/value head of the part, and
// attribute `extents` is [all query heads].
//
// On a ring of devices (attribute `ring` = [all positions, step, devices]) queries and keys are
// parts of T = S positions each. The last operand is i64[1], the first query's position; the keys
// are the part of the device `step` places before. A query sees the keys at positions up to its
// own, or all that are real. One that sees none has a result of 0 and a logsumexp of kNoKeys.
//
// Where several sequences are packed into a sample (attribute `packed`), an operand i32[N,T] has
// the position of each query in its own sequence, and it sees no key before that sequence.
#pragma once

#include "kernels/host_device.h"
#include "kernels/op.h"

namespace weft::kernels {

inline constexpr double kNoKeys = -1e30; // finite: the difference of two is a number

struct AttentionShape {
    /// Positions of the first query and the first key.
    struct Place {
        std::int64_t query = 0, key = 0;
    };

    std::int64_t n, t, s, h, k,
        d; // samples, queries, keys, query heads, key/value heads, head width
    bool causal;
    bool dropout; // a random operand is there and the rate is above 0
    double scale;
    double rate;
    std::uint64_t stream; // hash
    bool part;            // of the samples and heads
    std::int64_t all_heads;
    bool ring = false; // parts of the positions
    std::int64_t positions = 0, step = 0, devices = 1;

    /// Number of the operand with the place on the ring; -1: there is none.
    int place_operand = -1;
    int random_operand = -1;    // read where there is dropout
    int positions_operand = -1; // -1: one sequence a sample
    Place place(const void* const* inputs) const {
        return ring ? place_from(static_cast<const std::int64_t*>(inputs[place_operand])[0])
                    : Place{};
    }
    WEFT_HOST_DEVICE Place place_from(std::int64_t query) const {
        const std::int64_t key = query - step * s;
        return {query, key < 0 ? key + devices * s : key};
    }

    /// Logical index of the dropout decision of the probability (sample, head, row, key).
    WEFT_HOST_DEVICE std::int64_t index(const std::int64_t* random, const Place& at,
                                        std::int64_t sample, std::int64_t head, std::int64_t row,
                                        std::int64_t key) const {
        const std::int64_t n = random[2] + sample + (part ? random[3] : 0);
        const std::int64_t first_head = part ? random[4] * (h / k) : 0;
        const std::int64_t queries = ring ? positions : t;
        const std::int64_t keys = ring ? positions : s;
        return ((n * all_heads + first_head + head) * queries + at.query + row) * keys + at.key +
               key;
    }

    WEFT_HOST_DEVICE std::int64_t q_offset(std::int64_t sample, std::int64_t row,
                                           std::int64_t head) const {
        return ((sample * t + row) * h + head) * d;
    }
    WEFT_HOST_DEVICE std::int64_t kv_offset(std::int64_t sample, std::int64_t row,
                                            std::int64_t head) const {
        return ((sample * s + row) * k + head / (h / k)) * d;
    }
    /// Of the queries of a sample; null: they are one sequence.
    const std::int32_t* positions_of(const void* const* inputs, std::int64_t sample) const {
        return positions_operand < 0
                   ? nullptr
                   : static_cast<const std::int32_t*>(inputs[positions_operand]) + sample * t;
    }
    /// First key that query `row` sees, whose position in its own sequence is `own`.
    WEFT_HOST_DEVICE std::int64_t first_visible(std::int64_t row, const Place& at,
                                                std::int64_t own) const {
        const std::int64_t first = at.query + row - own - at.key;
        return first < 0 ? 0 : first;
    }
    /// The key behind the last that query `row` sees.
    WEFT_HOST_DEVICE std::int64_t visible(std::int64_t row, const Place& at) const {
        if (ring) {
            const std::int64_t own = at.query + row + 1;
            const std::int64_t seen = (causal && own < positions ? own : positions) - at.key;
            return seen < 0 ? 0 : seen < s ? seen : s;
        }
        return causal ? (row + s - t + 1 < s ? row + s - t + 1 : s) : s;
    }
};

/// q [N,T,H,D], k [N,S,K,D], v alike, with the options of `op`; `optional` is the index of the
/// first optional operand. Throws BAD_ARGUMENT.
AttentionShape attention_shape(const Op& op, int optional);
/// Of `attention`, q, k, v, positions?, random?, place? -> out, logsumexp [N,H,T], and of
/// `attention_grad`, q, k, v, out, logsumexp, dout, positions?, random?, place? -> dq, dk, dv.
/// Throw BAD_ARGUMENT.
AttentionShape attention_op(const Op& op);
AttentionShape attention_grad_op(const Op& op);

} // namespace weft::kernels
