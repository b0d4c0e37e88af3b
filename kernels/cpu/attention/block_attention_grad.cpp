// SPDX-License-Identifier: Apache-2.0
// Attention backward (Dao et al. 2022, appendix B): probabilities are recomputed block by block
// from the stored logsumexp. One piece of work is one key/value head of one sample with all query
// heads that read it, so every gradient has one owner and one order of summation.
#include "kernels/cpu/attention/block_attention.h"
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/gemm_block.h"
#include "kernels/cpu/loops/simd.h"

#include <cmath>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kB = kAttentionBlock;

/// p = exp(scale * score - logsumexp) in place.
WEFT_VECTOR void probabilities(float* score, float scale, float logsumexp, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        score[i] = exp_f(score[i] * scale - logsumexp);
    }
}

/// dscore = p (dp keep - delta) scale into dp; then p *= keep.
WEFT_VECTOR void score_grads(float* p, float* dp, const float* keep, float delta, float scale,
                             std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        dp[i] = p[i] * (dp[i] * keep[i] - delta) * scale;
        p[i] *= keep[i];
    }
}

/// q, k, v, out, logsumexp, dout, positions?, random?, place? -> dq, dk, dv
class AttentionGrad final : public Kernel {
public:
    explicit AttentionGrad(const Op& op)
        : a_(attention_grad_op(op)), type_(op.input(0).dtype), threads_(team_size()),
          width_((a_.d + 15) / 16 * 16), keys_((a_.s + kB - 1) / kB * kB) {
        bool alike = is_float(type_) && op.input(4).dtype == WEFT_F32;
        for (int i : {1, 2, 3, 5}) {
            alike = alike && op.input(i).dtype == type_;
        }
        for (int i : {0, 1, 2}) {
            alike = alike && op.output(i).dtype == type_;
        }
        if (!alike) {
            unsupported("attention in f32 or bf16 only");
        }
        // dk, dv [S', width]; q, dout, dq, k [64, width]; k, v transposed [D, 64]; p, dp [64, 64];
        // keep, delta [64]
        scratch_.bytes =
            4 * (2 * keys_ * width_ + 4 * kB * width_ + 2 * a_.d * kB + 2 * kB * kB + 2 * kB);
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const std::int64_t work = a_.n * a_.h * a_.t * a_.s * a_.d;
        parallel_each(a_.n * a_.k, work, threads_, [&](std::int64_t piece, int thread) {
            const Scratch s = split(scratch_.of(args.workspace, thread));
            fill_run(s.dk, 0.0f, 2 * keys_ * width_);
            const std::int64_t group = a_.h / a_.k;
            for (std::int64_t h = 0; h < group; ++h) {
                const HeadView view{a_,           a_.place(args.inputs),    type_,
                                    piece / a_.k, piece % a_.k * group + h, width_};
                for (std::int64_t first = 0; first < a_.t; first += kB) {
                    query_block(args, view, s, first);
                }
            }
            for (std::int64_t row = 0; row < a_.s; ++row) {
                const std::int64_t at = a_.kv_offset(piece / a_.k, row, piece % a_.k * group);
                store_run(type_)(s.dk + row * width_, element(args.outputs[1], type_, at), a_.d);
                store_run(type_)(s.dv + row * width_, element(args.outputs[2], type_, at), a_.d);
            }
        });
        return WEFT_OK;
    }

private:
    struct Scratch {
        float *dk, *dv, *q, *dout, *dq, *k, *k_turned, *v_turned, *p, *dp, *keep, *delta;
    };

    Scratch split(float* memory) const {
        Scratch s{};
        s.dk = memory;
        s.dv = s.dk + keys_ * width_;
        s.q = s.dv + keys_ * width_;
        s.dout = s.q + kB * width_;
        s.dq = s.dout + kB * width_;
        s.k = s.dq + kB * width_;
        s.k_turned = s.k + kB * width_;
        s.v_turned = s.k_turned + a_.d * kB;
        s.p = s.v_turned + a_.d * kB;
        s.dp = s.p + kB * kB;
        s.keep = s.dp + kB * kB;
        s.delta = s.keep + kB;
        return s;
    }

    void query_block(const weft_run_args& args, const HeadView& view, const Scratch& s,
                     std::int64_t first) const {
        const std::int64_t rows = std::min(kB, a_.t - first);
        view.load_queries(args.inputs[0], first, s.q);
        view.load_queries(args.inputs[5], first, s.dout);
        view.load_queries(args.inputs[3], first, s.dq); // the outputs, only for delta
        for (std::int64_t r = 0; r < rows; ++r) {
            s.delta[r] = dot_run(s.dout + r * width_, s.dq + r * width_, a_.d);
        }
        fill_run(s.dq, 0.0f, kB * width_);
        fill_run(s.keep, 1.0f, kB);
        const HeadView::Keys seen = view.seen_by_some(args, first, rows);
        for (std::int64_t key = seen.first / kB * kB; key < seen.end; key += kB) {
            key_block(args, view, s, first, key);
        }
        for (std::int64_t r = 0; r < rows; ++r) {
            store_run(type_)(
                s.dq + r * width_,
                element(args.outputs[0], type_, a_.q_offset(view.sample, first + r, view.head)),
                a_.d);
        }
    }

    void key_block(const weft_run_args& args, const HeadView& view, const Scratch& s,
                   std::int64_t first, std::int64_t key) const {
        const std::int64_t rows = std::min(kB, a_.t - first);
        const std::int64_t padded = (rows + 3) / 4 * 4;
        view.load_keys_transposed(args.inputs[2], key, s.k, s.v_turned);
        view.load_keys_transposed(args.inputs[1], key, s.k, s.k_turned);
        gemm_block({s.q, width_, 1}, s.k_turned, kB, s.p, kB, padded, kB, a_.d, false);
        gemm_block({s.dout, width_, 1}, s.v_turned, kB, s.dp, kB, padded, kB, a_.d, false);
        const auto* logsumexp = static_cast<const float*>(args.inputs[4]) +
                                (view.sample * a_.h + view.head) * a_.t + first;
        const auto scale = static_cast<float>(a_.scale);
        for (std::int64_t r = 0; r < rows; ++r) {
            float* p = s.p + r * kB;
            float* dp = s.dp + r * kB;
            const HeadView::Keys seen = view.seen(args, first + r);
            const std::int64_t from = std::clamp<std::int64_t>(seen.first - key, 0, kB);
            const std::int64_t count =
                std::max<std::int64_t>(0, std::min(kB, seen.end - key) - from);
            if (a_.dropout && count > 0) {
                view.keep_factors(static_cast<const std::int64_t*>(args.inputs[a_.random_operand]),
                                  first + r, key + from, count, s.keep);
            }
            probabilities(p + from, scale, logsumexp[r], count);
            score_grads(p + from, dp + from, s.keep, s.delta[r], scale, count);
            for (float* row : {p, dp}) {
                fill_run(row, 0.0f, from);
                fill_run(row + from + count, 0.0f, kB - from - count);
            }
        }
        gemm_block({s.p, 1, kB}, s.dout, width_, s.dv + key * width_, width_, kB, width_, rows,
                   true);
        gemm_block({s.dp, 1, kB}, s.q, width_, s.dk + key * width_, width_, kB, width_, rows, true);
        gemm_block({s.dp, kB, 1}, s.k, width_, s.dq, width_, padded, width_,
                   std::min(kB, a_.s - key), true);
    }

    AttentionShape a_;
    std::int32_t type_;
    int threads_;
    std::int64_t width_, keys_;
    ThreadScratch scratch_;
};

} // namespace

Made make_attention_grad(const Op& op) {
    return std::make_unique<AttentionGrad>(op);
}

} // namespace weft::kernels::cpu
