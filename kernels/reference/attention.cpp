// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention (Vaswani et al. 2017) one query at a time, and its gradient with
// probabilities recomputed from the stored logsumexp (Dao et al. 2022, appendix B).
#include "kernels/attention_shape.h"
#include "kernels/philox.h"
#include "kernels/reference/reference_list.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace weft::kernels::reference {
namespace {

double dot(const double* a, const double* b, std::int64_t count) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < count; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

AttentionShape::Place place_of(const AttentionShape& a, const Call& call) {
    return a.ring ? a.place_from(call.integers(a.place_operand)[0]) : AttentionShape::Place{};
}

/// What dropout multiplies the probability (sample, head, row, key) by: 0 or 1 / (1 - rate).
double keep_factor(const AttentionShape& a, const std::int64_t* random,
                   const AttentionShape::Place& at, std::int64_t sample, std::int64_t head,
                   std::int64_t row, std::int64_t key) {
    if (!a.dropout) {
        return 1.0;
    }
    const std::int64_t index = a.index(random, at, sample, head, row, key);
    const float u = uniform_of(Stream(random, a.stream).word(static_cast<std::uint64_t>(index)));
    return u >= static_cast<float>(a.rate) ? 1.0 / (1.0 - a.rate) : 0.0;
}

/// First key that a query sees.
std::int64_t first_visible(const AttentionShape& a, const Call& call,
                           const AttentionShape::Place& at, std::int64_t sample, std::int64_t row) {
    return a.positions_operand < 0
               ? 0
               : a.first_visible(
                     row, at,
                     static_cast<std::int64_t>(call.in(a.positions_operand)[sample * a.t + row]));
}

/// Calls fn(sample, head, row) for every query.
template <class Fn>
void for_each_query(const AttentionShape& a, Fn fn) {
    for (std::int64_t n = 0; n < a.n; ++n) {
        for (std::int64_t h = 0; h < a.h; ++h) {
            for (std::int64_t t = 0; t < a.t; ++t) {
                fn(n, h, t);
            }
        }
    }
}

} // namespace

Body make_attention(const Op& op) { // q, k, v, positions?, random?, place? -> out, logsumexp
    const AttentionShape a = attention_op(op);
    std::vector<double> score(static_cast<std::size_t>(a.s));
    return [=](const Call& call) mutable {
        const std::int64_t* random = a.dropout ? call.integers(a.random_operand) : nullptr;
        const AttentionShape::Place at = place_of(a, call);
        for_each_query(a, [&](std::int64_t n, std::int64_t h, std::int64_t t) {
            const std::int64_t first = first_visible(a, call, at, n, t);
            const std::int64_t seen = a.visible(t, at);
            double max = -std::numeric_limits<double>::infinity();
            for (std::int64_t s = first; s < seen; ++s) {
                score[static_cast<std::size_t>(s)] =
                    a.scale *
                    dot(call.in(0) + a.q_offset(n, t, h), call.in(1) + a.kv_offset(n, s, h), a.d);
                max = std::fmax(max, score[static_cast<std::size_t>(s)]);
            }
            double sum = 0.0;
            for (std::int64_t s = first; s < seen; ++s) {
                sum += std::exp(score[static_cast<std::size_t>(s)] - max);
            }
            const double logsumexp = seen > first ? max + std::log(sum) : kNoKeys;
            double* out = call.out(0) + a.q_offset(n, t, h);
            std::fill(out, out + a.d, 0.0);
            for (std::int64_t s = first; s < seen; ++s) {
                const double p = std::exp(score[static_cast<std::size_t>(s)] - logsumexp) *
                                 keep_factor(a, random, at, n, h, t, s);
                for (std::int64_t d = 0; d < a.d; ++d) {
                    out[d] += p * call.in(2)[a.kv_offset(n, s, h) + d];
                }
            }
            call.out(1)[(n * a.h + h) * a.t + t] = logsumexp;
        });
        return WEFT_OK;
    };
}

Body make_attention_grad(
    const Op& op) { // q, k, v, out, logsumexp, dout, positions?, random?, place? -> dq, dk, dv
    const AttentionShape a = attention_grad_op(op);
    return [=](const Call& call) {
        const std::int64_t* random = a.dropout ? call.integers(a.random_operand) : nullptr;
        const AttentionShape::Place at = place_of(a, call);
        std::fill_n(call.out(0), a.n * a.t * a.h * a.d, 0.0);
        std::fill_n(call.out(1), a.n * a.s * a.k * a.d, 0.0);
        std::fill_n(call.out(2), a.n * a.s * a.k * a.d, 0.0);
        for_each_query(a, [&](std::int64_t n, std::int64_t h, std::int64_t t) {
            const std::int64_t q = a.q_offset(n, t, h);
            const double* dout = call.in(5) + q;
            const double delta = dot(dout, call.in(3) + q, a.d);
            const double logsumexp = call.in(4)[(n * a.h + h) * a.t + t];
            for (std::int64_t s = first_visible(a, call, at, n, t); s < a.visible(t, at); ++s) {
                const std::int64_t kv = a.kv_offset(n, s, h);
                const double p =
                    std::exp(a.scale * dot(call.in(0) + q, call.in(1) + kv, a.d) - logsumexp);
                const double keep = keep_factor(a, random, at, n, h, t, s);
                const double dp = dot(dout, call.in(2) + kv, a.d) * keep;
                const double dscore = p * (dp - delta) * a.scale;
                for (std::int64_t d = 0; d < a.d; ++d) {
                    call.out(0)[q + d] += dscore * call.in(1)[kv + d];
                    call.out(1)[kv + d] += dscore * call.in(0)[q + d];
                    call.out(2)[kv + d] += p * keep * dout[d];
                }
            }
        });
        return WEFT_OK;
    };
}

Body make_attention_cached(const Op& op) { // q, k_cache, v_cache, position -> out
    const AttentionShape a = attention_shape(op, 4);
    require(same_shape(op.output(0), op.input(0)), "the output is not [N,T,H,D]");
    require(op.input(3).dtype == WEFT_I64 && element_count(op.input(3)) == 1,
            "the position is not i64[]");
    return [=](const Call& call) {
        const std::int64_t position = call.integers(3)[0];
        if (position < 0 || position + a.t > a.s) {
            return fail(WEFT_BAD_ARGUMENT, "attention_cached: the position leaves the cache");
        }
        for_each_query(a, [&](std::int64_t n, std::int64_t h, std::int64_t t) {
            const double* q = call.in(0) + a.q_offset(n, t, h);
            double* out = call.out(0) + a.q_offset(n, t, h);
            std::fill(out, out + a.d, 0.0);
            double max = -std::numeric_limits<double>::infinity();
            double sum = 0.0;
            for (std::int64_t s = 0; s <= position + t; ++s) {
                max = std::fmax(max, a.scale * dot(q, call.in(1) + a.kv_offset(n, s, h), a.d));
            }
            for (std::int64_t s = 0; s <= position + t; ++s) {
                const std::int64_t kv = a.kv_offset(n, s, h);
                const double weight = std::exp(a.scale * dot(q, call.in(1) + kv, a.d) - max);
                sum += weight;
                for (std::int64_t d = 0; d < a.d; ++d) {
                    out[d] += weight * call.in(2)[kv + d];
                }
            }
            for (std::int64_t d = 0; d < a.d; ++d) {
                out[d] /= sum;
            }
        });
        return WEFT_OK;
    };
}

Body make_cache_write(const Op& op) { // cache [N,S,K,D], new [N,T,K,D], position -> cache
    const Type& cache = op.input(0);
    const Type& rows = op.input(1);
    require(cache.rank == 4 && rows.rank == 4 && same_shape(cache, op.output(0)),
            "the cache is not [N,S,K,D]");
    require(rows.shape[0] == cache.shape[0] && rows.shape[2] == cache.shape[2] &&
                rows.shape[3] == cache.shape[3],
            "the new rows do not fit the cache");
    require(rows.dtype == cache.dtype && op.output(0).dtype == cache.dtype,
            "cache and new rows differ in dtype");
    require(op.input(2).dtype == WEFT_I64 && element_count(op.input(2)) == 1,
            "the position is not i64[]");
    const std::int64_t samples = cache.shape[0];
    const std::int64_t s = cache.shape[1];
    const std::int64_t t = rows.shape[1];
    const std::int64_t row_bytes = cache.shape[2] * cache.shape[3] * dtype_size(cache.dtype);
    return [=](const Call& call) {
        const std::int64_t position = call.integers(2)[0];
        if (position < 0 || position + t > s) {
            return fail(WEFT_BAD_ARGUMENT, "cache_write: the position leaves the cache");
        }
        auto* out = static_cast<unsigned char*>(call.raw_out(0));
        const auto* fresh = static_cast<const unsigned char*>(call.raw_in(1));
        if (call.raw_in(0) != call.raw_out(0)) {
            std::memcpy(out, call.raw_in(0), static_cast<std::size_t>(samples * s * row_bytes));
        }
        for (std::int64_t n = 0; n < samples; ++n) {
            std::memcpy(out + (n * s + position) * row_bytes, fresh + n * t * row_bytes,
                        static_cast<std::size_t>(t * row_bytes));
        }
        return WEFT_OK;
    };
}

} // namespace weft::kernels::reference
