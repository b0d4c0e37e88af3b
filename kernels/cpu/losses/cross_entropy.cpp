// SPDX-License-Identifier: Apache-2.0
// Cross-entropy: each row is read once forward and once backward; no probability is ever stored.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/loops/simd.h"

#include <atomic>
#include <cmath>

namespace weft::kernels::cpu {
namespace {

WEFT_VECTOR float sum_of_exp(const float* x, float shift, std::int64_t count) {
    return blocked_sum(count,
                       [=](std::int64_t i) WEFT_INLINE_LAMBDA { return exp_f(x[i] - shift); });
}

/// out = factor (exp(x - logsumexp) - floor)
WEFT_VECTOR void grad_run(const float* x, float logsumexp, float factor, float floor, float* out,
                          std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = factor * (exp_f(x[i] - logsumexp) - floor);
    }
}

/// Checks and per-row iteration that the three ops share.
class RowLoss : public Kernel {
public:
    explicit RowLoss(const Op& op)
        : rows_(row_count(op.input(0))), classes_(last_dim(op.input(0))),
          logits_(op.input(0).dtype), smoothing_(op.real("label_smoothing", 0.0)),
          part_(op.has("of_classes")), of_(part_ ? op.integer("of_classes") : classes_),
          threads_(team_size()), scratch_{0, round_up_to_line(classes_ * 4) * 2} {
        require(op.input(0).rank >= 1 && classes_ > 0, "the logits are not [N, V]");
        require(element_count(op.input(1)) == rows_, "the labels are not [N]");
        if (!is_float(logits_) || op.input(1).dtype != WEFT_I32) {
            unsupported("logits in f32 or bf16 and labels in i32 only");
        }
        workspace_bytes_ = scratch_.bytes * threads_;
    }

protected:
    /// fn(row, logits as floats, label, spare scratch of V floats). False when a label is too
    /// large.
    template <class Fn>
    bool for_each_row(const weft_run_args& args, const Fn& fn) const {
        std::atomic<bool> labels_fit{true};
        parallel_each(rows_, rows_ * classes_ * 4, threads_, [&](std::int64_t row, int thread) {
            float* scratch = scratch_.of(args.workspace, thread);
            const std::int32_t label = static_cast<const std::int32_t*>(args.inputs[1])[row];
            if (label >= classes_ && !part_) {
                labels_fit.store(false, std::memory_order_relaxed);
                return;
            }
            const float* x = as_floats(element(args.inputs[0], logits_, row * classes_), logits_,
                                       scratch, classes_);
            fn(row, x, label, scratch + scratch_.bytes / 8);
        });
        return labels_fit.load();
    }

    std::int64_t rows_, classes_;
    std::int32_t logits_;
    double smoothing_;
    bool part_;       // logits are those of some of `of_` classes; see reference/loss.cpp
    std::int64_t of_; // classes of the whole
    int threads_;
    ThreadScratch scratch_;
};

float sum_of_real(const float* x, std::int64_t count) {
    float sum = 0.0f;
    for (std::int64_t i = 0; i < count; ++i) {
        sum += x[i] > -1e29f ? x[i] : 0.0f;
    }
    return sum;
}

class CrossEntropy final : public RowLoss {
public:
    explicit CrossEntropy(const Op& op) : RowLoss(op) {
        for (int i = 0; i < 2; ++i) {
            require(element_count(op.output(i)) == rows_, "loss or logsumexp is not [N]");
            if (op.output(i).dtype != WEFT_F32) {
                unsupported("losses in f32 only");
            }
        }
    }

    weft_status run(const weft_run_args& args) override {
        auto* loss = static_cast<float*>(args.outputs[0]);
        auto* logsumexps = static_cast<float*>(args.outputs[1]);
        const auto smoothing = static_cast<float>(smoothing_);
        const bool fits =
            for_each_row(args, [&](std::int64_t row, const float* x, std::int32_t label, float*) {
                const float max = max_run(x, classes_);
                const float logsumexp = max + std::log(sum_of_exp(x, max, classes_));
                logsumexps[row] = logsumexp;
                if (label < 0) {
                    loss[row] = 0.0f;
                    return;
                }
                if (part_) {
                    loss[row] = label < classes_ ? (1.0f - smoothing) * x[label] : 0.0f;
                    if (smoothing > 0.0f) {
                        loss[row] += smoothing * sum_of_real(x, classes_) / static_cast<float>(of_);
                    }
                    return;
                }
                loss[row] = (1.0f - smoothing) * (logsumexp - x[label]);
                if (smoothing > 0.0f) {
                    const float mean = sum_run(x, classes_) / static_cast<float>(classes_);
                    loss[row] += smoothing * (logsumexp - mean);
                }
            });
        return fits ? WEFT_OK
                    : fail(WEFT_BAD_ARGUMENT, "cross_entropy: a label is not below the classes");
    }
};

class CrossEntropyGrad final : public RowLoss {
public:
    explicit CrossEntropyGrad(const Op& op) : RowLoss(op), out_(op.output(0).dtype) {
        require(element_count(op.input(2)) == rows_ && element_count(op.input(3)) == rows_,
                "logsumexp or dloss is not [N]");
        require(same_shape(op.input(0), op.output(0)), "logits and their gradient differ in shape");
        if (op.input(2).dtype != WEFT_F32 || op.input(3).dtype != WEFT_F32 || !is_float(out_)) {
            unsupported("losses in f32 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        const auto* logsumexp = static_cast<const float*>(args.inputs[2]);
        const auto* dloss = static_cast<const float*>(args.inputs[3]);
        const auto floor = static_cast<float>(smoothing_ / static_cast<double>(of_));
        const bool fits = for_each_row(
            args, [&](std::int64_t row, const float* x, std::int32_t label, float* scratch) {
                void* out = element(args.outputs[0], out_, row * classes_);
                float* result = out_ == WEFT_F32 ? static_cast<float*>(out) : scratch;
                if (label < 0) {
                    fill_run(result, 0.0f, classes_);
                } else {
                    grad_run(x, logsumexp[row], dloss[row], floor, result, classes_);
                    if (label < classes_) {
                        result[label] -= dloss[row] * static_cast<float>(1.0 - smoothing_);
                    }
                }
                if (out_ == WEFT_BF16) {
                    store_bf16(result, static_cast<bf16*>(out), classes_);
                }
            });
        return fits ? WEFT_OK
                    : fail(WEFT_BAD_ARGUMENT,
                           "cross_entropy_grad: a label is not below the classes");
    }

private:
    std::int32_t out_;
};

class Correct final : public RowLoss {
public:
    explicit Correct(const Op& op) : RowLoss(op) {
        require(element_count(op.output(0)) == rows_, "the output is not [N]");
        if (op.output(0).dtype != WEFT_F32) {
            unsupported("metrics in f32 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        auto* out = static_cast<float*>(args.outputs[0]);
        const auto* labels = static_cast<const std::int32_t*>(args.inputs[1]);
        parallel_each(rows_, rows_ * classes_, threads_, [&](std::int64_t row, int thread) {
            const float* x = as_floats(element(args.inputs[0], logits_, row * classes_), logits_,
                                       scratch_.of(args.workspace, thread), classes_);
            const float max = max_run(x, classes_);
            std::int64_t first = 0;
            while (first < classes_ && x[first] != max) {
                ++first;
            }
            out[row] = first == labels[row] ? 1.0f : 0.0f;
        });
        return WEFT_OK;
    }
};

} // namespace

Made make_cross_entropy(const Op& op) {
    return std::make_unique<CrossEntropy>(op);
}

Made make_cross_entropy_grad(const Op& op) {
    return std::make_unique<CrossEntropyGrad>(op);
}

Made make_correct(const Op& op) {
    return std::make_unique<Correct>(op);
}

} // namespace weft::kernels::cpu
