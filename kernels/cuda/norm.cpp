// SPDX-License-Identifier: Apache-2.0
// Layer norm and RMS norm and what flows back to their inputs; a row is read once where a block
// holds it in registers. Their parameters' gradients are sums over rows: param_grad.cpp.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/row_launch.h"

namespace weft::kernels::cuda {

WEFT_WIDE_KERNEL layer_norm_rows(const RowShape s, const Source x, const float* scale,
                                 const float* shift, float eps, const Target y, float* means,
                                 float* rstds) {
    WEFT_SHARED(float, totals, kWarp);
    const RowPlace p = row_place(s);
    if (p.row >= s.rows) { // a whole warp: no barrier is missed
        return;
    }
    const i64 start = p.row * s.width;
    const float width = static_cast<float>(s.width);
    float values[kRowTile];
    float mean = 0.0f;
    float rstd = 0.0f;
    WEFT_ROLLED
    for (int pass = 0; pass < 3; ++pass) {
        float sum = 0.0f;
        WEFT_ROLLED
        for (i64 tile = 0; tile < p.tiles; ++tile) {
            if (reads(p, pass)) {
                load_tile(s, p, x, start, tile, 0.0f, values);
            }
            WEFT_UNROLL
            for (int k = 0; k < kRowTile; ++k) {
                const i64 c = column_of(p, tile, k);
                if (pass == 0) {
                    sum += values[k];
                } else if (pass == 1) {
                    const float d = c < s.width ? values[k] - mean : 0.0f;
                    sum += d * d;
                } else if (c < s.width) {
                    values[k] = (values[k] - mean) * rstd * scale[c] + shift[c];
                }
            }
            if (pass == 2) {
                store_tile(s, p, y, start, tile, values);
            }
        }
        if (pass == 0) {
            mean = row_sum(p, sum, totals) / width;
        } else if (pass == 1) {
            rstd = 1.0f / sqrtf(row_sum(p, sum, totals) / width + eps);
        }
    }
    if (p.lane == 0) {
        means[p.row] = mean;
        rstds[p.row] = rstd;
    }
}

WEFT_WIDE_KERNEL rms_norm_rows(const RowShape s, const Source x, const float* scale, float eps,
                               const Target y, float* rstds) {
    WEFT_SHARED(float, totals, kWarp);
    const RowPlace p = row_place(s);
    if (p.row >= s.rows) {
        return;
    }
    const i64 start = p.row * s.width;
    float values[kRowTile];
    float rstd = 0.0f;
    WEFT_ROLLED
    for (int pass = 0; pass < 2; ++pass) {
        float sum = 0.0f;
        WEFT_ROLLED
        for (i64 tile = 0; tile < p.tiles; ++tile) {
            if (reads(p, pass)) {
                load_tile(s, p, x, start, tile, 0.0f, values);
            }
            WEFT_UNROLL
            for (int k = 0; k < kRowTile; ++k) {
                const i64 c = column_of(p, tile, k);
                if (pass == 0) {
                    sum += values[k] * values[k];
                } else if (c < s.width) {
                    values[k] = values[k] * rstd * scale[c];
                }
            }
            if (pass == 1) {
                store_tile(s, p, y, start, tile, values);
            }
        }
        if (pass == 0) {
            rstd = 1.0f / sqrtf(row_sum(p, sum, totals) / static_cast<float>(s.width) + eps);
        }
    }
    if (p.lane == 0) {
        rstds[p.row] = rstd;
    }
}

/// With u = (x - mean) rstd and g = dy scale: dx = rstd (g - mean(g) - u mean(g u)). RMS norm has
/// no means, and no mean(g).
WEFT_WIDE_KERNEL norm_input_grad_rows(const RowShape s, const Source x, const float* scale,
                                      const float* means, const float* rstds, const Source dy,
                                      const Target dx) {
    WEFT_SHARED(float, totals, kWarp);
    const RowPlace p = row_place(s);
    if (p.row >= s.rows) {
        return;
    }
    const i64 start = p.row * s.width;
    const float mean = means != nullptr ? means[p.row] : 0.0f;
    const float rstd = rstds[p.row];
    float u[kRowTile];
    float g[kRowTile];
    float sum = 0.0f;
    float dot = 0.0f;
    WEFT_ROLLED
    for (int pass = 0; pass < 2; ++pass) {
        WEFT_ROLLED
        for (i64 tile = 0; tile < p.tiles; ++tile) {
            if (reads(p, pass)) {
                load_tile(s, p, x, start, tile, 0.0f, u);
                load_tile(s, p, dy, start, tile, 0.0f, g);
                WEFT_UNROLL
                for (int k = 0; k < kRowTile; ++k) {
                    // 32 bits: with 64 the kernel needs a register more than it has. No row is so long.
                    const int c = static_cast<int>(column_of(p, tile, k));
                    u[k] = (u[k] - mean) * rstd;
                    g[k] = c < static_cast<int>(s.width) ? g[k] * scale[c] : 0.0f;
                }
            }
            WEFT_UNROLL
            for (int k = 0; k < kRowTile; ++k) {
                if (pass == 0) {
                    sum += g[k];
                    dot += g[k] * u[k];
                } else {
                    g[k] = rstd * (g[k] - sum - u[k] * dot);
                }
            }
            if (pass == 1) {
                store_tile(s, p, dx, start, tile, g);
            }
        }
        if (pass == 0) {
            sum = means != nullptr ? row_sum(p, sum, totals) / static_cast<float>(s.width) : 0.0f;
            dot = row_sum(p, dot, totals) / static_cast<float>(s.width);
        }
    }
}

namespace {

/// x [..., C] and what goes with its rows and channels, as f32.
struct NormOp {
    i64 rows, width;
    int x;

    explicit NormOp(const Op& op)
        : rows(row_count(op.input(0))), width(last_dim(op.input(0))), x(float_dtype(op.input(0))) {
        require(op.input(0).rank >= 1, "norms take [..., C]");
    }
    void want_channels(const Type& type) const {
        require(element_count(type) == width, "a channel vector is not [C]");
        want_dtype(type, WEFT_F32);
    }
    void want_rows(const Type& type) const {
        require(element_count(type) == rows, "row statistics are not [...]");
        want_dtype(type, WEFT_F32);
    }
};

const float* floats(const void* data) {
    return static_cast<const float*>(data);
}
float* floats(void* data) {
    return static_cast<float*>(data);
}

Made input_grad(const Op& op, bool centred) { // x, scale, mean?, rstd, dy -> dx
    const NormOp n(op);
    const int rstd = centred ? 3 : 2;
    n.want_channels(op.input(1));
    for (int i = 2; i <= rstd; ++i) {
        n.want_rows(op.input(i));
    }
    require(same_shape(op.input(0), op.input(rstd + 1)) && same_shape(op.input(0), op.output(0)),
            "x, dy and dx differ in shape");
    const int dy = float_dtype(op.input(rstd + 1));
    const int dx = float_dtype(op.output(0));
    return launches([=](const Run& run) {
        const RowShape s = row_shape(n.rows, n.width, {run.in(0), run.in(rstd + 1), run.out(0)});
        run.launch(row_grid(s), norm_input_grad_rows, s, Source{run.in(0), n.x}, floats(run.in(1)),
                   centred ? floats(run.in(2)) : nullptr, floats(run.in(rstd)),
                   Source{run.in(rstd + 1), dy}, Target{run.out(0), dx});
    });
}

} // namespace

Made make_layer_norm(const Op& op) {
    const NormOp n(op);
    n.want_channels(op.input(1));
    n.want_channels(op.input(2));
    n.want_rows(op.output(1));
    n.want_rows(op.output(2));
    require(same_shape(op.input(0), op.output(0)), "layer_norm keeps the shape");
    const int y = float_dtype(op.output(0));
    const auto eps = static_cast<float>(op.real("eps"));
    return launches([=](const Run& run) {
        const RowShape s = row_shape(n.rows, n.width, {run.in(0), run.out(0)});
        run.launch(row_grid(s), layer_norm_rows, s, Source{run.in(0), n.x}, floats(run.in(1)),
                   floats(run.in(2)), eps, Target{run.out(0), y}, floats(run.out(1)),
                   floats(run.out(2)));
    });
}

Made make_layer_norm_input_grad(const Op& op) {
    return input_grad(op, true);
}

Made make_rms_norm(const Op& op) {
    const NormOp n(op);
    n.want_channels(op.input(1));
    n.want_rows(op.output(1));
    require(same_shape(op.input(0), op.output(0)), "rms_norm keeps the shape");
    const int y = float_dtype(op.output(0));
    const auto eps = static_cast<float>(op.real("eps"));
    return launches([=](const Run& run) {
        const RowShape s = row_shape(n.rows, n.width, {run.in(0), run.out(0)});
        run.launch(row_grid(s), rms_norm_rows, s, Source{run.in(0), n.x}, floats(run.in(1)), eps,
                   Target{run.out(0), y}, floats(run.out(1)));
    });
}

Made make_rms_norm_input_grad(const Op& op) {
    return input_grad(op, false);
}

} // namespace weft::kernels::cuda
