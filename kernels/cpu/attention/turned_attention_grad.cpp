// SPDX-License-Identifier: Apache-2.0
// Attention backward (Dao et al. 2022, appendix B): probabilities are computed again from the
// stored logsumexp, turned as in the forward. One piece of work is one key/value head of one sample
// with all query heads that read it, so every gradient has one owner and one order of summation.
#include "kernels/cpu/attention/forms.h"
#include "kernels/cpu/attention/query_block.h"
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kB = kQueryBlock;

/// q, k, v, out, logsumexp, dout, positions?, random?, place? -> dq, dk, dv
template <class Form>
class TurnedAttentionGrad final : public Kernel {
public:
    explicit TurnedAttentionGrad(const Op& op)
        : a_(attention_grad_op(op)), threads_(team_size()), keys_((a_.s + kB - 1) / kB * kB),
          width_((a_.d + 15) / 16 * 16), type_(op.input(0).dtype) {
        require_turned(op, a_, {0, 1, 2, 3, 5}, 3);
        Form::require(op, a_.d);
        ScratchParts sizes(nullptr);
        split(sizes);
        scratch_.bytes = sizes.bytes();
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const std::int64_t work = a_.n * a_.h * a_.t * a_.s * a_.d / 8;
        parallel_each(a_.n * a_.k, work, threads_, [&](std::int64_t piece, int thread) {
            [[maybe_unused]] const typename Form::Scope scope;
            ScratchParts parts(scratch_.of(args.workspace, thread));
            head(args, piece / a_.k, piece % a_.k, split(parts));
        });
        return WEFT_OK;
    }

private:
    using Stored = typename Form::Stored;
    using Left = typename Form::Left;
    using Right = typename Form::Right;

    struct Scratch {
        Left *keys, *values;                  // [S, D]
        Left* keys_turned;                    // [D, S']
        Right* turning;                       // [16, width]
        Right *queries_turned, *douts_turned; // [D, 64]
        Right *queries, *douts;               // [64, width]
        float *score, *dp;                    // [64, 64], keys down
        Left* left;                           // one of them
        Right* right;
        float* dq;      // [D, 64]
        float *dk, *dv; // [S', width]
    };

    Scratch split(ScratchParts& parts) const {
        constexpr std::int64_t kTogether = Form::kTogether;
        Scratch s{};
        s.keys = parts.take<Left>(a_.s * a_.d + kSlack);
        s.values = parts.take<Left>(a_.s * a_.d + kSlack);
        s.keys_turned = parts.take<Left>(a_.d * keys_);
        s.turning = parts.take<Right>(16 * width_);
        s.queries_turned = parts.take<Right>(a_.d / kTogether * kB);
        s.douts_turned = parts.take<Right>(a_.d / kTogether * kB);
        s.queries = parts.take<Right>(kB / kTogether * width_);
        s.douts = parts.take<Right>(kB / kTogether * width_);
        s.score = parts.take<float>(kB * kB);
        s.dp = parts.take<float>(kB * kB);
        s.left = parts.take<Left>(kB * kB);
        s.right = parts.take<Right>(kB / kTogether * kB);
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
        const Rows<Stored> keys = rows_at<Stored>(args.inputs[1], at, row);
        Form::left(keys, a_.s, a_.d, s.keys);
        Form::left(rows_at<Stored>(args.inputs[2], at, row), a_.s, a_.d, s.values);
        Form::left_turned(keys, a_.s, a_.d, s.turning, s.keys_turned, keys_);
        std::fill_n(s.dk, keys_ * width_, 0.0f);
        std::fill_n(s.dv, keys_ * width_, 0.0f);
        for (std::int64_t h = 0; h < group; ++h) {
            for (std::int64_t first = 0; first < a_.t; first += kB) {
                QueryBlock q(a_, args, sample, k * group + h, first);
                query_block(args, q, s);
            }
        }
        const StoreRun store = store_run(type_);
        for (std::int64_t i = 0; i < a_.s; ++i) {
            store(s.dk + i * width_, element(args.outputs[1], type_, at + i * row), a_.d);
            store(s.dv + i * width_, element(args.outputs[2], type_, at + i * row), a_.d);
        }
    }

    void query_block(const weft_run_args& args, QueryBlock& q, const Scratch& s) const {
        const std::int64_t row = a_.h * a_.d;
        const std::int64_t at = a_.q_offset(q.sample, q.first, q.head);
        const Rows<Stored> queries = rows_at<Stored>(args.inputs[0], at, row);
        const Rows<Stored> douts = rows_at<Stored>(args.inputs[5], at, row);
        QueryNumbers numbers{};
        // Of a query that is not there no probability comes.
        std::fill_n(numbers.logsumexp, kB, std::numeric_limits<float>::infinity());
        std::memcpy(numbers.logsumexp,
                    static_cast<const float*>(args.inputs[4]) + (q.sample * a_.h + q.head) * a_.t +
                        q.first,
                    static_cast<std::size_t>(q.rows) * sizeof(float));
        Form::dot_rows(douts, rows_at<Stored>(args.inputs[3], at, row), q.rows, a_.d,
                       numbers.delta);
        Form::right_turned(queries, q.rows, a_.d, s.queries_turned, kB);
        Form::right_turned(douts, q.rows, a_.d, s.douts_turned, kB);
        Form::right(queries, q.rows, a_.d, s.queries, width_);
        Form::right(douts, q.rows, a_.d, s.douts, width_);
        std::fill_n(s.dq, a_.d * kB, 0.0f);
        const ScoreScale by(a_);
        for (std::int64_t key = q.begin; key < q.most; key += kB) {
            const std::int64_t keys = std::min(kB, q.most - key);
            Form::multiply(s.keys + key * a_.d, a_.d, s.queries_turned, kB, s.score, kB, keys,
                           q.columns, a_.d, false);
            Form::multiply(s.values + key * a_.d, a_.d, s.douts_turned, kB, s.dp, kB, keys,
                           q.columns, a_.d, false);
            if (a_.dropout) {
                q.draw(static_cast<const std::int64_t*>(args.inputs[a_.random_operand]), key);
            }
            score_grads(q, by, key, keys, numbers, s.score, s.dp);
            Form::multiply(Form::left_of(s.score, keys, q.columns, s.left), kB, s.douts, width_,
                           s.dv + key * width_, width_, keys, width_, q.rows, true);
            Form::multiply(Form::left_of(s.dp, keys, q.columns, s.left), kB, s.queries, width_,
                           s.dk + key * width_, width_, keys, width_, q.rows, true);
            Form::multiply(s.keys_turned + key, keys_,
                           Form::right_of(s.dp, keys, q.columns, s.right), kB, s.dq, kB, a_.d,
                           q.columns, keys, true);
        }
        float ones[kB];
        std::fill_n(ones, kB, 1.0f);
        store_turned(s.dq, kB, ones, a_.d, q.rows, static_cast<Stored*>(args.outputs[0]) + at, row);
    }

    AttentionShape a_;
    int threads_;
    std::int64_t keys_, width_;
    std::int32_t type_;
    ThreadScratch scratch_;
};

} // namespace

Made make_pair_attention_grad(const Op& op) {
    return std::make_unique<TurnedAttentionGrad<PairForm>>(op);
}

Made make_vector_attention_grad(const Op& op) {
    if (op.input(0).dtype == WEFT_F32) {
        return std::make_unique<TurnedAttentionGrad<FloatForm<float>>>(op);
    }
    return std::make_unique<TurnedAttentionGrad<FloatForm<bf16>>>(op);
}

} // namespace weft::kernels::cpu
