// SPDX-License-Identifier: Apache-2.0
// Products by cuBLASLt. Rows one after another are the columns of the transposed matrix, so
// out = x y is computed as out' = y' x': y is the library's a, and the bias has one number per row
// of out'.
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/chosen_product.h"
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/eight_bits.h"
#include "kernels/cuda/launch.h"

#include <optional>

namespace weft::kernels::cuda {

/// Rows of `width`: what was multiplied plus the bias; either may be absent.
WEFT_KERNEL finish_rows(i64 count, i64 width, const float* products, const Source bias,
                        const Target to) {
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        const float sum = products != nullptr ? products[i] : 0.0f;
        store(to, i, bias.data != nullptr ? sum + load(bias, i % width) : sum);
    }
}

namespace {

Numbers numbers_of(const NumberFormat& format, int dtype) {
    return &format == &kE4m3    ? Numbers::e4m3
           : &format == &kE5m2  ? Numbers::e5m2
           : dtype == WEFT_BF16 ? Numbers::bf16
           : dtype == WEFT_F16  ? Numbers::f16
           : &format == &kTf32  ? Numbers::tf32
                                : Numbers::f32;
}

/// x y, plus operand 2 where there is one.
class MatmulKernel final : public Kernel {
public:
    MatmulKernel(const Op& op, const MatmulShape& s, bool biased)
        : result_(float_dtype(op.output(0))), biased_(biased), n_(s.n),
          count_(s.batch * s.m * s.n) {
        const int dtype = float_dtype(op.input(0));
        bias_ = biased_ ? float_dtype(op.input(2)) : result_;
        if (op.input(1).dtype != dtype || (result_ != dtype && result_ != WEFT_F32) ||
            (bias_ != dtype && bias_ != WEFT_F32)) {
            unsupported("products of two of a type, into that type or f32");
        }
        // The library adds a bias of the result's type. To another one: a narrow bias is widened,
        // and an f32 bias is added to the product before that is rounded.
        widened_ = bias_ != WEFT_F32 && result_ == WEFT_F32;
        apart_ = bias_ == WEFT_F32 && result_ != WEFT_F32;
        if (count_ > 0 && s.k > 0) {
            const OperandFormats formats = operand_formats(op);
            beside_bytes_ = round_up_to_line(widened_ ? n_ * 4 : apart_ ? count_ * 4 : 0);
            if (formats.scaled()) {
                narrow(s, formats, dtype);
            }
            const bool turn_y = s.transpose_y || formats.scaled();
            const bool turn_x = s.transpose_x && !formats.scaled();
            ProductShape shape =
                product_shape(s, turn_y, turn_x, formats, dtype, apart_ ? WEFT_F32 : result_);
            shape.bias = biased_ && !apart_;
            product_.emplace(shape);
            workspace_bytes_ = beside_bytes_ + (x_ ? x_->workspace_bytes() : 0) +
                               (y_ ? y_->workspace_bytes() : 0) + product_->workspace_bytes();
        }
    }

    weft_status run(const weft_run_args& args) override {
        const Run run(args);
        const Source given{biased_ ? run.in(2) : nullptr, bias_};
        const Target out{run.out(0), result_};
        const float* nothing = nullptr;
        if (!product_) { // sums of no terms
            run.launch(grid_over(count_), finish_rows, count_, n_, nothing, given, out);
            return reported_fault();
        }
        for (const void* operand : {run.in(0), run.in(1), given.data,
                                    static_cast<const void*>(run.out(0))}) {
            if (!aligned_to(operand, kProductAlignment)) {
                return fail(WEFT_BAD_ARGUMENT,
                            "operands of a product must begin at multiples of 16 bytes");
            }
        }
        auto* beside = run.workspace<float>();
        if (widened_) {
            run.launch(grid_over(n_), finish_rows, n_, n_, nothing, given,
                       Target{beside, WEFT_F32});
        }
        ProductArrays arrays{run.in(1), run.in(0),
                             apart_     ? nullptr
                             : widened_ ? beside
                                        : given.data,
                             apart_ ? beside : run.out(0),
                             run.workspace(workspace_bytes_ - product_->workspace_bytes())};
        if (x_) {
            y_->queue(run, run.in(1));
            x_->queue(run, run.in(0));
            arrays.a = y_->numbers(run);
            arrays.b = x_->numbers(run);
            arrays.scale_a = y_->scale(run);
            arrays.scale_b = x_->scale(run);
        }
        product_->run(run.stream(), arrays);
        if (apart_) {
            run.launch(grid_over(count_), finish_rows, count_, n_, beside, given, out);
        }
        return reported_fault();
    }

private:
    /// The library takes 8-bit operands whose summed dimension is the inner one of both.
    void narrow(const MatmulShape& s, const OperandFormats& formats, int dtype) {
        if (s.batch > 1 || s.k % 16 + s.n % 16 != 0 || (s.transpose_x && s.m % 16 != 0)) {
            unsupported(
                "products of 8-bit numbers in batches, or of sizes that 16 does not divide");
        }
        y_.emplace(*formats.y, s.transpose_y ? s.n : s.k, s.transpose_y ? s.k : s.n, !s.transpose_y,
                   dtype, beside_bytes_);
        x_.emplace(*formats.x, s.transpose_x ? s.k : s.m, s.transpose_x ? s.m : s.k, s.transpose_x,
                   dtype, beside_bytes_ + y_->workspace_bytes());
    }

    int result_;
    bool biased_;
    i64 n_, count_;
    int bias_ = WEFT_F32;
    bool widened_ = false;
    bool apart_ = false;
    std::int64_t beside_bytes_ = 0;
    std::optional<EightBitOperand> x_, y_; // both or none
    std::optional<ChosenProduct> product_;
};

} // namespace

ProductShape product_shape(const MatmulShape& s, bool turn_y, bool turn_x,
                           const OperandFormats& formats, int dtype, int result) {
    return {.m = s.n,
            .n = s.m,
            .k = s.k,
            .turn_a = turn_y,
            .turn_b = turn_x,
            .leading_a = turn_y ? s.k : s.n,
            .leading_b = turn_x ? s.m : s.k,
            .leading_c = s.n,
            .batch = s.batch,
            .stride_a = s.shared_y ? 0 : s.k * s.n,
            .stride_b = s.m * s.k,
            .stride_c = s.m * s.n,
            .a = numbers_of(*formats.y, dtype),
            .b = numbers_of(*formats.x, dtype),
            .result = result};
}

Made product_of(const Op& op, const MatmulShape& shape, bool biased) {
    return std::make_unique<MatmulKernel>(op, shape, biased);
}

Made make_matmul(const Op& op) {
    return product_of(op, matmul_shape(op), false);
}

Made make_linear(const Op& op) {
    return product_of(op, linear_shape(op), op.inputs() == 3);
}

} // namespace weft::kernels::cuda
