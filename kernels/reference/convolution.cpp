// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling in every direction: one walk over (result position, window position)
// pairs that lie inside the image.
#include "kernels/reference/reference_list.h"
#include "kernels/window_shape.h"

#include <algorithm>
#include <cmath>

namespace weft::kernels::reference {
namespace {

/// Calls fn(result offset, window index ky * kw + kx, image offset) in row-major order.
template <class Fn>
void for_each_tap(const WindowShape& s, Fn fn) {
    for (std::int64_t n = 0; n < s.n; ++n) {
        for (std::int64_t oy = 0; oy < s.out_h; ++oy) {
            for (std::int64_t ox = 0; ox < s.out_w; ++ox) {
                for (std::int64_t tap = 0; tap < s.kh * s.kw; ++tap) {
                    const std::int64_t y = oy * s.stride_h - s.top + tap / s.kw;
                    const std::int64_t x = ox * s.stride_w - s.left + tap % s.kw;
                    if (y >= 0 && y < s.h && x >= 0 && x < s.w) {
                        fn(s.result(n, oy, ox), tap, s.image(n, y, x));
                    }
                }
            }
        }
    }
}

std::int64_t images_size(const WindowShape& s) {
    return s.n * s.h * s.w * s.c;
}
std::int64_t results_size(const WindowShape& s) {
    return s.n * s.out_h * s.out_w * s.o;
}

} // namespace

Body make_conv2d(const Op& op) {
    const WindowShape s = conv_shape(op, op.input(0), op.input(1), op.output(0));
    return [=](const Call& call) {
        std::fill_n(call.out(0), results_size(s), 0.0);
        for_each_tap(s, [&](std::int64_t result, std::int64_t tap, std::int64_t image) {
            for (std::int64_t c = 0; c < s.c; ++c) {
                for (std::int64_t o = 0; o < s.o; ++o) {
                    call.out(0)[result + o] +=
                        call.in(0)[image + c] * call.in(1)[(tap * s.c + c) * s.o + o];
                }
            }
        });
        return WEFT_OK;
    };
}

Body make_conv2d_input_grad(const Op& op) { // dy, weight -> dx
    const WindowShape s = conv_shape(op, op.output(0), op.input(1), op.input(0));
    return [=](const Call& call) {
        std::fill_n(call.out(0), images_size(s), 0.0);
        for_each_tap(s, [&](std::int64_t result, std::int64_t tap, std::int64_t image) {
            for (std::int64_t c = 0; c < s.c; ++c) {
                for (std::int64_t o = 0; o < s.o; ++o) {
                    call.out(0)[image + c] +=
                        call.in(0)[result + o] * call.in(1)[(tap * s.c + c) * s.o + o];
                }
            }
        });
        return WEFT_OK;
    };
}

Body make_conv2d_weight_grad(const Op& op) { // x, dy -> dweight
    const WindowShape s = conv_shape(op, op.input(0), op.output(0), op.input(1));
    return [=](const Call& call) {
        std::fill_n(call.out(0), s.kh * s.kw * s.c * s.o, 0.0);
        for_each_tap(s, [&](std::int64_t result, std::int64_t tap, std::int64_t image) {
            for (std::int64_t c = 0; c < s.c; ++c) {
                for (std::int64_t o = 0; o < s.o; ++o) {
                    call.out(0)[(tap * s.c + c) * s.o + o] +=
                        call.in(0)[image + c] * call.in(1)[result + o];
                }
            }
        });
        return WEFT_OK;
    };
}

namespace {

/// Calls fn(result offset, image offset of the first maximum) for every channel of every result.
template <class Fn>
void for_each_maximum(const WindowShape& s, const double* images, Fn fn) {
    for (std::int64_t i = 0; i < s.n * s.out_h * s.out_w; ++i) {
        for (std::int64_t c = 0; c < s.c; ++c) {
            std::int64_t best = -1;
            for (std::int64_t tap = 0; tap < s.kh * s.kw; ++tap) {
                const std::int64_t y = i / s.out_w % s.out_h * s.stride_h - s.top + tap / s.kw;
                const std::int64_t x = i % s.out_w * s.stride_w - s.left + tap % s.kw;
                if (y < 0 || y >= s.h || x < 0 || x >= s.w) {
                    continue;
                }
                const std::int64_t at = s.image(i / s.out_w / s.out_h, y, x) + c;
                const bool wins = best < 0 || images[at] > images[best] || std::isnan(images[at]);
                best = wins ? at : best;
            }
            fn(i * s.c + c, best);
        }
    }
}

/// What divides the sum of the window whose result starts at element `result`.
double window_taps(const WindowShape& s, bool inside_only, std::int64_t result) {
    const std::int64_t place = result / s.c;
    return static_cast<double>(
        inside_only ? taps_inside(s, place / s.out_w % s.out_h, place % s.out_w) : s.kh * s.kw);
}

} // namespace

Body make_max_pool(const Op& op) {
    const WindowShape s = pool_shape(op, op.input(0), op.output(0));
    return [=](const Call& call) {
        for_each_maximum(s, call.in(0), [&](std::int64_t result, std::int64_t image) {
            call.out(0)[result] = call.in(0)[image];
        });
        return WEFT_OK;
    };
}

Body make_max_pool_grad(const Op& op) { // x, y, dy -> dx
    const WindowShape s = pool_shape(op, op.input(0), op.input(2));
    require(same_shape(op.input(1), op.input(2)) && same_shape(op.input(0), op.output(0)),
            "y and dy, or x and dx, differ in shape");
    return [=](const Call& call) {
        std::fill_n(call.out(0), images_size(s), 0.0);
        for_each_maximum(s, call.in(0), [&](std::int64_t result, std::int64_t image) {
            call.out(0)[image] += call.in(2)[result];
        });
        return WEFT_OK;
    };
}

Body make_avg_pool(const Op& op) {
    const WindowShape s = pool_shape(op, op.input(0), op.output(0));
    const bool inside_only = op.flag("exclude_padding");
    return [=](const Call& call) {
        std::fill_n(call.out(0), results_size(s), 0.0);
        for_each_tap(s, [&](std::int64_t result, std::int64_t, std::int64_t image) {
            const double taps = window_taps(s, inside_only, result);
            for (std::int64_t c = 0; c < s.c; ++c) {
                call.out(0)[result + c] += call.in(0)[image + c] / taps;
            }
        });
        return WEFT_OK;
    };
}

Body make_avg_pool_grad(const Op& op) { // dy -> dx
    const WindowShape s = pool_shape(op, op.output(0), op.input(0));
    const bool inside_only = op.flag("exclude_padding");
    return [=](const Call& call) {
        std::fill_n(call.out(0), images_size(s), 0.0);
        for_each_tap(s, [&](std::int64_t result, std::int64_t, std::int64_t image) {
            const double taps = window_taps(s, inside_only, result);
            for (std::int64_t c = 0; c < s.c; ++c) {
                call.out(0)[image + c] += call.in(0)[result + c] / taps;
            }
        });
        return WEFT_OK;
    };
}

} // namespace weft::kernels::reference
