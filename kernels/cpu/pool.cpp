// SPDX-License-Identifier: Apache-2.0
// Pooling on NHWC images: vectors run over the channels; forward pieces are result rows, backward
// pieces are samples (their windows may overlap, so one thread owns a whole image gradient).
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/loops/simd.h"
#include "kernels/window_shape.h"

#include <limits>

namespace weft::kernels::cpu {
namespace {

WEFT_VECTOR void max_into(float* best, const float* x, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t c = 0; c < count; ++c) {
        best[c] = (x[c] > best[c]) | (x[c] != x[c]) ? x[c] : best[c]; // NaN wins
    }
}

/// Gives what is left of dy to the channels whose x is the maximum y.
WEFT_VECTOR void route_gradient(const float* x, const float* y, float* left, float* dx,
                                std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t c = 0; c < count; ++c) {
        const float share = x[c] == y[c] ? left[c] : 0.0f;
        dx[c] += share;
        left[c] = x[c] == y[c] ? 0.0f : left[c];
    }
}

/// Calls fn(y, x) for the image positions under the window of result (oy, ox), in row-major order.
template <class Fn>
void for_each_tap(const WindowShape& s, std::int64_t oy, std::int64_t ox, const Fn& fn) {
    const std::int64_t y0 = oy * s.stride_h - s.top;
    const std::int64_t x0 = ox * s.stride_w - s.left;
    for (std::int64_t y = std::max<std::int64_t>(y0, 0); y < std::min(y0 + s.kh, s.h); ++y) {
        for (std::int64_t x = std::max<std::int64_t>(x0, 0); x < std::min(x0 + s.kw, s.w); ++x) {
            fn(y, x);
        }
    }
}

enum class Pooling { max, average };

/// What one pixel of a window gives to its average.
float pixel_share(const WindowShape& s, bool inside_only, std::int64_t oy, std::int64_t ox) {
    return 1.0f / static_cast<float>(inside_only ? taps_inside(s, oy, ox) : s.kh * s.kw);
}

class Pool final : public Kernel {
public:
    Pool(const Op& op, Pooling kind)
        : s_(pool_shape(op, op.input(0), op.output(0))), type_(op.input(0).dtype), kind_(kind),
          inside_only_(op.flag("exclude_padding")), threads_(team_size()),
          line_(round_up_to_line(s_.c * 4)), scratch_{0, 2 * line_} {
        if (!is_float(type_) || op.output(0).dtype != type_) {
            unsupported("pooling of f32 or bf16 only");
        }
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const std::int64_t work = s_.n * s_.out_h * s_.out_w * s_.c * s_.kh * s_.kw;
        parallel_each(s_.n * s_.out_h, work, threads_, [&](std::int64_t piece, int thread) {
            float* best = scratch_.of(args.workspace, thread);
            for (std::int64_t ox = 0; ox < s_.out_w; ++ox) {
                one(args, piece / s_.out_h, piece % s_.out_h, ox, best);
            }
        });
        return WEFT_OK;
    }

private:
    void one(const weft_run_args& args, std::int64_t n, std::int64_t oy, std::int64_t ox,
             float* result) const {
        const bool max = kind_ == Pooling::max;
        fill_run(result, max ? -std::numeric_limits<float>::infinity() : 0.0f, s_.c);
        for_each_tap(s_, oy, ox, [&](std::int64_t y, std::int64_t x) {
            const float* pixel = as_floats(element(args.inputs[0], type_, s_.image(n, y, x)), type_,
                                           result + line_ / 4, s_.c);
            if (max) {
                max_into(result, pixel, s_.c);
            } else {
                add_run(result, pixel, s_.c);
            }
        });
        if (!max) {
            scale_run(result, pixel_share(s_, inside_only_, oy, ox), s_.c);
        }
        store_run(type_)(result, element(args.outputs[0], type_, s_.result(n, oy, ox)), s_.c);
    }

    WindowShape s_;
    std::int32_t type_;
    Pooling kind_;
    bool inside_only_;
    int threads_;
    std::int64_t line_;
    ThreadScratch scratch_;
};

class PoolGrad final : public Kernel { // max: x, y, dy -> dx; average: dy -> dx
public:
    PoolGrad(const Op& op, Pooling kind)
        : s_(pool_shape(op, op.output(0), op.input(kind == Pooling::max ? 2 : 0))),
          type_(op.output(0).dtype), kind_(kind), inside_only_(op.flag("exclude_padding")),
          threads_(team_size()), line_(round_up_to_line(s_.c * 4)),
          image_(round_up_to_line(s_.h * s_.w * s_.c * 4)), scratch_{0, 3 * line_ + image_} {
        for (int i = 0; i < op.inputs(); ++i) {
            if (!is_float(type_) || op.input(i).dtype != type_) {
                unsupported("pooling of f32 or bf16 only");
            }
        }
        require(kind == Pooling::average ||
                    (same_shape(op.input(1), op.input(2)) && same_shape(op.input(0), op.output(0))),
                "y and dy, or x and dx, differ in shape");
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        const std::int64_t work = s_.n * s_.out_h * s_.out_w * s_.c * s_.kh * s_.kw;
        parallel_each(s_.n, work, threads_, [&](std::int64_t n, int thread) {
            float* scratch = scratch_.of(args.workspace, thread);
            float* dx = scratch + 3 * line_ / 4;
            fill_run(dx, 0.0f, s_.h * s_.w * s_.c);
            for (std::int64_t i = 0; i < s_.out_h * s_.out_w; ++i) {
                one(args, n, i / s_.out_w, i % s_.out_w, scratch, dx);
            }
            store_run(type_)(dx, element(args.outputs[0], type_, s_.image(n, 0, 0)),
                             s_.h * s_.w * s_.c);
        });
        return WEFT_OK;
    }

private:
    void one(const weft_run_args& args, std::int64_t n, std::int64_t oy, std::int64_t ox,
             float* left, float* dx) const {
        const std::int64_t at = s_.result(n, oy, ox);
        const bool max = kind_ == Pooling::max;
        load_run(type_)(element(args.inputs[max ? 2 : 0], type_, at), left, s_.c);
        if (!max) {
            scale_run(left, pixel_share(s_, inside_only_, oy, ox), s_.c);
            for_each_tap(s_, oy, ox, [&](std::int64_t y, std::int64_t x) {
                add_run(dx + (y * s_.w + x) * s_.c, left, s_.c);
            });
            return;
        }
        const float* best =
            as_floats(element(args.inputs[1], type_, at), type_, left + line_ / 4, s_.c);
        for_each_tap(s_, oy, ox, [&](std::int64_t y, std::int64_t x) {
            const float* pixel = as_floats(element(args.inputs[0], type_, s_.image(n, y, x)), type_,
                                           left + line_ / 2, s_.c);
            route_gradient(pixel, best, left, dx + (y * s_.w + x) * s_.c, s_.c);
        });
    }

    WindowShape s_;
    std::int32_t type_;
    Pooling kind_;
    bool inside_only_;
    int threads_;
    std::int64_t line_, image_;
    ThreadScratch scratch_;
};

} // namespace

Made make_max_pool(const Op& op) {
    return std::make_unique<Pool>(op, Pooling::max);
}

Made make_avg_pool(const Op& op) {
    return std::make_unique<Pool>(op, Pooling::average);
}

Made make_max_pool_grad(const Op& op) {
    return std::make_unique<PoolGrad>(op, Pooling::max);
}

Made make_avg_pool_grad(const Op& op) {
    return std::make_unique<PoolGrad>(op, Pooling::average);
}

} // namespace weft::kernels::cpu
