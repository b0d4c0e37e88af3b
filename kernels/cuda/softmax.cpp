// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/largest_of_row.h"
#include "kernels/cuda/row_launch.h"

namespace weft::kernels::cuda {

WEFT_WIDE_KERNEL softmax_rows(const RowShape s, const Source x, const Target y) {
    WEFT_SHARED(float, totals, kWarp);
    const RowPlace p = row_place(s);
    if (p.row >= s.rows) { // a whole warp: no barrier is missed
        return;
    }
    const i64 start = p.row * s.width;
    float values[kRowTile];
    const float max = largest_of_row(s, p, x, values, totals);
    float sum = 0.0f;
    WEFT_ROLLED
    for (int pass = 1; pass < 3; ++pass) {
        WEFT_ROLLED
        for (i64 tile = 0; tile < p.tiles; ++tile) {
            if (reads(p, pass)) {
                load_tile(s, p, x, start, tile, -INFINITY, values);
            }
            WEFT_UNROLL
            for (int k = 0; k < kRowTile; ++k) {
                if (pass == 1) {
                    values[k] = expf(values[k] - max);
                    sum += column_of(p, tile, k) < s.width ? values[k] : 0.0f;
                } else {
                    values[k] = (p.tiles > 1 ? expf(values[k] - max) : values[k]) / sum;
                }
            }
            if (pass == 2) {
                store_tile(s, p, y, start, tile, values);
            }
        }
        if (pass == 1) {
            sum = row_sum(p, sum, totals);
        }
    }
}

/// dx = y (dy - sum(y dy))
WEFT_WIDE_KERNEL softmax_grad_rows(const RowShape s, const Source y, const Source dy,
                                   const Target dx) {
    WEFT_SHARED(float, totals, kWarp);
    const RowPlace p = row_place(s);
    if (p.row >= s.rows) {
        return;
    }
    const i64 start = p.row * s.width;
    float values[kRowTile];
    float grads[kRowTile];
    float sum = 0.0f;
    WEFT_ROLLED
    for (int pass = 0; pass < 2; ++pass) {
        WEFT_ROLLED
        for (i64 tile = 0; tile < p.tiles; ++tile) {
            if (reads(p, pass)) {
                load_tile(s, p, y, start, tile, 0.0f, values);
                load_tile(s, p, dy, start, tile, 0.0f, grads);
            }
            WEFT_UNROLL
            for (int k = 0; k < kRowTile; ++k) {
                if (pass == 0) {
                    sum += values[k] * grads[k];
                } else {
                    grads[k] = values[k] * (grads[k] - sum);
                }
            }
            if (pass == 1) {
                store_tile(s, p, dx, start, tile, grads);
            }
        }
        if (pass == 0) {
            sum = row_sum(p, sum, totals);
        }
    }
}

Made make_softmax(const Op& op) {
    require(op.input(0).rank >= 1 && same_shape(op.input(0), op.output(0)),
            "softmax keeps the shape");
    const i64 rows = row_count(op.input(0));
    const i64 width = last_dim(op.input(0));
    const int x = float_dtype(op.input(0));
    const int y = float_dtype(op.output(0));
    return launches([=](const Run& run) {
        const RowShape s = row_shape(rows, width, {run.in(0), run.out(0)});
        run.launch(row_grid(s), softmax_rows, s, Source{run.in(0), x}, Target{run.out(0), y});
    });
}

Made make_softmax_grad(const Op& op) {
    require(op.input(0).rank >= 1 && same_shape(op.input(0), op.output(0)) &&
                same_shape(op.input(0), op.input(1)),
            "softmax_grad keeps the shape");
    const i64 rows = row_count(op.input(0));
    const i64 width = last_dim(op.input(0));
    const int y = float_dtype(op.input(0));
    const int dy = float_dtype(op.input(1));
    const int dx = float_dtype(op.output(0));
    return launches([=](const Run& run) {
        const RowShape s = row_shape(rows, width, {run.in(0), run.in(1), run.out(0)});
        run.launch(row_grid(s), softmax_grad_rows, s, Source{run.in(0), y}, Source{run.in(1), dy},
                   Target{run.out(0), dx});
    });
}

} // namespace weft::kernels::cuda
