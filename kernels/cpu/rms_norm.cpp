// SPDX-License-Identifier: Apache-2.0
// RMS norm (Zhang, Sennrich 2019) and its gradients: rows in parallel; the gain's gradient as a sum
// over rows.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/row_norm.h"
#include "kernels/cpu/loops/simd.h"

#include <cmath>

namespace weft::kernels::cpu {
namespace {

WEFT_VECTOR void scale_row(const float* x, const float* scale, float rstd, float* y,
                           std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        y[i] = x[i] * rstd * scale[i];
    }
}

/// Sum of dy scale x.
WEFT_VECTOR float grad_dot(const float* x, const float* scale, const float* dy,
                           std::int64_t count) {
    return blocked_sum(count,
                       [=](std::int64_t i) WEFT_INLINE_LAMBDA { return dy[i] * scale[i] * x[i]; });
}

/// dx = rstd (dy scale - x shrink)
WEFT_VECTOR void input_grad(const float* x, const float* scale, const float* dy, float rstd,
                            float shrink, float* dx, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        dx[i] = rstd * (dy[i] * scale[i] - x[i] * shrink);
    }
}

WEFT_VECTOR void add_param_grad(const float* x, const float* dy, float rstd, float* dscale,
                                std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        dscale[i] += dy[i] * (x[i] * rstd);
    }
}

class RmsNorm final : public RowNormKernel { // x, scale -> y, rstd
public:
    explicit RmsNorm(const Op& op)
        : RowNormKernel(op, {}, 0), y_(float_type(op.output(0))), eps_(op.real("eps")) {
        check(op.input(1), width_);
        check(op.output(1), rows_);
        require(same_shape(op.input(0), op.output(0)), "rms_norm keeps the shape");
    }

    weft_status run(const weft_run_args& args) override {
        const auto* scale = static_cast<const float*>(args.inputs[1]);
        auto* rstds = static_cast<float*>(args.outputs[1]);
        parallel_each(rows_, rows_ * width_ * 3, threads_, [&](std::int64_t r, int thread) {
            float* scratch = scratch_.of(args.workspace, thread);
            const float* x = row(args.inputs[0], r, scratch);
            const float mean_square = dot_run(x, x, width_) / static_cast<float>(width_);
            rstds[r] = 1.0f / std::sqrt(mean_square + static_cast<float>(eps_));
            void* out = element(args.outputs[0], y_, r * width_);
            float* y = y_ == WEFT_F32 ? static_cast<float*>(out) : scratch + line_ / 4;
            scale_row(x, scale, rstds[r], y, width_);
            if (y_ == WEFT_BF16) {
                store_bf16(y, static_cast<bf16*>(out), width_);
            }
        });
        return WEFT_OK;
    }

private:
    std::int32_t y_;
    double eps_;
};

class RmsNormInputGrad final : public RowNormKernel { // x, scale, rstd, dy -> dx
public:
    explicit RmsNormInputGrad(const Op& op)
        : RowNormKernel(op, {2}, 3), dx_(float_type(op.output(0))) {
        check(op.input(1), width_);
        require(same_shape(op.input(0), op.input(3)) && same_shape(op.input(0), op.output(0)),
                "x, dy and dx differ in shape");
    }

    weft_status run(const weft_run_args& args) override {
        const auto* scale = static_cast<const float*>(args.inputs[1]);
        const auto* rstds = static_cast<const float*>(args.inputs[2]);
        parallel_each(rows_, rows_ * width_ * 4, threads_, [&](std::int64_t r, int thread) {
            float* scratch = scratch_.of(args.workspace, thread);
            const float* x = row(args.inputs[0], r, scratch);
            const float* dy = row(args.inputs[3], r, scratch + line_ / 4);
            const float rstd = rstds[r];
            const float shrink =
                grad_dot(x, scale, dy, width_) / static_cast<float>(width_) * rstd * rstd;
            void* out = element(args.outputs[0], dx_, r * width_);
            float* dx = dx_ == WEFT_F32 ? static_cast<float*>(out) : scratch + line_ / 2;
            input_grad(x, scale, dy, rstd, shrink, dx, width_);
            if (dx_ == WEFT_BF16) {
                store_bf16(dx, static_cast<bf16*>(out), width_);
            }
        });
        return WEFT_OK;
    }

private:
    std::int32_t dx_;
};

class RmsNormParamGrad final : public RowNormKernel { // x, rstd, dy -> dscale
public:
    explicit RmsNormParamGrad(const Op& op) : RowNormKernel(op, {1}, 2) {
        require(same_shape(op.input(0), op.input(2)), "x and dy differ in shape");
        check(op.output(0), width_);
        reserve_sums(1);
    }

    weft_status run(const weft_run_args& args) override {
        const auto* rstds = static_cast<const float*>(args.inputs[1]);
        sum_rows(args, [&](std::int64_t r, float* scratch, float* sums) {
            const float* x = row(args.inputs[0], r, scratch);
            const float* dy = row(args.inputs[2], r, scratch + line_ / 4);
            add_param_grad(x, dy, rstds[r], sums, width_);
        });
        return WEFT_OK;
    }
};

} // namespace

Made make_rms_norm(const Op& op) {
    return std::make_unique<RmsNorm>(op);
}

Made make_rms_norm_input_grad(const Op& op) {
    return std::make_unique<RmsNormInputGrad>(op);
}

Made make_rms_norm_param_grad(const Op& op) {
    return std::make_unique<RmsNormParamGrad>(op);
}

} // namespace weft::kernels::cpu
