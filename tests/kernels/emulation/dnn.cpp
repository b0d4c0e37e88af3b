// SPDX-License-Identifier: Apache-2.0
// Convolutions on the host, with the rules that cuDNN has for its arguments (its documentation,
// "Convolution functions" and "Supported graph patterns"; tests/kernels/vendor asks the library).
#include "kernels/cuda/wrappers/dnn.h"

#include "kernels/numbers.h"
#include "tests/kernels/emulation/machine.h"

#include <vector>

namespace weft::kernels::cuda {
namespace {

double number_at(const void* data, std::int32_t dtype, std::int64_t i) {
    switch (dtype) {
    case WEFT_F32: return static_cast<double>(static_cast<const float*>(data)[i]);
    case WEFT_BF16: return static_cast<double>(to_float(static_cast<const bf16*>(data)[i]));
    default: return static_cast<double>(to_float(static_cast<const f16*>(data)[i]));
    }
}

class HostConvolution final : public Convolution {
public:
    explicit HostConvolution(const ConvolutionShape& shape) : shape_(shape) {
        const WindowShape& s = shape.window;
        require(s.n > 0 && s.c > 0 && s.o > 0 && s.out_h > 0 && s.out_w > 0,
                "a dimension of a convolution is not positive");
        // Sums are stored in another type by engines that are compiled when they are planned. Those
        // read 16 bytes at once; of other channels only some shapes have one.
        if (shape.result != shape.dtype) {
            require(shape.pass == ConvolutionPass::weight_grad, "a widened image or result");
            if (s.c % 8 != 0 || s.o % 8 != 0) {
                unsupported("widened sums of channels that are no multiple of 8");
            }
        }
    }

    std::int64_t workspace_bytes() const override { return 64; }

    void run(weft_stream* stream, const void* first, const void* second, void* to,
             void* workspace) override {
        for (const void* pointer :
             {first, second, static_cast<const void*>(to), static_cast<const void*>(workspace)}) {
            require(reinterpret_cast<std::uintptr_t>(pointer) % kDnnAlignment == 0,
                    "an operand is not aligned to 16 bytes");
        }
        test::queue_work(stream, [=, this] { convolve(first, second, to); });
    }

private:
    void convolve(const void* first, const void* second, void* to) const {
        std::vector<double> sums(static_cast<std::size_t>(result_count()), 0.0);
        const WindowShape& s = shape_.window;
        for (std::int64_t n = 0; n < s.n; ++n) {
            for (std::int64_t oy = 0; oy < s.out_h; ++oy) {
                for (std::int64_t ox = 0; ox < s.out_w; ++ox) {
                    add_window(n, oy, ox, first, second, sums);
                }
            }
        }
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const auto number = static_cast<float>(sums[i]);
            switch (shape_.result) {
            case WEFT_F32: static_cast<float*>(to)[i] = number; break;
            case WEFT_BF16: static_cast<bf16*>(to)[i] = to_bf16(number); break;
            default: static_cast<f16*>(to)[i] = to_f16(number); break;
            }
        }
    }

    std::int64_t result_count() const {
        const WindowShape& s = shape_.window;
        switch (shape_.pass) {
        case ConvolutionPass::forward: return s.n * s.out_h * s.out_w * s.o;
        case ConvolutionPass::input_grad: return s.n * s.h * s.w * s.c;
        default: return s.o * s.kh * s.kw * s.c;
        }
    }

    void add_window(std::int64_t n, std::int64_t oy, std::int64_t ox, const void* first,
                    const void* second, std::vector<double>& sums) const {
        const WindowShape& s = shape_.window;
        for (std::int64_t tap = 0; tap < s.kh * s.kw; ++tap) {
            const std::int64_t y = oy * s.stride_h - s.top + tap / s.kw;
            const std::int64_t x = ox * s.stride_w - s.left + tap % s.kw;
            if (y < 0 || y >= s.h || x < 0 || x >= s.w) {
                continue;
            }
            for (std::int64_t o = 0; o < s.o; ++o) {
                for (std::int64_t c = 0; c < s.c; ++c) {
                    const std::int64_t image = s.image(n, y, x) + c;
                    const std::int64_t weight = (o * s.kh * s.kw + tap) * s.c + c;
                    add(image, weight, s.result(n, oy, ox) + o, first, second, sums);
                }
            }
        }
    }

    void add(std::int64_t image, std::int64_t weight, std::int64_t result, const void* first,
             const void* second, std::vector<double>& sums) const {
        const bool forward = shape_.pass == ConvolutionPass::forward;
        const bool to_weight = shape_.pass == ConvolutionPass::weight_grad;
        const std::int64_t a = forward || to_weight ? image : result;
        const std::int64_t b = to_weight ? result : weight;
        const std::int64_t out = forward ? result : to_weight ? weight : image;
        sums[static_cast<std::size_t>(out)] +=
            number_at(first, shape_.dtype, a) * number_at(second, shape_.dtype, b);
    }

    ConvolutionShape shape_;
};

} // namespace

std::unique_ptr<Convolution> make_convolution(const ConvolutionShape& shape) {
    return std::make_unique<HostConvolution>(shape);
}

} // namespace weft::kernels::cuda
