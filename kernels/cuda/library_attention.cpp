// SPDX-License-Identifier: Apache-2.0
// Attention and its gradient by cuDNN where it has them: bf16 and f16, of one sequence a
// sample, without dropout, whose random bits are not ours, and causal only where the first query
// sees one key.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/wrappers/dnn.h"

namespace weft::kernels::cuda {
namespace {

bool all_aligned(const Run& run, int inputs, int outputs) {
    bool aligned = true;
    for (int i = 0; i < inputs; ++i) {
        aligned = aligned && aligned_to(run.in(i), kDnnAlignment);
    }
    for (int i = 0; i < outputs; ++i) {
        aligned = aligned && aligned_to(run.out(i), kDnnAlignment);
    }
    return aligned;
}

weft_status misaligned() {
    return fail(WEFT_BAD_ARGUMENT, "operands of attention must begin at multiples of 16 bytes");
}

class AttentionKernel final : public Kernel {
public:
    explicit AttentionKernel(const PlannedAttentionShape& shape)
        : attention_(make_planned_attention(shape)) {
        workspace_bytes_ = attention_->workspace_bytes();
    }

    weft_status run(const weft_run_args& args) override {
        const Run run(args);
        if (!all_aligned(run, 3, 2)) {
            return misaligned();
        }
        attention_->run(run.stream(), run.in(0), run.in(1), run.in(2), run.out(0), run.out(1),
                        run.workspace());
        return reported_fault();
    }

private:
    std::unique_ptr<PlannedAttention> attention_;
};

class AttentionGradKernel final : public Kernel {
public:
    explicit AttentionGradKernel(const PlannedAttentionShape& shape)
        : gradient_(make_planned_attention_grad(shape)) {
        workspace_bytes_ = gradient_->workspace_bytes();
    }

    weft_status run(const weft_run_args& args) override {
        const Run run(args);
        if (!all_aligned(run, 6, 3)) {
            return misaligned();
        }
        gradient_->run(run.stream(),
                       {run.in(0), run.in(1), run.in(2), run.in(3), run.in(4), run.in(5),
                        run.out(0), run.out(1), run.out(2)},
                       run.workspace());
        return reported_fault();
    }

private:
    std::unique_ptr<PlannedAttentionGrad> gradient_;
};

/// Declines what no plan is for.
PlannedAttentionShape planned_shape(const AttentionShape& a,
                                    std::initializer_list<const Type*> types) {
    const std::int32_t dtype = (*types.begin())->dtype;
    for (const Type* type : types) {
        if (type->dtype != dtype || (dtype != WEFT_BF16 && dtype != WEFT_F16)) {
            unsupported("attention of bf16 or f16 throughout");
        }
    }
    if (a.dropout || a.ring || a.positions_operand >= 0 || (a.causal && a.t != a.s)) {
        unsupported("attention without dropout, of whole sequences, the causal one of itself, and "
                    "none packed");
    }
    if (a.n * a.t * a.s * a.h * a.d == 0) {
        unsupported("empty attention");
    }
    return {a, dtype};
}

} // namespace

Made make_library_attention(const Op& op) {
    const AttentionShape a = attention_op(op);
    want_dtype(op.output(1), WEFT_F32);
    return std::make_unique<AttentionKernel>(
        planned_shape(a, {&op.input(0), &op.input(1), &op.input(2), &op.output(0)}));
}

Made make_library_attention_grad(const Op& op) {
    const AttentionShape a = attention_grad_op(op);
    want_dtype(op.input(4), WEFT_F32);
    return std::make_unique<AttentionGradKernel>(
        planned_shape(a, {&op.input(0), &op.input(1), &op.input(2), &op.input(3), &op.input(5),
                          &op.output(0), &op.output(1), &op.output(2)}));
}

} // namespace weft::kernels::cuda
