// SPDX-License-Identifier: Apache-2.0
// Layer norm and its gradients: rows in parallel; parameter gradients as sums over rows.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/row_norm.h"
#include "kernels/cpu/loops/simd.h"

#include <cmath>

namespace weft::kernels::cpu {
namespace {

WEFT_VECTOR float squared_distance(const float* x, float mean, std::int64_t count) {
    return blocked_sum(count, [=](std::int64_t i)
                                  WEFT_INLINE_LAMBDA { return (x[i] - mean) * (x[i] - mean); });
}

WEFT_VECTOR void normalize(const float* x, const float* scale, const float* shift, float mean,
                           float rstd, float* y, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        y[i] = (x[i] - mean) * rstd * scale[i] + shift[i];
    }
}

/// Sums of dy scale and of dy scale (x - mean) rstd.
WEFT_VECTOR void grad_sums(const float* x, const float* scale, const float* dy, float mean,
                           float rstd, float& sum, float& dot, std::int64_t count) {
    float s = 0.0f;
    float d = 0.0f;
#pragma omp simd reduction(+ : s, d)
    for (std::int64_t i = 0; i < count; ++i) {
        const float g = dy[i] * scale[i];
        s += g;
        d += g * ((x[i] - mean) * rstd);
    }
    sum = s;
    dot = d;
}

WEFT_VECTOR void input_grad(const float* x, const float* scale, const float* dy, float mean,
                            float rstd, float sum, float dot, float* dx, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        dx[i] = rstd * (dy[i] * scale[i] - sum - (x[i] - mean) * rstd * dot);
    }
}

WEFT_VECTOR void add_param_grads(const float* x, const float* dy, float mean, float rstd,
                                 float* dscale, float* dshift, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        dscale[i] += dy[i] * ((x[i] - mean) * rstd);
        dshift[i] += dy[i];
    }
}

class LayerNorm final : public RowNormKernel {
public:
    explicit LayerNorm(const Op& op)
        : RowNormKernel(op, {}, 0), y_(float_type(op.output(0))), eps_(op.real("eps")) {
        check(op.input(1), width_);
        check(op.input(2), width_);
        check(op.output(1), rows_);
        check(op.output(2), rows_);
        require(same_shape(op.input(0), op.output(0)), "layer_norm keeps the shape");
    }

    weft_status run(const weft_run_args& args) override {
        const auto* scale = static_cast<const float*>(args.inputs[1]);
        const auto* shift = static_cast<const float*>(args.inputs[2]);
        auto* means = static_cast<float*>(args.outputs[1]);
        auto* rstds = static_cast<float*>(args.outputs[2]);
        const auto width = static_cast<float>(width_);
        parallel_each(rows_, rows_ * width_ * 4, threads_, [&](std::int64_t r, int thread) {
            float* scratch = scratch_.of(args.workspace, thread);
            const float* x = row(args.inputs[0], r, scratch);
            const float mean = sum_run(x, width_) / width;
            const float variance = squared_distance(x, mean, width_) / width;
            const float rstd = 1.0f / std::sqrt(variance + static_cast<float>(eps_));
            void* out = element(args.outputs[0], y_, r * width_);
            float* y = y_ == WEFT_F32 ? static_cast<float*>(out) : scratch + line_ / 4;
            normalize(x, scale, shift, mean, rstd, y, width_);
            if (y_ == WEFT_BF16) {
                store_bf16(y, static_cast<bf16*>(out), width_);
            }
            means[r] = mean;
            rstds[r] = rstd;
        });
        return WEFT_OK;
    }

private:
    std::int32_t y_;
    double eps_;
};

class LayerNormInputGrad final : public RowNormKernel { // x, scale, mean, rstd, dy -> dx
public:
    explicit LayerNormInputGrad(const Op& op)
        : RowNormKernel(op, {2, 3}, 4), dx_(float_type(op.output(0))) {
        check(op.input(1), width_);
        require(same_shape(op.input(0), op.input(4)) && same_shape(op.input(0), op.output(0)),
                "x, dy and dx differ in shape");
    }

    weft_status run(const weft_run_args& args) override {
        const auto* scale = static_cast<const float*>(args.inputs[1]);
        const auto* means = static_cast<const float*>(args.inputs[2]);
        const auto* rstds = static_cast<const float*>(args.inputs[3]);
        const auto width = static_cast<float>(width_);
        parallel_each(rows_, rows_ * width_ * 4, threads_, [&](std::int64_t r, int thread) {
            float* scratch = scratch_.of(args.workspace, thread);
            const float* x = row(args.inputs[0], r, scratch);
            const float* dy = row(args.inputs[4], r, scratch + line_ / 4);
            float sum = 0.0f;
            float dot = 0.0f;
            grad_sums(x, scale, dy, means[r], rstds[r], sum, dot, width_);
            void* out = element(args.outputs[0], dx_, r * width_);
            float* dx = dx_ == WEFT_F32 ? static_cast<float*>(out) : scratch + line_ / 2;
            input_grad(x, scale, dy, means[r], rstds[r], sum / width, dot / width, dx, width_);
            if (dx_ == WEFT_BF16) {
                store_bf16(dx, static_cast<bf16*>(out), width_);
            }
        });
        return WEFT_OK;
    }

private:
    std::int32_t dx_;
};

class LayerNormParamGrad final : public RowNormKernel { // x, mean, rstd, dy -> dscale, dshift
public:
    explicit LayerNormParamGrad(const Op& op) : RowNormKernel(op, {1, 2}, 3) {
        require(same_shape(op.input(0), op.input(3)), "x and dy differ in shape");
        check(op.output(0), width_);
        check(op.output(1), width_);
        reserve_sums(2);
    }

    weft_status run(const weft_run_args& args) override {
        const auto* means = static_cast<const float*>(args.inputs[1]);
        const auto* rstds = static_cast<const float*>(args.inputs[2]);
        sum_rows(args, [&](std::int64_t r, float* scratch, float* sums) {
            const float* x = row(args.inputs[0], r, scratch);
            const float* dy = row(args.inputs[3], r, scratch + line_ / 4);
            add_param_grads(x, dy, means[r], rstds[r], sums, sums + line_ / 4, width_);
        });
        return WEFT_OK;
    }
};

} // namespace

Made make_layer_norm(const Op& op) {
    return std::make_unique<LayerNorm>(op);
}

Made make_layer_norm_input_grad(const Op& op) {
    return std::make_unique<LayerNormInputGrad>(op);
}

Made make_layer_norm_param_grad(const Op& op) {
    return std::make_unique<LayerNormParamGrad>(op);
}

} // namespace weft::kernels::cpu
