// SPDX-License-Identifier: Apache-2.0
// Gradients of scale and shift of layer norm and RMS norm: sums over rows.
#include "kernels/cuda/columns.h"
#include "kernels/cuda/cuda_list.h"

namespace weft::kernels::cuda {

WEFT_KERNEL norm_param_grad_columns(const ColumnShape s, const Source x, const float* means,
                                    const float* rstds, const Source dy, float* dscale,
                                    float* dshift) {
    WEFT_SHARED(float, scratch, kColumnRows* kColumnBlock);
    const ColumnPlace p = column_place(s);
    float scales[kColumnPack] = {};
    float shifts[kColumnPack] = {};
    for (i64 row = p.first; row < p.end; row += kColumnRows) {
        float values[kColumnPack];
        float grads[kColumnPack];
        load_columns(s, x, row, p.column, values);
        load_columns(s, dy, row, p.column, grads);
        const float mean = means != nullptr ? means[row] : 0.0f;
        const float rstd = rstds[row];
        WEFT_UNROLL
        for (int k = 0; k < kColumnPack; ++k) {
            scales[k] += grads[k] * ((values[k] - mean) * rstd);
            shifts[k] += grads[k];
        }
    }
    leave_sums(s, p, scales, scratch, dscale);
    if (dshift != nullptr) {
        leave_sums(s, p, shifts, scratch, dshift);
    }
}

WEFT_KERNEL combine_columns(i64 chunks, i64 width, const float* partials, float* out) {
    for (i64 c = block() * threads() + thread(); c < width; c += blocks() * threads()) {
        float sum = 0.0f;
        for (i64 chunk = 0; chunk < chunks; ++chunk) {
            sum += partials[chunk * width + c];
        }
        out[c] = sum;
    }
}

void combine_partials(const Run& run, const ColumnShape& s, const float* partials, float* out) {
    run.launch(grid_over(s.width), combine_columns, s.chunks, s.width, partials, out);
}

namespace {

Made param_grad(const Op& op, bool centred) { // x, mean?, rstd, dy -> dscale, dshift?
    const int rstd = centred ? 2 : 1;
    const int x = float_dtype(op.input(0));
    const int dy = float_dtype(op.input(rstd + 1));
    const ColumnShape shape = column_shape(row_count(op.input(0)), last_dim(op.input(0)));
    for (int i = 1; i <= rstd; ++i) {
        require(element_count(op.input(i)) == shape.rows, "row statistics are not [...]");
        want_dtype(op.input(i), WEFT_F32);
    }
    require(same_shape(op.input(0), op.input(rstd + 1)), "x and dy differ in shape");
    for (int o = 0; o < op.outputs(); ++o) {
        require(element_count(op.output(o)) == shape.width, "a channel vector is not [C]");
        want_dtype(op.output(o), WEFT_F32);
    }
    const std::int64_t bytes = partial_bytes(shape);
    return launches(bytes * op.outputs(), [=](const Run& run) {
        const ColumnShape s = column_shape(shape, {run.in(0), run.in(rstd + 1)});
        float* scales = run.workspace<float>();
        float* shifts = centred ? run.workspace<float>(bytes) : nullptr;
        run.launch(column_grid(s), norm_param_grad_columns, s, Source{run.in(0), x},
                   centred ? static_cast<const float*>(run.in(1)) : nullptr,
                   static_cast<const float*>(run.in(rstd)), Source{run.in(rstd + 1), dy}, scales,
                   shifts);
        combine_partials(run, s, scales, static_cast<float*>(run.out(0)));
        if (centred) {
            combine_partials(run, s, shifts, static_cast<float*>(run.out(1)));
        }
    });
}

} // namespace

Made make_layer_norm_param_grad(const Op& op) {
    return param_grad(op, true);
}

Made make_rms_norm_param_grad(const Op& op) {
    return param_grad(op, false);
}

} // namespace weft::kernels::cuda
