// SPDX-License-Identifier: Apache-2.0
// Products with what follows them, by the library in one sweep, or by a kernel of our own behind
// the product where the library has none for the sizes or types.
#include "kernels/cuda/chosen_product.h"
#include "kernels/cuda/columns.h"
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/elementwise_functions.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/move.h"

namespace weft::kernels::cuda {

WEFT_KERNEL gelu_of_product(i64 count, const Source before, const Target to) {
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        store(to, i, ew_gelu(load(before, i)));
    }
}

WEFT_KERNEL gelu_grad_of_product(i64 count, const Source at, const Source product,
                                 const Target to) {
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        store(to, i, ew_gelu_grad(load(at, i), load(product, i)));
    }
}

WEFT_KERNEL sum_columns(const ColumnShape s, const Source from, float* partials) {
    WEFT_SHARED(float, scratch, kColumnRows* kColumnBlock);
    const ColumnPlace p = column_place(s);
    float sums[kColumnPack] = {};
    for (i64 row = p.first; row < p.end; row += kColumnRows) {
        float values[kColumnPack];
        load_columns(s, from, row, p.column, values);
        WEFT_UNROLL
        for (int k = 0; k < kColumnPack; ++k) {
            sums[k] += values[k];
        }
    }
    leave_sums(s, p, sums, scratch, partials);
}

namespace {

/// The product with `after`; null where the library has none.
std::unique_ptr<ChosenProduct> product_with(const Op& op, const MatmulShape& s, bool biased,
                                            After after) {
    const OperandFormats formats = operand_formats(op);
    const int dtype = float_dtype(op.input(0));
    const int result = float_dtype(op.output(0));
    const bool plain = op.input(1).dtype == dtype && (result == dtype || result == WEFT_F32) &&
                       (!biased || op.input(2).dtype == result);
    if (formats.scaled() || !plain || s.batch * s.m * s.n * s.k == 0) {
        return nullptr;
    }
    ProductShape shape = product_shape(s, s.transpose_y, s.transpose_x, formats, dtype, result);
    shape.bias = biased;
    shape.after = after;
    try {
        return std::make_unique<ChosenProduct>(shape);
    } catch (const Failure& failure) {
        if (failure.status != WEFT_UNSUPPORTED) {
            throw;
        }
        return nullptr;
    }
}

weft_status unaligned() {
    return fail(WEFT_BAD_ARGUMENT, "operands of a product must begin at multiples of 16 bytes");
}

bool all_aligned(std::initializer_list<const void*> arrays) {
    return std::all_of(arrays.begin(), arrays.end(),
                       [](const void* array) { return aligned_to(array, kProductAlignment); });
}

/// One of two ways: a product of the library's that does all, or a product and then `follow`.
class ProductAndMore : public Kernel {
protected:
    ProductAndMore(const Op& op, const MatmulShape& s, bool biased, After after,
                   std::int64_t more_bytes)
        : both_(product_with(op, s, biased, after)) {
        if (both_ != nullptr) {
            workspace_bytes_ = both_->workspace_bytes();
        } else {
            product_ = product_of(op, s, biased);
            workspace_bytes_ = std::max(product_->workspace_bytes(), more_bytes);
        }
    }

    std::unique_ptr<ChosenProduct> both_;
    Made product_; // null where there is `both_`
};

class LinearGelu final : public ProductAndMore {
public:
    explicit LinearGelu(const Op& op)
        : ProductAndMore(op, linear_shape(op), op.inputs() == 3, After::gelu, 0),
          biased_(op.inputs() == 3), count_(element_count(op.output(0))),
          dtype_(float_dtype(op.output(0))) {
        require(same_shape(op.output(0), op.output(1)) && op.output(1).dtype == dtype_,
                "the outputs are not both [..., N]");
    }

    weft_status run(const weft_run_args& args) override {
        const Run run(args);
        if (both_ != nullptr) {
            const void* bias = biased_ ? run.in(2) : nullptr;
            if (!all_aligned({run.in(0), run.in(1), bias, run.out(0), run.out(1)})) {
                return unaligned();
            }
            ProductArrays arrays{run.in(1), run.in(0), bias, run.out(0), run.workspace()};
            arrays.aside = run.out(1);
            both_->run(run.stream(), arrays);
            return reported_fault();
        }
        weft_run_args before = args; // the product is the second output
        before.outputs = args.outputs + 1;
        const weft_status status = product_->run(before);
        run.launch(grid_over(count_), gelu_of_product, count_, Source{run.out(1), dtype_},
                   Target{run.out(0), dtype_});
        return status != WEFT_OK ? status : reported_fault();
    }

private:
    bool biased_;
    i64 count_;
    int dtype_;
};

class MatmulGeluGrad final : public ProductAndMore {
public:
    explicit MatmulGeluGrad(const Op& op)
        : ProductAndMore(op, matmul_shape(op), false, After::gelu_grad, 0),
          count_(element_count(op.output(0))), dtype_(float_dtype(op.output(0))) {
        require(same_shape(op.input(2), op.output(0)) && op.input(2).dtype == dtype_,
                "x is not [..., M, N]");
    }

    weft_status run(const weft_run_args& args) override {
        const Run run(args);
        if (both_ != nullptr) {
            if (!all_aligned({run.in(0), run.in(1), run.in(2), run.out(0)})) {
                return unaligned();
            }
            ProductArrays arrays{run.in(1), run.in(0), nullptr, run.out(0), run.workspace()};
            arrays.aside = const_cast<void*>(run.in(2)); // only read
            both_->run(run.stream(), arrays);
            return reported_fault();
        }
        const weft_status status = product_->run(args);
        run.launch(grid_over(count_), gelu_grad_of_product, count_, Source{run.in(2), dtype_},
                   Source{run.out(0), dtype_}, Target{run.out(0), dtype_});
        return status != WEFT_OK ? status : reported_fault();
    }

private:
    i64 count_;
    int dtype_;
};

/// The sum is brought to where the result goes, unless it lies there.
class MatmulAdd final : public Kernel {
public:
    MatmulAdd(const Op& op, const MatmulShape& s, const ProductShape& shape)
        : product_(shape), box_(whole(s.batch * s.m * s.n, dtype_size(op.output(0).dtype))) {
        workspace_bytes_ = product_.workspace_bytes();
    }

    weft_status run(const weft_run_args& args) override {
        const Run run(args);
        if (!all_aligned({run.in(0), run.in(1), run.out(0)})) {
            return unaligned();
        }
        if (run.in(2) != run.out(0)) {
            move_box(run, box_, run.in(2), run.out(0));
        }
        product_.run(run.stream(), {run.in(1), run.in(0), nullptr, run.out(0), run.workspace()});
        return reported_fault();
    }

private:
    static Box whole(i64 count, i64 size) { return merged({size, {count}, {size}, {size}}); }

    ChosenProduct product_;
    Box box_;
};

class MatmulSums final : public ProductAndMore {
public:
    MatmulSums(const Op& op, const ColumnShape& columns)
        : ProductAndMore(op, matmul_sums_shape(op), false, After::sums, partial_bytes(columns)),
          columns_(columns), dtype_(float_dtype(op.input(1))) {
        want_dtype(op.output(1), WEFT_F32);
    }

    weft_status run(const weft_run_args& args) override {
        const Run run(args);
        if (both_ != nullptr) {
            if (!all_aligned({run.in(0), run.in(1), run.out(0), run.out(1)})) {
                return unaligned();
            }
            ProductArrays arrays{run.in(1), run.in(0), nullptr, run.out(0), run.workspace()};
            arrays.sums = run.out(1);
            both_->run(run.stream(), arrays);
            return reported_fault();
        }
        const weft_status status = product_->run(args);
        const ColumnShape s = column_shape(columns_, {run.in(1)});
        auto* partials = run.workspace<float>();
        run.launch(column_grid(s), sum_columns, s, Source{run.in(1), dtype_}, partials);
        combine_partials(run, s, partials, static_cast<float*>(run.out(1)));
        return status != WEFT_OK ? status : reported_fault();
    }

private:
    ColumnShape columns_;
    int dtype_;
};

} // namespace

Made make_linear_gelu(const Op& op) {
    return std::make_unique<LinearGelu>(op);
}

Made make_matmul_gelu_grad(const Op& op) {
    return std::make_unique<MatmulGeluGrad>(op);
}

Made make_matmul_add(const Op& op) {
    require(same_shape(op.input(2), op.output(0)), "what is added to is not [..., M, N]");
    const MatmulShape s = matmul_shape(op);
    const OperandFormats formats = operand_formats(op);
    const int dtype = float_dtype(op.input(0));
    const int result = float_dtype(op.output(0));
    if (formats.scaled() || op.input(1).dtype != dtype || op.input(2).dtype != result ||
        (result != dtype && result != WEFT_F32) || s.batch * s.m * s.n * s.k == 0) {
        unsupported("products of two of a type, added to that type or f32");
    }
    ProductShape shape = product_shape(s, s.transpose_y, s.transpose_x, formats, dtype, result);
    shape.adds = true;
    return std::make_unique<MatmulAdd>(op, s, shape);
}

Made make_matmul_sums(const Op& op) {
    const MatmulShape s = matmul_sums_shape(op);
    if (op.output(0).dtype != WEFT_F32) {
        unsupported("sums of a type other than the product's");
    }
    return std::make_unique<MatmulSums>(op, column_shape(s.k, s.n));
}

} // namespace weft::kernels::cuda
