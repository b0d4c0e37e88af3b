// SPDX-License-Identifier: Apache-2.0
// Attention forward with a running maximum and sum (online softmax: Milakov, Gimelshein 2018; Dao
// et al. 2022), scores turned. Probabilities are rounded to what products take before they meet the
// values. A piece of work is some blocks of queries of the heads that share a key/value head, whose
// keys and values it copies and turns once.
#include "kernels/cpu/attention/forms.h"
#include "kernels/cpu/attention/query_block.h"
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"

#include <algorithm>
#include <cmath>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kB = kQueryBlock;

template <class Form>
class TurnedAttention final
    : public Kernel { // q, k, v, positions?, random?, place? -> out, logsumexp
public:
    explicit TurnedAttention(const Op& op)
        : a_(attention_op(op)), threads_(team_size()), keys_((a_.s + kB - 1) / kB * kB),
          width_((a_.d + 15) / 16 * 16) {
        require_turned(op, a_, {0, 1, 2}, 1);
        Form::require(op, a_.d);
        const std::int64_t heads = std::max<std::int64_t>(1, a_.n * a_.k);
        const std::int64_t blocks = std::max<std::int64_t>(1, (a_.t + kB - 1) / kB);
        // Enough pieces for the team, and each with enough queries to pay for turning the values.
        parts_ = std::clamp<std::int64_t>((4 * threads_ + heads - 1) / heads, 1, blocks);
        ScratchParts sizes(nullptr);
        split(sizes);
        scratch_.bytes = sizes.bytes();
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const std::int64_t work = a_.n * a_.h * a_.t * a_.s * a_.d / 16;
        parallel_each(a_.n * a_.k * parts_, work, threads_, [&](std::int64_t piece, int thread) {
            [[maybe_unused]] const typename Form::Scope scope;
            ScratchParts parts(scratch_.of(args.workspace, thread));
            some_blocks(args, piece / parts_, piece % parts_, split(parts));
        });
        return WEFT_OK;
    }

private:
    using Stored = typename Form::Stored;
    using Left = typename Form::Left;
    using Right = typename Form::Right;

    struct Scratch {
        Left* keys;           // [S, D]
        Left* values_turned;  // [D, S']
        Right* turning;       // [16, width]
        Right* queries;       // [D, 64]
        float* score;         // [64, 64], keys down
        Right* probabilities; // [64, 64]
        float* out;           // [D, 64]
    };

    Scratch split(ScratchParts& parts) const {
        Scratch s{};
        s.keys = parts.take<Left>(a_.s * a_.d + kSlack);
        s.values_turned = parts.take<Left>(a_.d * keys_);
        s.turning = parts.take<Right>(16 * width_);
        s.queries = parts.take<Right>(a_.d / Form::kTogether * kB);
        s.score = parts.take<float>(kB * kB);
        s.probabilities = parts.take<Right>(kB / Form::kTogether * kB);
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
        Form::left(rows_at<Stored>(args.inputs[1], at, row), a_.s, a_.d, s.keys);
        Form::left_turned(rows_at<Stored>(args.inputs[2], at, row), a_.s, a_.d, s.turning,
                          s.values_turned, keys_);
        for (std::int64_t h = 0; h < group; ++h) {
            for (std::int64_t first = part * kB; first < a_.t; first += parts_ * kB) {
                QueryBlock q(a_, args, sample, head + h, first);
                block(args, q, s);
            }
        }
    }

    void block(const weft_run_args& args, QueryBlock& q, const Scratch& s) const {
        const std::int64_t at = a_.q_offset(q.sample, q.first, q.head);
        Form::right_turned(rows_at<Stored>(args.inputs[0], at, a_.h * a_.d), q.rows, a_.d,
                           s.queries, kB);
        RunningSoftmax state;
        const ScoreScale by(a_);
        for (std::int64_t key = q.begin; key < q.most; key += kB) {
            const std::int64_t keys = std::min(kB, q.most - key);
            Form::multiply(s.keys + key * a_.d, a_.d, s.queries, kB, s.score, kB, keys, q.columns,
                           a_.d, false);
            if (a_.dropout) {
                q.draw(static_cast<const std::int64_t*>(args.inputs[a_.random_operand]), key);
            }
            soften(q, by, key, keys, state, s.score);
            if (key > q.begin && state.shrinks(q.columns)) {
                scale_columns(s.out, a_.d, q.columns, state.shrink);
            }
            Form::multiply(s.values_turned + key, keys_,
                           Form::right_of(s.score, keys, q.columns, s.probabilities), kB, s.out, kB,
                           a_.d, q.columns, keys, key > q.begin);
        }
        finish(args, q, state, s);
    }

    void finish(const weft_run_args& args, const QueryBlock& q, const RunningSoftmax& state,
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
        auto* out = static_cast<Stored*>(args.outputs[0]) + a_.q_offset(q.sample, q.first, q.head);
        store_turned(s.out, kB, factor, a_.d, q.rows, out, a_.h * a_.d);
    }

    AttentionShape a_;
    int threads_;
    std::int64_t keys_, width_, parts_;
    ThreadScratch scratch_;
};

} // namespace

Made make_pair_attention(const Op& op) {
    return std::make_unique<TurnedAttention<PairForm>>(op);
}

Made make_vector_attention(const Op& op) {
    if (op.input(0).dtype == WEFT_F32) {
        return std::make_unique<TurnedAttention<FloatForm<float>>>(op);
    }
    return std::make_unique<TurnedAttention<FloatForm<bf16>>>(op);
}

} // namespace weft::kernels::cpu
