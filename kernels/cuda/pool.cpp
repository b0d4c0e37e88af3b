// SPDX-License-Identifier: Apache-2.0
// Pooling and its gradients, a thread to an element of the result: each gradient is gathered from
// the windows that hold its pixel, so nothing is added atomically.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/launch.h"
#include "kernels/window_shape.h"

namespace weft::kernels::cuda {

/// An element of [N, H, W, C] or [N, H', W', C].
struct Pixel {
    i64 n, y, x, c;
};

WEFT_DEVICE Pixel pixel_of(i64 i, i64 h, i64 w, i64 c) {
    return {i / (c * w * h), i / (c * w) % h, i / c % w, i % c};
}

/// First and past the last result whose window may hold a pixel, along one dimension.
struct Span {
    i64 first, last;
};
WEFT_DEVICE Span windows_over(i64 at, i64 padding, i64 window, i64 stride, i64 results) {
    const i64 low = at + padding - window + 1;
    const i64 first = low <= 0 ? 0 : (low + stride - 1) / stride;
    const i64 last = (at + padding) / stride + 1;
    return {first, last < results ? last : results};
}

WEFT_KERNEL max_pool_elements(const WindowShape s, i64 count, const Source x, const Target y) {
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        const Pixel p = pixel_of(i, s.out_h, s.out_w, s.c);
        float best = -INFINITY;
        for (i64 ky = 0; ky < s.kh; ++ky) {
            for (i64 kx = 0; kx < s.kw; ++kx) {
                const i64 iy = p.y * s.stride_h - s.top + ky;
                const i64 ix = p.x * s.stride_w - s.left + kx;
                if (iy >= 0 && iy < s.h && ix >= 0 && ix < s.w) {
                    best = larger(load(x, s.image(p.n, iy, ix) + p.c), best);
                }
            }
        }
        store(y, i, best);
    }
}

/// Whether tap (ky, kx) of a window with maximum `best` takes the gradient: the first that equals
/// it, or of NaNs the last.
WEFT_DEVICE bool takes_all(const WindowShape& s, const Source& x, const Pixel& p, i64 oy, i64 ox,
                           float value, float best) {
    const bool is_nan = best != best;
    if (is_nan ? value == value : value != best) {
        return false;
    }
    const i64 tap = (p.y + s.top - oy * s.stride_h) * s.kw + p.x + s.left - ox * s.stride_w;
    for (i64 k = is_nan ? tap + 1 : 0; k < (is_nan ? s.kh * s.kw : tap); ++k) {
        const i64 iy = oy * s.stride_h - s.top + k / s.kw;
        const i64 ix = ox * s.stride_w - s.left + k % s.kw;
        if (iy >= 0 && iy < s.h && ix >= 0 && ix < s.w) {
            const float other = load(x, s.image(p.n, iy, ix) + p.c);
            if (is_nan ? other != other : other == best) {
                return false;
            }
        }
    }
    return true;
}

WEFT_KERNEL max_pool_grad_elements(const WindowShape s, i64 count, const Source x, const Source y,
                                   const Source dy, const Target dx) {
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        const Pixel p = pixel_of(i, s.h, s.w, s.c);
        const Span rows = windows_over(p.y, s.top, s.kh, s.stride_h, s.out_h);
        const Span columns = windows_over(p.x, s.left, s.kw, s.stride_w, s.out_w);
        const float value = load(x, i);
        float sum = 0.0f;
        for (i64 oy = rows.first; oy < rows.last; ++oy) {
            for (i64 ox = columns.first; ox < columns.last; ++ox) {
                const i64 at = s.result(p.n, oy, ox) + p.c;
                sum += takes_all(s, x, p, oy, ox, value, load(y, at)) ? load(dy, at) : 0.0f;
            }
        }
        store(dx, i, sum);
    }
}

WEFT_DEVICE float taps_of(const WindowShape& s, int inside_only, i64 oy, i64 ox) {
    return static_cast<float>(inside_only != 0 ? taps_inside(s, oy, ox) : s.kh * s.kw);
}

WEFT_KERNEL avg_pool_elements(const WindowShape s, int inside_only, i64 count, const Source x,
                              const Target y) {
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        const Pixel p = pixel_of(i, s.out_h, s.out_w, s.c);
        float sum = 0.0f;
        WEFT_ROLLED
        for (i64 ky = 0; ky < s.kh; ++ky) {
            WEFT_ROLLED
            for (i64 kx = 0; kx < s.kw; ++kx) {
                const i64 iy = p.y * s.stride_h - s.top + ky;
                const i64 ix = p.x * s.stride_w - s.left + kx;
                if (iy >= 0 && iy < s.h && ix >= 0 && ix < s.w) {
                    sum += load(x, s.image(p.n, iy, ix) + p.c);
                }
            }
        }
        store(y, i, sum / taps_of(s, inside_only, p.y, p.x));
    }
}

WEFT_KERNEL avg_pool_grad_elements(const WindowShape s, int inside_only, i64 count, const Source dy,
                                   const Target dx) {
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        const Pixel p = pixel_of(i, s.h, s.w, s.c);
        const Span rows = windows_over(p.y, s.top, s.kh, s.stride_h, s.out_h);
        const Span columns = windows_over(p.x, s.left, s.kw, s.stride_w, s.out_w);
        float sum = 0.0f;
        for (i64 oy = rows.first; oy < rows.last; ++oy) {
            for (i64 ox = columns.first; ox < columns.last; ++ox) {
                sum += load(dy, s.result(p.n, oy, ox) + p.c) / taps_of(s, inside_only, oy, ox);
            }
        }
        store(dx, i, sum);
    }
}

Made make_max_pool(const Op& op) {
    const WindowShape s = pool_shape(op, op.input(0), op.output(0));
    const int x = float_dtype(op.input(0));
    const int y = float_dtype(op.output(0));
    const i64 count = element_count(op.output(0));
    return launches([=](const Run& run) {
        run.launch(grid_over(count), max_pool_elements, s, count, Source{run.in(0), x},
                   Target{run.out(0), y});
    });
}

Made make_max_pool_grad(const Op& op) { // x, y, dy -> dx
    const WindowShape s = pool_shape(op, op.input(0), op.input(2));
    require(same_shape(op.input(1), op.input(2)) && same_shape(op.input(0), op.output(0)),
            "y and dy, or x and dx, differ in shape");
    const int x = float_dtype(op.input(0));
    const int y = float_dtype(op.input(1));
    const int dy = float_dtype(op.input(2));
    const int dx = float_dtype(op.output(0));
    const i64 count = element_count(op.output(0));
    return launches([=](const Run& run) {
        run.launch(grid_over(count), max_pool_grad_elements, s, count, Source{run.in(0), x},
                   Source{run.in(1), y}, Source{run.in(2), dy}, Target{run.out(0), dx});
    });
}

Made make_avg_pool(const Op& op) {
    const WindowShape s = pool_shape(op, op.input(0), op.output(0));
    const int inside_only = op.flag("exclude_padding") ? 1 : 0;
    const int x = float_dtype(op.input(0));
    const int y = float_dtype(op.output(0));
    const i64 count = element_count(op.output(0));
    return launches([=](const Run& run) {
        run.launch(grid_over(count), avg_pool_elements, s, inside_only, count, Source{run.in(0), x},
                   Target{run.out(0), y});
    });
}

Made make_avg_pool_grad(const Op& op) { // dy -> dx
    const WindowShape s = pool_shape(op, op.output(0), op.input(0));
    const int inside_only = op.flag("exclude_padding") ? 1 : 0;
    const int dy = float_dtype(op.input(0));
    const int dx = float_dtype(op.output(0));
    const i64 count = element_count(op.output(0));
    return launches([=](const Run& run) {
        run.launch(grid_over(count), avg_pool_grad_elements, s, inside_only, count,
                   Source{run.in(0), dy}, Target{run.out(0), dx});
    });
}

} // namespace weft::kernels::cuda
