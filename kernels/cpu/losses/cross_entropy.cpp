// SPDX-License-Identifier: Apache-2.0
// Cross-entropy: each row is read once forward and once backward; no probability is ever stored.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/exp_runs.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/loops/simd.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace weft::kernels::cpu {
namespace {

// Elements are read as they are stored, f32 or bf16, and widened in registers.

/// What stands for no class (-1e30 and below) is left out.
template <class T>
WEFT_VECTOR float sum_of_real(const T* x, std::int64_t count) {
    return blocked_sum(count, [=](std::int64_t i) WEFT_INLINE_LAMBDA {
        const float value = to_float(x[i]);
        return value > -1e29f ? value : 0.0f;
    });
}

/// Checks and per-row iteration that the three ops share.
class RowLoss : public Kernel {
public:
    explicit RowLoss(const Op& op)
        : rows_(row_count(op.input(0))), classes_(last_dim(op.input(0))),
          logits_(op.input(0).dtype), smoothing_(op.real("label_smoothing", 0.0)),
          part_(op.has("of_classes")), of_(part_ ? op.integer("of_classes") : classes_),
          threads_(team_size()) {
        require(op.input(0).rank >= 1 && classes_ > 0, "the logits are not [N, V]");
        require(element_count(op.input(1)) == rows_, "the labels are not [N]");
        if (!is_float(logits_) || op.input(1).dtype != WEFT_I32) {
            unsupported("logits in f32 or bf16 and labels in i32 only");
        }
    }

protected:
    /// fn(row, its logits as they are stored, label). False when a label is too large.
    template <class Fn>
    bool for_each_row(const weft_run_args& args, const Fn& fn) const {
        std::atomic<bool> labels_fit{true};
        parallel_each(rows_, rows_ * classes_ * 4, threads_, [&](std::int64_t row, int) {
            const std::int32_t label = static_cast<const std::int32_t*>(args.inputs[1])[row];
            if (label >= classes_ && !part_) {
                labels_fit.store(false, std::memory_order_relaxed);
                return;
            }
            const void* x = element(args.inputs[0], logits_, row * classes_);
            if (logits_ == WEFT_F32) {
                fn(row, static_cast<const float*>(x), label);
            } else {
                fn(row, static_cast<const bf16*>(x), label);
            }
        });
        return labels_fit.load();
    }

    std::int64_t rows_, classes_;
    std::int32_t logits_;
    double smoothing_;
    bool part_;       // logits are those of some of `of_` classes; see reference/loss.cpp
    std::int64_t of_; // classes of the whole
    int threads_;
};

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
            for_each_row(args, [&](std::int64_t row, const auto* x, std::int32_t label) {
                const float max = max_run(x, classes_);
                const float logsumexp = max + std::log(sum_of_exp(x, max, classes_));
                logsumexps[row] = logsumexp;
                if (label < 0) {
                    loss[row] = 0.0f;
                    return;
                }
                if (part_) {
                    loss[row] = label < classes_ ? (1.0f - smoothing) * to_float(x[label]) : 0.0f;
                    if (smoothing > 0.0f) {
                        loss[row] += smoothing * sum_of_real(x, classes_) / static_cast<float>(of_);
                    }
                    return;
                }
                loss[row] = (1.0f - smoothing) * (logsumexp - to_float(x[label]));
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
        const bool fits =
            for_each_row(args, [&](std::int64_t row, const auto* x, std::int32_t label) {
                void* out = element(args.outputs[0], out_, row * classes_);
                if (out_ == WEFT_F32) {
                    one(args, row, x, label, static_cast<float*>(out));
                } else {
                    one(args, row, x, label, static_cast<bf16*>(out));
                }
            });
        return fits ? WEFT_OK
                    : fail(WEFT_BAD_ARGUMENT,
                           "cross_entropy_grad: a label is not below the classes");
    }

private:
    /// The gradient may lie over the logits.
    template <class T, class Out>
    void one(const weft_run_args& args, std::int64_t row, const T* x, std::int32_t label,
             Out* out) const {
        if (label < 0) {
            std::fill_n(out, classes_, from_float<Out>(0.0f));
            return;
        }
        const float logsumexp = static_cast<const float*>(args.inputs[2])[row];
        const float dloss = static_cast<const float*>(args.inputs[3])[row];
        const auto floor = static_cast<float>(smoothing_ / static_cast<double>(of_));
        const bool here = label < classes_;
        const float logit = here ? to_float(x[label]) : 0.0f;
        scaled_exp_run(x, logsumexp, dloss, floor, out, classes_);
        if (here) {
            const float others = dloss * (exp_f(logit - logsumexp) - floor);
            out[label] = from_float<Out>(others - dloss * static_cast<float>(1.0 - smoothing_));
        }
    }

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
        parallel_each(rows_, rows_ * classes_, threads_, [&](std::int64_t row, int) {
            const void* x = element(args.inputs[0], logits_, row * classes_);
            const bool right = logits_ == WEFT_F32
                                   ? is_first_largest(static_cast<const float*>(x), labels[row])
                                   : is_first_largest(static_cast<const bf16*>(x), labels[row]);
            out[row] = right ? 1.0f : 0.0f;
        });
        return WEFT_OK;
    }

private:
    template <class T>
    bool is_first_largest(const T* x, std::int32_t label) const {
        const float max = max_run(x, classes_);
        std::int64_t first = 0;
        while (first < classes_ && to_float(x[first]) != max) {
            ++first;
        }
        return first == label;
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
