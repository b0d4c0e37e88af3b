// SPDX-License-Identifier: Apache-2.0
// Convolutions of f32 and bf16 on AVX-512, as products over the windows: a row of the left operand
// is what one window sees, moved together while it is packed.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/vectors/vector_block.h"
#include "kernels/cpu/vectors/vector_packing.h"
#include "kernels/cpu/vectors/vector_product.h"
#include "kernels/window_shape.h"

#include <algorithm>

namespace weft::kernels::cpu {
namespace {

/// What windows see of an image, in the order of a weight [kh, kw, C]: a run of kw C numbers for
/// each row of a window.
template <class T>
class Windows {
public:
    Windows(const WindowShape& s, const void* image)
        : s_(s), image_(static_cast<const T*>(image)), run_(s.kw * s.c) {}

    /// A window, which can go to the next one.
    struct Place {
        std::int64_t sample, y, x; // of the results
    };
    Place place(std::int64_t number) const {
        return {number / (s_.out_h * s_.out_w), number / s_.out_w % s_.out_h, number % s_.out_w};
    }
    void go_on(Place& place) const {
        if (++place.x == s_.out_w) {
            place.x = 0;
            if (++place.y == s_.out_h) {
                place.y = 0;
                ++place.sample;
            }
        }
    }

    /// Numbers `first` to before `first + count` of a window, and up to a vector of rubbish behind.
    WEFT_AVX512 void see(const Place& place, std::int64_t first, std::int64_t count,
                         float* to) const {
        const std::int64_t left = place.x * s_.stride_w - s_.left;
        const std::int64_t begin =
            std::max<std::int64_t>(-left, 0) * s_.c; // of a run, in the image
        const std::int64_t end = std::min(s_.kw, s_.w - left) * s_.c;
        const std::int64_t top = place.y * s_.stride_h - s_.top;
        const T* sample = image_ + (place.sample * s_.h * s_.w + left) * s_.c;
        for (std::int64_t row = first / run_, at = first % run_; count > 0; ++row, at = 0) {
            const std::int64_t here = std::min(run_ - at, count);
            const std::int64_t y = top + row;
            if (y < 0 || y >= s_.h) {
                clear_run(here, to);
            } else if (at >= begin && at + here <= end) {
                widen_run(sample + y * s_.w * s_.c + at, here, to);
            } else {
                const std::int64_t from = std::clamp(begin - at, std::int64_t{0}, here);
                const std::int64_t until = std::clamp(end - at, from, here);
                clear_run(from, to);
                widen_run(sample + y * s_.w * s_.c + at + from, until - from, to + from);
                clear_run(here - until, to + until);
            }
            to += here;
            count -= here;
        }
    }

    /// The same numbers of `windows` from `number` on, as rows of a packed left operand.
    void see_rows(std::int64_t number, std::int64_t windows, std::int64_t first, std::int64_t count,
                  float* to) const {
        Place place = this->place(number);
        for (std::int64_t w = 0; w < windows; ++w) {
            see(place, first, count, to + w * kLeftRow);
            go_on(place);
        }
    }

    /// Numbers `first` to before `first + count`, at most kBlockRows, of `depth` windows from
    /// `number` on, each a step of a turned block.
    WEFT_AVX512 void see_turned(std::int64_t number, std::int64_t depth, std::int64_t first,
                                std::int64_t count, float* to) const {
        // Of windows whose x is in between, these numbers lie in the image, in one row.
        const std::int64_t at = first % run_;
        const bool together = at + count <= run_;
        const std::int64_t low = up(s_.left - at / s_.c, s_.stride_w);
        const std::int64_t high = up(s_.w + s_.left - (at + count - 1) / s_.c, s_.stride_w);
        const __mmask16 there = lanes(count);
        Place place = this->place(number);
        for (const float* const end = to + depth * kTurnedRow; to < end;) {
            const std::int64_t y = place.y * s_.stride_h - s_.top + first / run_;
            if (!together || place.x < low || place.x >= high || y < 0 || y >= s_.h) {
                float seen[kBlockRows + kVector];
                see(place, first, count, seen);
                _mm512_storeu_ps(to, _mm512_loadu_ps(seen));
                to += kTurnedRow;
                go_on(place);
                continue;
            }
            const std::int64_t x = place.x * s_.stride_w - s_.left;
            const T* from = image_ + ((place.sample * s_.h + y) * s_.w + x) * s_.c + at;
            const std::int64_t windows =
                std::min(std::min(high, s_.out_w) - place.x, (end - to) / kTurnedRow);
            for (std::int64_t w = 0; w < windows; ++w) {
                _mm512_storeu_ps(to, load_512(from, there));
                to += kTurnedRow;
                from += s_.stride_w * s_.c;
            }
            place.x += windows - 1;
            go_on(place);
        }
    }

private:
    /// value / by, towards the larger integer.
    static std::int64_t up(std::int64_t value, std::int64_t by) {
        return value > 0 ? (value + by - 1) / by : -(-value / by);
    }

    WEFT_AVX512 WEFT_INLINE static void clear_run(std::int64_t count, float* to) {
        for (std::int64_t i = 0; i < count; i += kVector) {
            _mm512_storeu_ps(to + i, _mm512_setzero_ps());
        }
    }

    WindowShape s_;
    const T* image_;
    std::int64_t run_;
};

/// image, weight -> result: windows by rows.
template <class T>
class Forward final : public ProductOperands {
public:
    Forward(const WindowShape& s, const void* image, const void* weight)
        : windows_(s, image), weight_{static_cast<const T*>(weight), s.o} {}

    void left(std::int64_t row, std::int64_t rows, std::int64_t step, std::int64_t depth,
              float* to) const override {
        windows_.see_rows(row, rows, step, depth, to);
    }

    void right(std::int64_t column, std::int64_t columns, std::int64_t step, std::int64_t depth,
               float* to) const override {
        pack_right(weight_.part(step, column), columns, {0, depth, depth}, to);
    }

private:
    Windows<T> windows_;
    Rows<T> weight_;
};

/// result, weight -> image, where windows lie one pixel apart: what an image's pixel gave to
/// results is a window of them, seen from the other side.
template <class T>
class InputGrad final : public ProductOperands {
public:
    InputGrad(const WindowShape& s, const void* result, const void* weight)
        : s_(s), windows_(turned(s), result), weight_(static_cast<const T*>(weight)) {}

    static WindowShape turned(const WindowShape& s) {
        return {s.n,
                s.out_h,
                s.out_w,
                s.o,
                s.h,
                s.w,
                s.c,
                s.kh,
                s.kw,
                1,
                1,
                s.kh - 1 - s.top,
                s.kw - 1 - s.left,
                s.kh - 1 - s.bottom,
                s.kw - 1 - s.right};
    }

    void left(std::int64_t row, std::int64_t rows, std::int64_t step, std::int64_t depth,
              float* to) const override {
        windows_.see_rows(row, rows, step, depth, to);
    }

    void right(std::int64_t column, std::int64_t columns, std::int64_t step, std::int64_t depth,
               float* to) const override {
        for (std::int64_t done = 0; done < depth;) {
            const std::int64_t at = step + done;
            const std::int64_t tap = s_.kh * s_.kw - 1 - at / s_.o;
            const std::int64_t channel = at % s_.o; // of the results
            const std::int64_t count = std::min(s_.o - channel, depth - done);
            const T* from = weight_ + (tap * s_.c + column) * s_.o + channel;
            pack_right_turned(Rows<T>{from, s_.o}, columns, {done, count, depth}, to);
            done += count;
        }
    }

private:
    WindowShape s_;
    Windows<T> windows_;
    const T* weight_;
};

/// image, result -> weight: windows by steps.
template <class T>
class WeightGrad final : public ProductOperands {
public:
    WeightGrad(const WindowShape& s, const void* image, const void* result)
        : windows_(s, image), result_{static_cast<const T*>(result), s.o} {}

    void left(std::int64_t row, std::int64_t rows, std::int64_t step, std::int64_t depth,
              float* to) const override {
        for (std::int64_t r = 0; r < rows; r += kBlockRows) {
            windows_.see_turned(step, depth, row + r, std::min(rows - r, kBlockRows), to);
            to += depth * kTurnedRow;
        }
    }

    void right(std::int64_t column, std::int64_t columns, std::int64_t step, std::int64_t depth,
               float* to) const override {
        pack_right(result_.part(step, column), columns, {0, depth, depth}, to);
    }

private:
    Windows<T> windows_;
    Rows<T> result_;
};

template <template <class> class Operands>
class VectorConvolution final : public Kernel {
public:
    VectorConvolution(const Op& op, const WindowShape& s, const VectorProduct& product)
        : s_(s), in_(op.input(0).dtype), product_(product) {
        workspace_bytes_ = product_.workspace_bytes();
    }

    weft_status run(const weft_run_args& args) override {
        const VectorProduct::Results results{nullptr, args.outputs[0]};
        if (in_ == WEFT_F32) {
            product_.run(Operands<float>(s_, args.inputs[0], args.inputs[1]), results,
                         args.workspace);
        } else {
            product_.run(Operands<bf16>(s_, args.inputs[0], args.inputs[1]), results,
                         args.workspace);
        }
        return WEFT_OK;
    }

private:
    WindowShape s_;
    std::int32_t in_;
    VectorProduct product_;
};

template <template <class> class Operands>
Made convolve(const Op& op, const WindowShape& s, std::int64_t m, std::int64_t k, std::int64_t n,
              bool left_turned) {
    require_vectors(op);
    if (m * k * n == 0) {
        unsupported("an empty convolution");
    }
    const VectorProduct product{m, k, n, left_turned, op.output(0).dtype == WEFT_BF16, team_size()};
    return std::make_unique<VectorConvolution<Operands>>(op, s, product);
}

/// What is seen of an image with few channels costs more to move than to multiply.
void require_large_windows(const Op& op, const Type& weight) {
    constexpr std::int64_t kLeast = 32; // numbers
    if (weight.rank == 4 && element_count(weight) < kLeast * weight.shape[3]) {
        unsupported("small windows");
    }
    require_vectors_win(op);
}

} // namespace

Made make_any_vector_conv2d(const Op& op) {
    const WindowShape s = conv_shape(op, op.input(0), op.input(1), op.output(0));
    return convolve<Forward>(op, s, s.n * s.out_h * s.out_w, s.kh * s.kw * s.c, s.o, false);
}

Made make_any_vector_conv2d_input_grad(const Op& op) { // dy, weight -> dx
    const WindowShape s = conv_shape(op, op.output(0), op.input(1), op.input(0));
    if (s.stride_h != 1 || s.stride_w != 1) {
        unsupported("windows more than a pixel apart");
    }
    return convolve<InputGrad>(op, s, s.n * s.h * s.w, s.kh * s.kw * s.o, s.c, false);
}

Made make_any_vector_conv2d_weight_grad(const Op& op) { // x, dy -> dweight
    const WindowShape s = conv_shape(op, op.input(0), op.output(0), op.input(1));
    return convolve<WeightGrad>(op, s, s.kh * s.kw * s.c, s.n * s.out_h * s.out_w, s.o, true);
}

Made make_vector_conv2d(const Op& op) {
    require_large_windows(op, op.input(1));
    return make_any_vector_conv2d(op);
}

Made make_vector_conv2d_input_grad(const Op& op) {
    require_large_windows(op, op.input(1));
    return make_any_vector_conv2d_input_grad(op);
}

Made make_vector_conv2d_weight_grad(const Op& op) {
    require_large_windows(op, op.output(0));
    return make_any_vector_conv2d_weight_grad(op);
}

} // namespace weft::kernels::cpu
