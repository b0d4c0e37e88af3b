// SPDX-License-Identifier: Apache-2.0
// Pooling on NHWC images: vectors run over the channels; forward pieces are result rows, backward
// pieces are samples (their windows may overlap, so one thread owns a whole image gradient).
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/loops/simd.h"
#include "kernels/cpu/vectors/avx512.h"
#include "kernels/window_shape.h"

#include <limits>
#include <type_traits>

namespace weft::kernels::cpu {
namespace {

/// The pixels of an image that the window of a result sees.
struct Taps {
    std::int64_t top, bottom, left, right;

    WEFT_INLINE Taps(const WindowShape& s, std::int64_t oy, std::int64_t ox) {
        const std::int64_t y = oy * s.stride_h - s.top;
        const std::int64_t x = ox * s.stride_w - s.left;
        top = y < 0 ? 0 : y;
        bottom = y + s.kh < s.h ? y + s.kh : s.h;
        left = x < 0 ? 0 : x;
        right = x + s.kw < s.w ? x + s.kw : s.w;
    }
};

/// What one pixel of a window gives to its average.
float pixel_share(const WindowShape& s, bool inside_only, std::int64_t oy, std::int64_t ox) {
    return 1.0f / static_cast<float>(inside_only ? taps_inside(s, oy, ox) : s.kh * s.kw);
}

// `image` is that of a sample, `out` a row of its results, `best` and `sums` scratch for C numbers.

template <class T>
WEFT_VECTOR void max_row(const WindowShape& s, const T* image, std::int64_t oy, float* best,
                         T* out) {
    const std::int64_t channels = s.c;
    for (std::int64_t ox = 0; ox < s.out_w; ++ox, out += channels) {
        for (std::int64_t c = 0; c < channels; ++c) {
            best[c] = -std::numeric_limits<float>::infinity();
        }
        const Taps taps(s, oy, ox);
        for (std::int64_t y = taps.top; y < taps.bottom; ++y) {
            for (std::int64_t x = taps.left; x < taps.right; ++x) {
                const T* pixel = image + (y * s.w + x) * channels;
#pragma GCC ivdep
                for (std::int64_t c = 0; c < channels; ++c) {
                    const float value = to_float(pixel[c]);
                    best[c] = (value > best[c]) | (value != value) ? value : best[c]; // NaN wins
                }
            }
        }
#pragma GCC ivdep
        for (std::int64_t c = 0; c < channels; ++c) {
            out[c] = from_float<T>(best[c]);
        }
    }
}

/// The same where there are masks: the compiler's loops end in branches where channels are no
/// multiple of a vector, and which pixel is the largest nobody foresees.
template <class T>
WEFT_AVX512 void max_row_512(const WindowShape& s, const T* image, std::int64_t oy, T* out) {
    for (std::int64_t ox = 0; ox < s.out_w; ++ox, out += s.c) {
        const Taps taps(s, oy, ox);
        for (std::int64_t c = 0; c < s.c; c += 16) {
            const __mmask16 there = lanes(s.c - c);
            __m512 best = _mm512_set1_ps(-std::numeric_limits<float>::infinity());
            for (std::int64_t y = taps.top; y < taps.bottom; ++y) {
                for (std::int64_t x = taps.left; x < taps.right; ++x) {
                    const __m512 value = load_512(image + (y * s.w + x) * s.c + c, there);
                    // Not less or equal: larger, or one of them is NaN, which stays.
                    const __mmask16 taken = _mm512_cmp_ps_mask(value, best, _CMP_NLE_UQ) &
                                            _mm512_cmp_ps_mask(best, best, _CMP_ORD_Q);
                    best = _mm512_mask_mov_ps(best, taken, value);
                }
            }
            store_512(out + c, there, best);
        }
    }
}

template <class T>
WEFT_VECTOR void average_row(const WindowShape& s, bool inside_only, const T* image,
                             std::int64_t oy, float* sums, T* out) {
    const std::int64_t channels = s.c;
    for (std::int64_t ox = 0; ox < s.out_w; ++ox, out += channels) {
        for (std::int64_t c = 0; c < channels; ++c) {
            sums[c] = 0.0f;
        }
        const Taps taps(s, oy, ox);
        for (std::int64_t y = taps.top; y < taps.bottom; ++y) {
            for (std::int64_t x = taps.left; x < taps.right; ++x) {
                const T* pixel = image + (y * s.w + x) * channels;
#pragma GCC ivdep
                for (std::int64_t c = 0; c < channels; ++c) {
                    sums[c] += to_float(pixel[c]);
                }
            }
        }
        const float share = pixel_share(s, inside_only, oy, ox);
#pragma GCC ivdep
        for (std::int64_t c = 0; c < channels; ++c) {
            out[c] = from_float<T>(sums[c] * share);
        }
    }
}

// Of a whole sample; `dx` is zero before.

/// Gives dy to the first pixel of each window whose number is the maximum y. `left` is scratch:
/// what no pixel has got so far.
template <class T>
WEFT_VECTOR void route_gradients(const WindowShape& s, const T* image, const T* y, const T* dy,
                                 float* left, float* dx) {
    const std::int64_t channels = s.c;
    for (std::int64_t oy = 0; oy < s.out_h; ++oy) {
        for (std::int64_t ox = 0; ox < s.out_w; ++ox, y += channels, dy += channels) {
#pragma GCC ivdep
            for (std::int64_t c = 0; c < channels; ++c) {
                left[c] = to_float(dy[c]);
            }
            const Taps taps(s, oy, ox);
            for (std::int64_t row = taps.top; row < taps.bottom; ++row) {
                for (std::int64_t column = taps.left; column < taps.right; ++column) {
                    const T* pixel = image + (row * s.w + column) * channels;
                    float* to = dx + (row * s.w + column) * channels;
#pragma GCC ivdep
                    for (std::int64_t c = 0; c < channels; ++c) {
                        const bool largest = to_float(pixel[c]) == to_float(y[c]);
                        to[c] += largest ? left[c] : 0.0f;
                        left[c] = largest ? 0.0f : left[c];
                    }
                }
            }
        }
    }
}

template <class T>
WEFT_AVX512 void route_gradients_512(const WindowShape& s, const T* image, const T* y, const T* dy,
                                     float* dx) {
    for (std::int64_t oy = 0; oy < s.out_h; ++oy) {
        for (std::int64_t ox = 0; ox < s.out_w; ++ox, y += s.c, dy += s.c) {
            const Taps taps(s, oy, ox);
            for (std::int64_t c = 0; c < s.c; c += 16) {
                const __mmask16 there = lanes(s.c - c);
                const __m512 best = load_512(y + c, there);
                __m512 left = load_512(dy + c, there);
                for (std::int64_t row = taps.top; row < taps.bottom; ++row) {
                    for (std::int64_t column = taps.left; column < taps.right; ++column) {
                        const std::int64_t at = (row * s.w + column) * s.c + c;
                        const __mmask16 largest =
                            _mm512_cmp_ps_mask(load_512(image + at, there), best, _CMP_EQ_OQ);
                        const __m512 before = load_512(dx + at, there);
                        store_512(dx + at, there,
                                  _mm512_mask_add_ps(before, largest, before, left));
                        left = _mm512_maskz_mov_ps(static_cast<__mmask16>(~largest), left);
                    }
                }
            }
        }
    }
}

template <class T>
WEFT_VECTOR void spread_gradients(const WindowShape& s, bool inside_only, const T* dy, float* dx) {
    const std::int64_t channels = s.c;
    for (std::int64_t oy = 0; oy < s.out_h; ++oy) {
        for (std::int64_t ox = 0; ox < s.out_w; ++ox, dy += channels) {
            const Taps taps(s, oy, ox);
            const float share = pixel_share(s, inside_only, oy, ox);
            for (std::int64_t row = taps.top; row < taps.bottom; ++row) {
                for (std::int64_t column = taps.left; column < taps.right; ++column) {
                    float* to = dx + (row * s.w + column) * channels;
#pragma GCC ivdep
                    for (std::int64_t c = 0; c < channels; ++c) {
                        to[c] += to_float(dy[c]) * share;
                    }
                }
            }
        }
    }
}

enum class Pooling { max, average };

class Pool final : public Kernel {
public:
    Pool(const Op& op, Pooling kind)
        : s_(pool_shape(op, op.input(0), op.output(0))), type_(op.input(0).dtype), kind_(kind),
          inside_only_(op.flag("exclude_padding")),
          threads_(team_size()), scratch_{0, round_up_to_line(s_.c * 4)} {
        if (!is_float(type_) || op.output(0).dtype != type_) {
            unsupported("pooling of f32 or bf16 only");
        }
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        if (type_ == WEFT_F32) {
            pool<float>(args);
        } else {
            pool<bf16>(args);
        }
        return WEFT_OK;
    }

private:
    template <class T>
    void pool(const weft_run_args& args) const {
        const std::int64_t work = s_.n * s_.out_h * s_.out_w * s_.c * s_.kh * s_.kw;
        parallel_each(s_.n * s_.out_h, work, threads_, [&](std::int64_t piece, int thread) {
            const std::int64_t n = piece / s_.out_h;
            const std::int64_t oy = piece % s_.out_h;
            const T* image = static_cast<const T*>(args.inputs[0]) + s_.image(n, 0, 0);
            T* out = static_cast<T*>(args.outputs[0]) + s_.result(n, oy, 0);
            float* scratch = scratch_.of(args.workspace, thread);
            if (kind_ == Pooling::max && machine_has_avx512()) {
                max_row_512(s_, image, oy, out);
            } else if (kind_ == Pooling::max) {
                max_row(s_, image, oy, scratch, out);
            } else {
                average_row(s_, inside_only_, image, oy, scratch, out);
            }
        });
    }

    WindowShape s_;
    std::int32_t type_;
    Pooling kind_;
    bool inside_only_;
    int threads_;
    ThreadScratch scratch_;
};

class PoolGrad final : public Kernel { // max: x, y, dy -> dx; average: dy -> dx
public:
    PoolGrad(const Op& op, Pooling kind)
        : s_(pool_shape(op, op.output(0), op.input(kind == Pooling::max ? 2 : 0))),
          type_(op.output(0).dtype), kind_(kind), inside_only_(op.flag("exclude_padding")),
          threads_(team_size()), line_(round_up_to_line(s_.c * 4)) {
        for (int i = 0; i < op.inputs(); ++i) {
            if (!is_float(type_) || op.input(i).dtype != type_) {
                unsupported("pooling of f32 or bf16 only");
            }
        }
        require(kind == Pooling::average ||
                    (same_shape(op.input(1), op.input(2)) && same_shape(op.input(0), op.output(0))),
                "y and dy, or x and dx, differ in shape");
        scratch_.bytes = line_ + (type_ == WEFT_F32 ? 0 : round_up_to_line(image_size() * 4));
        workspace_bytes_ = scratch_.bytes * threads_;
    }

    weft_status run(const weft_run_args& args) override {
        if (type_ == WEFT_F32) {
            differentiate<float>(args);
        } else {
            differentiate<bf16>(args);
        }
        return WEFT_OK;
    }

private:
    std::int64_t image_size() const { return s_.h * s_.w * s_.c; }

    template <class T>
    void differentiate(const weft_run_args& args) const {
        const std::int64_t work = s_.n * s_.out_h * s_.out_w * s_.c * s_.kh * s_.kw;
        const auto input = [&](int i, std::int64_t at) {
            return static_cast<const T*>(args.inputs[i]) + at;
        };
        parallel_each(s_.n, work, threads_, [&](std::int64_t n, int thread) {
            float* scratch = scratch_.of(args.workspace, thread);
            T* out = static_cast<T*>(args.outputs[0]) + s_.image(n, 0, 0);
            float* dx = scratch + line_ / 4;
            if constexpr (std::is_same_v<T, float>) {
                dx = out;
            }
            fill_run(dx, 0.0f, image_size());
            const std::int64_t at = s_.result(n, 0, 0);
            if (kind_ == Pooling::max && machine_has_avx512()) {
                route_gradients_512(s_, input(0, s_.image(n, 0, 0)), input(1, at), input(2, at),
                                    dx);
            } else if (kind_ == Pooling::max) {
                route_gradients(s_, input(0, s_.image(n, 0, 0)), input(1, at), input(2, at),
                                scratch, dx);
            } else {
                spread_gradients(s_, inside_only_, input(0, at), dx);
            }
            if constexpr (!std::is_same_v<T, float>) {
                store_bf16(dx, out, image_size());
            }
        });
    }

    WindowShape s_;
    std::int32_t type_;
    Pooling kind_;
    bool inside_only_;
    int threads_;
    std::int64_t line_;
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
