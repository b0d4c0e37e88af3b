// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification; states, alpha and beta are those of
// kernels/reference/ctc.cpp. A sample belongs to one thread; all states of a position are one
// vectorised run.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/simd.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace weft::kernels::cpu {
namespace {

constexpr float kNever = -1e30F;
constexpr std::int64_t kBefore = 2; // states before the first, never reached

/// out[s] = log(exp(a[s]) + exp(b[s]) + exp(c[s] + gate[s])) + more[s], not below kNever
WEFT_VECTOR void sum_paths(const float* a, const float* b, const float* c, const float* gate,
                           const float* more, float* out, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t s = 0; s < count; ++s) {
        const float far = std::max(c[s] + gate[s], kNever);
        const float most = std::max(std::max(a[s], b[s]), far);
        const float sum = exp_f(a[s] - most) + exp_f(b[s] - most) + exp_f(far - most);
        out[s] = std::max(most + log_f(sum) + more[s], kNever);
    }
}

/// out[s] = exp(alpha[s] + beta[s] + loss)
WEFT_VECTOR void shares_of(const float* alpha, const float* beta, float loss, float* out,
                           std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t s = 0; s < count; ++s) {
        out[s] = exp_f(alpha[s] + beta[s] + loss);
    }
}

/// Checks, and the walk over samples.
class Ctc : public Kernel {
public:
    explicit Ctc(const Op& op) : threads_(team_size()) {
        const Type& x = op.input(0);
        const Type& labels = op.input(1);
        require(x.rank == 3 && last_dim(x) > 0, "the log-probabilities are not [B, T, C]");
        require(labels.rank == 2 && labels.shape[0] == x.shape[0], "the labels are not [B, S]");
        if (x.dtype != WEFT_F32 || labels.dtype != WEFT_I32) {
            unsupported("log-probabilities in f32 and labels in i32 only");
        }
        samples_ = x.shape[0];
        positions_ = x.shape[1];
        classes_ = x.shape[2];
        symbols_ = labels.shape[1];
        width_ = 2 * symbols_ + 1;
        row_ = round_up_to_line((width_ + 2 * kBefore) * 4) / 4;
        scratch_ = {0, kRows * row_ * 4};
        workspace_bytes_ = scratch_.bytes * threads_;
    }

protected:
    static constexpr std::int64_t kRows = 5;

    /// A sample and what its thread has to work with, rows of width + 2 kBefore numbers.
    struct Sample {
        const float* log_p; // [T, C]
        const std::int32_t* labels;
        std::int64_t number, states;
        float* rows[kRows];

        std::int64_t class_of(std::int64_t state) const {
            return state % 2 == 0 ? 0 : labels[state / 2];
        }
        bool skips(std::int64_t state) const {
            return state % 2 == 1 && state > 2 && labels[state / 2] != labels[state / 2 - 1];
        }
    };

    /// False when a label is too large.
    template <class Fn>
    bool for_each_sample(const weft_run_args& args, const Fn& fn) const {
        std::atomic<bool> labels_fit{true};
        const std::int64_t work = samples_ * positions_ * width_ * kRows;
        parallel_each(samples_, work, threads_, [&](std::int64_t b, int thread) {
            Sample sample{};
            sample.number = b;
            sample.log_p = static_cast<const float*>(args.inputs[0]) + b * positions_ * classes_;
            sample.labels = static_cast<const std::int32_t*>(args.inputs[1]) + b * symbols_;
            std::int64_t length = 0;
            while (length < symbols_ && sample.labels[length] > 0) {
                if (sample.labels[length++] >= classes_) {
                    labels_fit.store(false, std::memory_order_relaxed);
                    return;
                }
            }
            sample.states = 2 * length + 1;
            for (std::int64_t i = 0; i < kRows; ++i) {
                sample.rows[i] = scratch_.of(args.workspace, thread) + i * row_;
                std::fill(sample.rows[i], sample.rows[i] + row_, kNever);
            }
            fn(sample);
        });
        return labels_fit.load();
    }

    void emissions(const Sample& sample, std::int64_t position, float* out) const {
        const float* log_p = sample.log_p + position * classes_;
        for (std::int64_t s = 0; s < sample.states; ++s) {
            out[s] = log_p[sample.class_of(s)];
        }
    }

    std::int64_t samples_, positions_, classes_, symbols_, width_;

private:
    int threads_;
    std::int64_t row_; // numbers of a row of the scratch
    ThreadScratch scratch_;
};

class CtcLoss final : public Ctc {
public:
    explicit CtcLoss(const Op& op) : Ctc(op) {
        require(element_count(op.output(0)) == samples_, "the loss is not [B]");
        require(element_count(op.output(1)) == samples_ * positions_ * width_,
                "alpha is not [B, T, 2 S + 1]");
        if (op.output(0).dtype != WEFT_F32 || op.output(1).dtype != WEFT_F32) {
            unsupported("losses in f32 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        auto* losses = static_cast<float*>(args.outputs[0]);
        auto* alphas = static_cast<float*>(args.outputs[1]);
        const bool fits = for_each_sample(args, [&](const Sample& sample) {
            losses[sample.number] = loss_of(sample, alphas + sample.number * positions_ * width_);
        });
        return fits ? WEFT_OK : fail(WEFT_BAD_ARGUMENT, "ctc: a label is not below the classes");
    }

private:
    float loss_of(const Sample& sample, float* alpha) const {
        const std::int64_t states = sample.states;
        float* before = sample.rows[0] + kBefore;
        float* gate = sample.rows[1];
        float* emission = sample.rows[2];
        float* now = sample.rows[3] + kBefore;
        for (std::int64_t s = 0; s < states; ++s) {
            gate[s] = sample.skips(s) ? 0.0F : kNever;
        }
        for (std::int64_t t = 0; t < positions_; ++t) {
            emissions(sample, t, emission);
            if (t == 0) {
                std::copy(emission, emission + std::min<std::int64_t>(states, 2), now);
            } else {
                sum_paths(before, before - 1, before - 2, gate, emission, now, states);
            }
            float* kept = std::copy(now, now + states, alpha + t * width_);
            std::fill(kept, alpha + (t + 1) * width_, kNever);
            std::swap(before, now);
        }
        const float last = before[states - 1];
        const float other = before[states - 2]; // of a single state: one that is never reached
        const float most = std::max(last, other);
        const float found = most + std::log(std::exp(last - most) + std::exp(other - most));
        return found < kNever / 2 ? std::numeric_limits<float>::infinity() : -found;
    }
};

class CtcGrad final : public Ctc {
public:
    explicit CtcGrad(const Op& op) : Ctc(op) {
        require(element_count(op.input(2)) == samples_ && element_count(op.input(4)) == samples_,
                "loss or dloss is not [B]");
        require(element_count(op.input(3)) == samples_ * positions_ * width_,
                "alpha is not [B, T, 2 S + 1]");
        require(same_shape(op.input(0), op.output(0)), "the gradient has another shape");
        for (const Type& type : {op.input(2), op.input(3), op.input(4), op.output(0)}) {
            if (type.dtype != WEFT_F32) {
                unsupported("losses in f32 only");
            }
        }
    }

    weft_status run(const weft_run_args& args) override {
        const bool fits =
            for_each_sample(args, [&](const Sample& sample) { add_gradient(args, sample); });
        return fits ? WEFT_OK
                    : fail(WEFT_BAD_ARGUMENT, "ctc_grad: a label is not below the classes");
    }

private:
    void add_gradient(const weft_run_args& args, const Sample& sample) const {
        const std::int64_t states = sample.states;
        const float loss = static_cast<const float*>(args.inputs[2])[sample.number];
        const float* alpha =
            static_cast<const float*>(args.inputs[3]) + sample.number * positions_ * width_;
        const float dloss = static_cast<const float*>(args.inputs[4])[sample.number];
        float* out = static_cast<float*>(args.outputs[0]) + sample.number * positions_ * classes_;
        std::fill(out, out + positions_ * classes_, 0.0F);
        if (!std::isfinite(loss)) {
            return;
        }
        float* after = sample.rows[0]; // beta + emission of the position after this one
        float* gate = sample.rows[1];  // from a state two on
        float* shares = sample.rows[2];
        float* beta = sample.rows[3];
        for (std::int64_t s = 0; s + 2 < states; ++s) {
            gate[s] = sample.skips(s + 2) ? 0.0F : kNever;
        }
        float* nothing = sample.rows[4];
        std::fill(nothing, nothing + states, 0.0F);
        for (std::int64_t t = positions_ - 1; t >= 0; --t) {
            if (t == positions_ - 1) {
                for (std::int64_t s = std::max<std::int64_t>(0, states - 2); s < states; ++s) {
                    beta[s] = 0.0F;
                }
            } else {
                sum_paths(after, after + 1, after + 2, gate, nothing, beta, states);
            }
            shares_of(alpha + t * width_, beta, loss, shares, states);
            emissions(sample, t, after);
            for (std::int64_t s = 0; s < states; ++s) {
                out[t * classes_ + sample.class_of(s)] -= dloss * shares[s];
                after[s] += beta[s];
            }
        }
    }
};

} // namespace

Made make_ctc(const Op& op) {
    return std::make_unique<CtcLoss>(op);
}

Made make_ctc_grad(const Op& op) {
    return std::make_unique<CtcGrad>(op);
}

} // namespace weft::kernels::cpu
