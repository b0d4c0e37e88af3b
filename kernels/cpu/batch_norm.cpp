// SPDX-License-Identifier: Apache-2.0
// Batch norm on x seen as [rows, C], rows = samples * positions. Column sums go through partial
// sums of fixed row chunks, combined in order and in double, so that team size changes no bit.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/loops/simd.h"

#include <cmath>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kChunkRows = 128;

WEFT_VECTOR void add_deviations(const float* x, const float* center, float weight, float* sums,
                                float* squares, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t c = 0; c < count; ++c) {
        const float d = x[c] - center[c];
        sums[c] += weight * d;
        squares[c] += weight * d * d;
    }
}

WEFT_VECTOR void add_grads(const float* x, const float* dy, const float* mean, const float* rstd,
                           float* sums, float* dots, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t c = 0; c < count; ++c) {
        sums[c] += dy[c];
        dots[c] += dy[c] * ((x[c] - mean[c]) * rstd[c]);
    }
}

WEFT_VECTOR void normalize(const float* x, const float* mean, const float* factor,
                           const float* shift, float* y, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t c = 0; c < count; ++c) {
        y[c] = (x[c] - mean[c]) * factor[c] + shift[c];
    }
}

/// dx = factor (dy - weight (sum + u dot)), u = (x - mean) rstd
WEFT_VECTOR void input_grad(const float* x, const float* dy, const float* mean, const float* rstd,
                            const float* factor, const float* sum, const float* dot, float weight,
                            float* dx, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t c = 0; c < count; ++c) {
        const float u = (x[c] - mean[c]) * rstd[c];
        dx[c] = factor[c] * (dy[c] - weight * (sum[c] + u * dot[c]));
    }
}

/// Workspace: channel vectors, then two partial sums per chunk, then scratch rows per thread.
class BatchNormKernel : public Kernel {
public:
    BatchNormKernel(const Op& op, int weights, int vectors)
        : samples_(op.input(0).rank >= 2 ? op.input(0).shape[0] : 0), rows_(row_count(op.input(0))),
          width_(last_dim(op.input(0))), x_(op.input(0).dtype),
          weights_(op.inputs() > weights ? weights : -1), eps_(op.real("eps")),
          threads_(team_size()), stride_(round_up_to_line(width_ * 4) / 4),
          chunks_((rows_ + kChunkRows - 1) / kChunkRows),
          partial_(vectors * stride_), scratch_{(partial_ + 2 * stride_ * chunks_) * 4,
                                                3 * stride_ * 4} {
        require(op.input(0).rank >= 2, "batch norm takes [N, ..., C]");
        if (!is_float(x_)) {
            unsupported("batch norm of f32 or bf16 only");
        }
        if (weights_ >= 0) {
            check(op.input(weights_), samples_);
        }
        workspace_bytes_ = scratch_.base + scratch_.bytes * threads_;
    }

protected:
    static void check(const Type& type, std::int64_t count) {
        require(element_count(type) == count,
                "a vector of statistics or parameters has a wrong size");
        if (type.dtype != WEFT_F32) {
            unsupported("statistics and parameters in f32 only");
        }
    }

    float weight(const weft_run_args& args, std::int64_t row) const {
        return weights_ < 0
                   ? 1.0f
                   : static_cast<const float*>(args.inputs[weights_])[row / (rows_ / samples_)];
    }

    double total_weight(const weft_run_args& args) const {
        if (weights_ < 0) {
            return static_cast<double>(rows_);
        }
        double total = 0.0;
        for (std::int64_t n = 0; n < samples_; ++n) {
            total += static_cast<double>(static_cast<const float*>(args.inputs[weights_])[n]);
        }
        return total * static_cast<double>(samples_ > 0 ? rows_ / samples_ : 0);
    }

    const float* row(const void* data, std::int64_t r, float* scratch) const {
        return as_floats(element(data, x_, r * width_), x_, scratch, width_);
    }

    float* vector(const weft_run_args& args, std::int64_t i) const {
        return static_cast<float*>(args.workspace) + i * stride_;
    }

    /// Runs add(row, scratch, first partial, second partial) for all rows, then gives each
    /// channel's two totals to finish(channel, first, second).
    template <class Add, class Finish>
    void column_sums(const weft_run_args& args, const Add& add, const Finish& finish) const {
        float* partial = static_cast<float*>(args.workspace) + partial_;
        parallel_each(chunks_, rows_ * width_ * 2, threads_, [&](std::int64_t chunk, int thread) {
            float* first = partial + 2 * stride_ * chunk;
            fill_run(first, 0.0f, 2 * stride_);
            const std::int64_t end = std::min(rows_, (chunk + 1) * kChunkRows);
            for (std::int64_t r = chunk * kChunkRows; r < end; ++r) {
                add(r, scratch_.of(args.workspace, thread), first, first + stride_);
            }
        });
        for (std::int64_t c = 0; c < width_; ++c) {
            double first = 0.0;
            double second = 0.0;
            for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
                first += static_cast<double>(partial[2 * stride_ * chunk + c]);
                second += static_cast<double>(partial[2 * stride_ * chunk + stride_ + c]);
            }
            finish(c, first, second);
        }
    }

    std::int64_t samples_, rows_, width_;
    std::int32_t x_;
    int weights_; // input index or -1
    double eps_;
    int threads_;
    std::int64_t stride_, chunks_, partial_;
    ThreadScratch scratch_;
};

class BatchNorm final : public BatchNormKernel { // x, scale, shift, weights? -> y, mean, variance
public:
    explicit BatchNorm(const Op& op) : BatchNormKernel(op, 3, 1), y_(op.output(0).dtype) {
        for (int i : {1, 2}) {
            check(op.input(i), width_);
            check(op.output(i), width_);
        }
        require(same_shape(op.input(0), op.output(0)), "batch_norm keeps the shape");
        if (!is_float(y_)) {
            unsupported("batch norm of f32 or bf16 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        auto* mean = static_cast<float*>(args.outputs[1]);
        auto* variance = static_cast<float*>(args.outputs[2]);
        const double total = total_weight(args);
        const double share = total > 0.0 ? 1.0 / total : 0.0;
        auto add = [&](std::int64_t r, float* scratch, float* sums, float* squares) {
            add_deviations(row(args.inputs[0], r, scratch), mean, weight(args, r), sums, squares,
                           width_);
        };
        // Twice: deviations from zero give the mean, those from the mean the variance without
        // cancellation.
        fill_run(mean, 0.0f, width_);
        float* found = vector(args, 0);
        column_sums(args, add, [&](std::int64_t c, double sum, double) {
            found[c] = static_cast<float>(sum * share);
        });
        std::copy_n(found, width_, mean);
        column_sums(args, add, [&](std::int64_t c, double, double squares) {
            variance[c] = static_cast<float>(squares * share);
        });
        const auto* scale = static_cast<const float*>(args.inputs[1]);
        for (std::int64_t c = 0; c < width_; ++c) {
            found[c] = scale[c] / std::sqrt(variance[c] + static_cast<float>(eps_));
        }
        write(args, mean, found);
        return WEFT_OK;
    }

private:
    void write(const weft_run_args& args, const float* mean, const float* factor) const {
        const auto* shift = static_cast<const float*>(args.inputs[2]);
        parallel_each(rows_, rows_ * width_ * 2, threads_, [&](std::int64_t r, int thread) {
            float* scratch = scratch_.of(args.workspace, thread);
            void* out = element(args.outputs[0], y_, r * width_);
            float* y = y_ == WEFT_F32 ? static_cast<float*>(out) : scratch + stride_;
            normalize(row(args.inputs[0], r, scratch), mean, factor, shift, y, width_);
            if (y_ == WEFT_BF16) {
                store_bf16(y, static_cast<bf16*>(out), width_);
            }
        });
    }

    std::int32_t y_;
};

class BatchNormGrad final : public BatchNormKernel {
public: // x, scale, mean, variance, dy, weights? -> dx, dscale, dshift
    explicit BatchNormGrad(const Op& op) : BatchNormKernel(op, 5, 2), dx_(op.output(0).dtype) {
        for (int i : {1, 2, 3}) {
            check(op.input(i), width_);
        }
        check(op.output(1), width_);
        check(op.output(2), width_);
        require(same_shape(op.input(0), op.input(4)) && same_shape(op.input(0), op.output(0)),
                "x, dy and dx differ in shape");
        if (!is_float(dx_) || op.input(4).dtype != x_) {
            unsupported("batch norm of f32 or bf16 only");
        }
    }

    weft_status run(const weft_run_args& args) override {
        const auto* scale = static_cast<const float*>(args.inputs[1]);
        const auto* mean = static_cast<const float*>(args.inputs[2]);
        const auto* variance = static_cast<const float*>(args.inputs[3]);
        auto* dscale = static_cast<float*>(args.outputs[1]);
        auto* dshift = static_cast<float*>(args.outputs[2]);
        float* rstd = vector(args, 0);
        float* factor = vector(args, 1);
        for (std::int64_t c = 0; c < width_; ++c) {
            rstd[c] = 1.0f / std::sqrt(variance[c] + static_cast<float>(eps_));
            factor[c] = scale[c] * rstd[c];
        }
        column_sums(
            args,
            [&](std::int64_t r, float* scratch, float* sums, float* dots) {
                add_grads(row(args.inputs[0], r, scratch),
                          row(args.inputs[4], r, scratch + stride_), mean, rstd, sums, dots,
                          width_);
            },
            [&](std::int64_t c, double sum, double dot) {
                dshift[c] = static_cast<float>(sum);
                dscale[c] = static_cast<float>(dot);
            });
        const double total = total_weight(args);
        const double share = total > 0.0 ? 1.0 / total : 0.0;
        parallel_each(rows_, rows_ * width_ * 3, threads_, [&](std::int64_t r, int thread) {
            float* scratch = scratch_.of(args.workspace, thread);
            void* out = element(args.outputs[0], dx_, r * width_);
            float* dx = dx_ == WEFT_F32 ? static_cast<float*>(out) : scratch + 2 * stride_;
            input_grad(row(args.inputs[0], r, scratch), row(args.inputs[4], r, scratch + stride_),
                       mean, rstd, factor, dshift, dscale,
                       static_cast<float>(static_cast<double>(weight(args, r)) * share), dx,
                       width_);
            if (dx_ == WEFT_BF16) {
                store_bf16(dx, static_cast<bf16*>(out), width_);
            }
        });
        return WEFT_OK;
    }

private:
    std::int32_t dx_;
};

class BatchNormInference final : public Kernel { // x, scale, shift, mean, variance -> y
public:
    explicit BatchNormInference(const Op& op)
        : rows_(row_count(op.input(0))), width_(last_dim(op.input(0))), type_(op.input(0).dtype),
          eps_(op.real("eps")), threads_(team_size()),
          line_(round_up_to_line(width_ * 4)), scratch_{line_, 2 * line_} {
        for (int i = 1; i < 5; ++i) {
            require(element_count(op.input(i)) == width_,
                    "a vector of statistics or parameters has a wrong size");
            if (op.input(i).dtype != WEFT_F32) {
                unsupported("statistics and parameters in f32 only");
            }
        }
        require(same_shape(op.input(0), op.output(0)), "batch_norm_inference keeps the shape");
        if (!is_float(type_) || op.output(0).dtype != type_) {
            unsupported("batch norm of f32 or bf16 only");
        }
        workspace_bytes_ = scratch_.base + scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const auto vector = [&](int i) { return static_cast<const float*>(args.inputs[i]); };
        auto* factor = static_cast<float*>(args.workspace);
        for (std::int64_t c = 0; c < width_; ++c) {
            factor[c] = vector(1)[c] / std::sqrt(vector(4)[c] + static_cast<float>(eps_));
        }
        parallel_each(rows_, rows_ * width_ * 2, threads_, [&](std::int64_t r, int thread) {
            float* scratch = scratch_.of(args.workspace, thread);
            void* out = element(args.outputs[0], type_, r * width_);
            float* y = type_ == WEFT_F32 ? static_cast<float*>(out) : scratch + line_ / 4;
            const float* x =
                as_floats(element(args.inputs[0], type_, r * width_), type_, scratch, width_);
            normalize(x, vector(3), factor, vector(2), y, width_);
            if (type_ == WEFT_BF16) {
                store_bf16(y, static_cast<bf16*>(out), width_);
            }
        });
        return WEFT_OK;
    }

private:
    std::int64_t rows_, width_;
    std::int32_t type_;
    double eps_;
    int threads_;
    std::int64_t line_;
    ThreadScratch scratch_;
};

} // namespace

Made make_batch_norm(const Op& op) {
    return std::make_unique<BatchNorm>(op);
}

Made make_batch_norm_grad(const Op& op) {
    return std::make_unique<BatchNormGrad>(op);
}

Made make_batch_norm_inference(const Op& op) {
    return std::make_unique<BatchNormInference>(op);
}

} // namespace weft::kernels::cpu
