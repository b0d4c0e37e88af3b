// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/exp_runs.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/loops/simd.h"

namespace weft::kernels::cpu {
namespace {

/// dx = y (dy - sum)
WEFT_VECTOR void softmax_grad_run(const float* y, const float* dy, float sum, float* dx,
                                  std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        dx[i] = y[i] * (dy[i] - sum);
    }
}

class Softmax final : public Kernel {
public:
    explicit Softmax(const Op& op)
        : rows_(row_count(op.input(0))), width_(last_dim(op.input(0))), in_(op.input(0).dtype),
          out_(op.output(0).dtype),
          threads_(team_size()), scratch_{0, round_up_to_line(width_ * 4) * 3} {
        for (int i = 0; i < op.inputs(); ++i) {
            require(op.input(i).rank >= 1 && same_shape(op.input(i), op.output(0)),
                    "softmax keeps the shape");
            if (!is_float(op.input(i).dtype) || op.input(i).dtype != in_) {
                unsupported("softmax of f32 or bf16 only");
            }
        }
        if (!is_float(out_)) {
            unsupported("softmax of f32 or bf16 only");
        }
        gradient_ = op.inputs() == 2;
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        parallel_each(rows_, rows_ * width_ * 4, threads_, [&](std::int64_t row, int thread) {
            float* scratch = scratch_.of(args.workspace, thread);
            float* second = scratch + round_up_to_line(width_ * 4) / 4;
            float* third = second + round_up_to_line(width_ * 4) / 4;
            const std::int64_t at = row * width_;
            void* out = element(args.outputs[0], out_, at);
            float* result = out_ == WEFT_F32 ? static_cast<float*>(out) : third;
            const float* x = as_floats(element(args.inputs[0], in_, at), in_, scratch, width_);
            if (gradient_) {
                const float* dy = as_floats(element(args.inputs[1], in_, at), in_, second, width_);
                softmax_grad_run(x, dy, dot_run(x, dy, width_), result, width_);
            } else {
                const float sum = exp_run(x, max_run(x, width_), result, width_);
                scale_run(result, 1.0f / sum, width_);
            }
            if (out_ == WEFT_BF16) {
                store_bf16(result, static_cast<bf16*>(out), width_);
            }
        });
        return WEFT_OK;
    }

private:
    std::int64_t rows_, width_;
    std::int32_t in_, out_;
    bool gradient_ = false;
    int threads_;
    ThreadScratch scratch_;
};

} // namespace

Made make_softmax(const Op& op) {
    return std::make_unique<Softmax>(op);
}

Made make_softmax_grad(const Op& op) {
    return std::make_unique<Softmax>(op);
}

} // namespace weft::kernels::cpu
