// SPDX-License-Identifier: Apache-2.0
// Convolutions by libraries: as a product where the window is a pixel, else by cuDNN, which has
// weights [O,kh,kw,C] where ours are [kh,kw,C,O].
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/move.h"
#include "kernels/cuda/wrappers/dnn.h"
#include "kernels/operand_format.h"

namespace weft::kernels::cuda {

namespace {

/// A weight between our order and the library's, in the direction of the pass.
Box turned_weight(const ConvolutionOp& c, i64 size) {
    const WindowShape& s = c.window;
    const i64 taps = s.kh * s.kw;
    // [O, taps, C] and [taps, C, O]
    const Dims theirs = {taps * s.c * size, s.c * size, size};
    const Dims ours = {size, s.c * s.o * size, s.o * size};
    if (c.pass == ConvolutionPass::weight_grad) {
        return merged({size,
                       {taps, s.c, s.o},
                       {theirs[1], theirs[2], theirs[0]},
                       {ours[1], ours[2], ours[0]}});
    }
    return merged({size, {s.o, taps, s.c}, ours, theirs});
}

class LibraryConvolution final : public Kernel {
public:
    LibraryConvolution(const ConvolutionOp& c, std::int32_t dtype, std::int32_t result, bool tf32)
        : pass_(c.pass), convolution_(make_convolution({c.window, c.pass, dtype, result, tf32})) {
        const WindowShape& s = c.window;
        const i64 size = dtype_size(pass_ == ConvolutionPass::weight_grad ? result : dtype);
        turn_ = turned_weight(c, size);
        weight_bytes_ = round_up_to_line(s.kh * s.kw * s.c * s.o * size);
        workspace_bytes_ = weight_bytes_ + convolution_->workspace_bytes();
    }

    weft_status run(const weft_run_args& args) override {
        const Run run(args);
        for (const void* operand : {run.in(0), run.in(1), static_cast<const void*>(run.out(0))}) {
            if (!aligned_to(operand, kDnnAlignment)) {
                return fail(WEFT_BAD_ARGUMENT,
                            "operands of a convolution must begin at multiples of 16 bytes");
            }
        }
        void* turned = run.workspace();
        void* scratch = run.workspace(weight_bytes_);
        if (pass_ == ConvolutionPass::weight_grad) {
            convolution_->run(run.stream(), run.in(0), run.in(1), turned, scratch);
            move_box(run, turn_, turned, run.out(0));
        } else {
            move_box(run, turn_, run.in(1), turned);
            convolution_->run(run.stream(), run.in(0), turned, run.out(0), scratch);
        }
        return reported_fault();
    }

private:
    ConvolutionPass pass_;
    std::unique_ptr<Convolution> convolution_;
    Box turn_;
    std::int64_t weight_bytes_ = 0;
};

} // namespace

Made make_convolution_product(const Op& op) {
    const ConvolutionOp c = convolution_op(op);
    const WindowShape& s = c.window;
    if (s.kh * s.kw != 1 || s.stride_h * s.stride_w != 1 || s.out_h != s.h || s.out_w != s.w) {
        unsupported("windows of more than their pixel");
    }
    const i64 pixels = s.n * s.h * s.w;
    switch (c.pass) {
    case ConvolutionPass::forward:
        return product_of(op, {1, pixels, s.c, s.o, false, false, true}, false);
    case ConvolutionPass::input_grad:
        return product_of(op, {1, pixels, s.o, s.c, false, true, true}, false);
    default: return product_of(op, {1, s.c, pixels, s.o, true, false, true}, false);
    }
}

Made make_library_convolution(const Op& op) {
    const ConvolutionOp c = convolution_op(op);
    const int dtype = float_dtype(op.input(0));
    const int result = float_dtype(op.output(0));
    const bool wide = c.pass == ConvolutionPass::weight_grad && result == WEFT_F32;
    if (op.input(1).dtype != dtype || (result != dtype && !wide)) {
        unsupported("convolutions of two operands of a type into it, or of weights' gradients");
    }
    if (element_count(op.input(0)) * element_count(op.input(1)) * element_count(op.output(0)) ==
        0) {
        unsupported("an empty convolution");
    }
    return std::make_unique<LibraryConvolution>(c, dtype, result, operand_formats(op).x == &kTf32);
}

} // namespace weft::kernels::cuda
