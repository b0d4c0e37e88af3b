// SPDX-License-Identifier: Apache-2.0
// Batch norm of x [N, P, C]. Statistics are taken in one pass: each thread keeps weight, mean and
// sum of squared distances (Welford 1962), which are merged in order (Chan, Golub, LeVeque 1979).
#include "kernels/cuda/columns.h"
#include "kernels/cuda/cuda_list.h"

namespace weft::kernels::cuda {

struct Moments {
    float weight, mean, squares;
};

WEFT_DEVICE Moments merged_moments(const Moments& a, const Moments& b) {
    const float weight = a.weight + b.weight;
    const float share = weight > 0.0f ? b.weight / weight : 0.0f;
    const float d = b.mean - a.mean;
    return {weight, a.mean + d * share, a.squares + b.squares + d * d * a.weight * share};
}

/// The weight of a row's sample.
WEFT_DEVICE float weight_of(const float* weights, i64 positions, i64 row) {
    return weights != nullptr ? weights[row / positions] : 1.0f;
}

/// 1 / sqrt(variance + eps) of four channels.
WEFT_DEVICE void load_rstds(const ColumnShape& s, const float* variance, float eps, i64 column,
                            float (&to)[kColumnPack]) {
    load_channels(s, variance, column, to);
    WEFT_UNROLL
    for (int k = 0; k < kColumnPack; ++k) {
        to[k] = 1.0f / sqrtf(to[k] + eps);
    }
}

/// Leaves the moments of each chunk: partials[chunk][3][column].
WEFT_KERNEL batch_moments(const ColumnShape s, const Source x, const float* weights, i64 positions,
                          float* partials) {
    WEFT_SHARED(float, scratch, 2 * kColumnRows * kColumnBlock);
    WEFT_SHARED(float, row_weights, kColumnRows);
    const ColumnPlace p = column_place(s);
    float total = 0.0f;
    float means[kColumnPack] = {};
    float squares[kColumnPack] = {};
    for (i64 row = p.first; row < p.end; row += kColumnRows) {
        float values[kColumnPack];
        load_columns(s, x, row, p.column, values);
        const float weight = weight_of(weights, positions, row);
        total += weight;
        const float share = total > 0.0f ? weight / total : 0.0f;
        WEFT_UNROLL
        for (int k = 0; k < kColumnPack; ++k) {
            const float d = values[k] - means[k];
            means[k] += d * share;
            squares[k] += weight * d * (values[k] - means[k]);
        }
    }
    WEFT_UNROLL
    for (int k = 0; k < kColumnPack; ++k) {
        const int at = p.row * kColumnBlock + k * kWarp + p.lane;
        scratch[at] = means[k];
        scratch[kColumnRows * kColumnBlock + at] = squares[k];
    }
    if (p.lane == 0) {
        row_weights[p.row] = total;
    }
    barrier();
    const i64 column = block() * kColumnBlock + thread() % kWarp * kColumnPack + thread() / kWarp;
    if (thread() < kColumnBlock && column < s.width) {
        Moments all{0.0f, 0.0f, 0.0f};
        for (int row = 0; row < kColumnRows; ++row) {
            const int at = row * kColumnBlock + thread();
            all = merged_moments(
                all, {row_weights[row], scratch[at], scratch[kColumnRows * kColumnBlock + at]});
        }
        float* out = partials + block_y() * 3 * s.width + column;
        out[0] = all.weight;
        out[s.width] = all.mean;
        out[2 * s.width] = all.squares;
    }
}

WEFT_KERNEL combine_moments(i64 chunks, i64 width, const float* partials, float* mean,
                            float* variance) {
    for (i64 c = block() * threads() + thread(); c < width; c += blocks() * threads()) {
        Moments all{0.0f, 0.0f, 0.0f};
        for (i64 chunk = 0; chunk < chunks; ++chunk) {
            const float* part = partials + chunk * 3 * width + c;
            all = merged_moments(all, {part[0], part[width], part[2 * width]});
        }
        mean[c] = all.mean;
        variance[c] = all.weight > 0.0f ? all.squares / all.weight : 0.0f;
    }
}

WEFT_KERNEL batch_normalize(const ColumnShape s, const Source x, const float* scale,
                            const float* shift, const float* mean, const float* variance, float eps,
                            const Target y) {
    const ColumnPlace p = column_place(s);
    float scales[kColumnPack];
    float shifts[kColumnPack];
    float means[kColumnPack];
    float rstds[kColumnPack];
    load_channels(s, scale, p.column, scales);
    load_channels(s, shift, p.column, shifts);
    load_channels(s, mean, p.column, means);
    load_rstds(s, variance, eps, p.column, rstds);
    for (i64 row = p.first; row < p.end; row += kColumnRows) {
        float values[kColumnPack];
        load_columns(s, x, row, p.column, values);
        WEFT_UNROLL
        for (int k = 0; k < kColumnPack; ++k) {
            values[k] = (values[k] - means[k]) * rstds[k] * scales[k] + shifts[k];
        }
        store_columns(s, y, row, p.column, values);
    }
}

/// Sums of dy and of dy u with u = (x - mean) rstd, by chunk.
WEFT_KERNEL batch_grad_sums(const ColumnShape s, const Source x, const float* mean,
                            const float* variance, float eps, const Source dy, float* sums,
                            float* dots) {
    WEFT_SHARED(float, scratch, kColumnRows* kColumnBlock);
    const ColumnPlace p = column_place(s);
    float means[kColumnPack];
    float rstds[kColumnPack];
    load_channels(s, mean, p.column, means);
    load_rstds(s, variance, eps, p.column, rstds);
    float sum[kColumnPack] = {};
    float dot[kColumnPack] = {};
    for (i64 row = p.first; row < p.end; row += kColumnRows) {
        float values[kColumnPack];
        float grads[kColumnPack];
        load_columns(s, x, row, p.column, values);
        load_columns(s, dy, row, p.column, grads);
        WEFT_UNROLL
        for (int k = 0; k < kColumnPack; ++k) {
            sum[k] += grads[k];
            dot[k] += grads[k] * ((values[k] - means[k]) * rstds[k]);
        }
    }
    leave_sums(s, p, sum, scratch, sums);
    leave_sums(s, p, dot, scratch, dots);
}

/// share = 1 / (positions * sum of weights), 0 where nothing counts; one warp.
WEFT_KERNEL batch_share(const float* weights, i64 samples, i64 positions, float* share) {
    float total = 0.0f;
    for (i64 n = thread(); n < samples; n += threads()) {
        total += weights != nullptr ? weights[n] : 1.0f;
    }
    total = warp_sum(total) * static_cast<float>(positions);
    if (thread() == 0) {
        share[0] = total > 0.0f ? 1.0f / total : 0.0f;
    }
}

/// dx = scale rstd (dy - w (sum(dy) + u sum(dy u))), w the sample's share of all weights.
WEFT_KERNEL batch_input_grad(const ColumnShape s, const Source x, const float* scale,
                             const float* mean, const float* variance, float eps, const Source dy,
                             const float* weights, i64 positions, const float* share,
                             const float* dscale, const float* dshift, const Target dx) {
    const ColumnPlace p = column_place(s);
    float scales[kColumnPack];
    float means[kColumnPack];
    float rstds[kColumnPack];
    float dots[kColumnPack];
    float sums[kColumnPack];
    load_channels(s, scale, p.column, scales);
    load_channels(s, mean, p.column, means);
    load_rstds(s, variance, eps, p.column, rstds);
    load_channels(s, dscale, p.column, dots);
    load_channels(s, dshift, p.column, sums);
    for (i64 row = p.first; row < p.end; row += kColumnRows) {
        float values[kColumnPack];
        float grads[kColumnPack];
        load_columns(s, x, row, p.column, values);
        load_columns(s, dy, row, p.column, grads);
        const float w = weight_of(weights, positions, row) * share[0];
        WEFT_UNROLL
        for (int k = 0; k < kColumnPack; ++k) {
            const float u = (values[k] - means[k]) * rstds[k];
            values[k] = scales[k] * rstds[k] * (grads[k] - w * (sums[k] + u * dots[k]));
        }
        store_columns(s, dx, row, p.column, values);
    }
}

namespace {

struct BatchOp {
    i64 samples, positions;
    ColumnShape shape;
    int x;
    bool weighted;

    BatchOp(const Op& op, int weights)
        : samples(op.input(0).rank >= 1 ? op.input(0).shape[0] : 0),
          positions(samples > 0 ? row_count(op.input(0)) / samples : 0),
          shape(column_shape(row_count(op.input(0)), last_dim(op.input(0)))),
          x(float_dtype(op.input(0))), weighted(op.inputs() > weights) {
        require(op.input(0).rank >= 2, "batch norm takes [N, ..., C]");
        if (weighted) {
            require(element_count(op.input(weights)) == samples, "weights are not [N]");
            want_dtype(op.input(weights), WEFT_F32);
        }
    }
    void want_channels(const Type& type) const {
        require(element_count(type) == shape.width, "a channel vector is not [C]");
        want_dtype(type, WEFT_F32);
    }
};

const float* read_floats(const Run& run, int i) {
    return static_cast<const float*>(run.in(i));
}
float* written_floats(const Run& run, int i) {
    return static_cast<float*>(run.out(i));
}

} // namespace

Made make_batch_norm(const Op& op) { // x, scale, shift, weights? -> y, mean, variance
    const BatchOp b(op, 3);
    for (const int i : {1, 2}) {
        b.want_channels(op.input(i));
        b.want_channels(op.output(i));
    }
    require(same_shape(op.input(0), op.output(0)), "batch_norm keeps the shape");
    const int y = float_dtype(op.output(0));
    const auto eps = static_cast<float>(op.real("eps"));
    return launches(3 * b.shape.chunks * b.shape.width * 4, [=](const Run& run) {
        const ColumnShape s = column_shape(b.shape, {run.in(0), run.out(0)});
        const Source x{run.in(0), b.x};
        float* partials = run.workspace<float>();
        run.launch(column_grid(s), batch_moments, s, x, b.weighted ? read_floats(run, 3) : nullptr,
                   b.positions, partials);
        run.launch(grid_over(s.width), combine_moments, s.chunks, s.width, partials,
                   written_floats(run, 1), written_floats(run, 2));
        run.launch(column_grid(s), batch_normalize, s, x, read_floats(run, 1), read_floats(run, 2),
                   written_floats(run, 1), written_floats(run, 2), eps, Target{run.out(0), y});
    });
}

Made make_batch_norm_grad(
    const Op& op) { // x, scale, mean, variance, dy, weights? -> dx, dscale, dshift
    const BatchOp b(op, 5);
    for (const int i : {1, 2, 3}) {
        b.want_channels(op.input(i));
    }
    b.want_channels(op.output(1));
    b.want_channels(op.output(2));
    require(same_shape(op.input(0), op.input(4)) && same_shape(op.input(0), op.output(0)),
            "x, dy and dx differ in shape");
    const int dy_type = float_dtype(op.input(4));
    const int dx_type = float_dtype(op.output(0));
    const auto eps = static_cast<float>(op.real("eps"));
    const std::int64_t bytes = partial_bytes(b.shape);
    return launches(2 * bytes + 64, [=](const Run& run) {
        const ColumnShape s = column_shape(b.shape, {run.in(0), run.in(4), run.out(0)});
        const Source x{run.in(0), b.x};
        const Source dy{run.in(4), dy_type};
        const float* weights = b.weighted ? read_floats(run, 5) : nullptr;
        float* sums = run.workspace<float>();
        float* dots = run.workspace<float>(bytes);
        float* share = run.workspace<float>(2 * bytes);
        run.launch(column_grid(s), batch_grad_sums, s, x, read_floats(run, 2), read_floats(run, 3),
                   eps, dy, sums, dots);
        combine_partials(run, s, dots, written_floats(run, 1));
        combine_partials(run, s, sums, written_floats(run, 2));
        run.launch(Grid{1, 1, kWarp}, batch_share, weights, b.samples, b.positions, share);
        run.launch(column_grid(s), batch_input_grad, s, x, read_floats(run, 1), read_floats(run, 2),
                   read_floats(run, 3), eps, dy, weights, b.positions, share,
                   written_floats(run, 1), written_floats(run, 2), Target{run.out(0), dx_type});
    });
}

Made make_batch_norm_inference(const Op& op) { // x, scale, shift, mean, variance -> y
    const BatchOp b(op, 5);
    for (const int i : {1, 2, 3, 4}) {
        b.want_channels(op.input(i));
    }
    require(same_shape(op.input(0), op.output(0)), "batch_norm_inference keeps the shape");
    const int y = float_dtype(op.output(0));
    const auto eps = static_cast<float>(op.real("eps"));
    return launches([=](const Run& run) {
        const ColumnShape s = column_shape(b.shape, {run.in(0), run.out(0)});
        run.launch(column_grid(s), batch_normalize, s, Source{run.in(0), b.x}, read_floats(run, 1),
                   read_floats(run, 2), read_floats(run, 3), read_floats(run, 4), eps,
                   Target{run.out(0), y});
    });
}

} // namespace weft::kernels::cuda
