// SPDX-License-Identifier: Apache-2.0
// The geometry of convolutions and pooling, read once for every back end. Images are NHWC, weights
// [kh, kw, C, O]; padding is {top, left, bottom, right}, zeros for convolutions and average pooling
// (which divides by the whole window, or by what of it lies in the image), never chosen by max
// pooling.
#pragma once

#include "kernels/host_device.h"
#include "kernels/op.h"

namespace weft::kernels {

struct WindowShape {
    std::int64_t n, h, w, c;      // images
    std::int64_t out_h, out_w, o; // results
    std::int64_t kh, kw;          // window
    std::int64_t stride_h, stride_w;
    std::int64_t top, left, bottom, right;

    WEFT_HOST_DEVICE std::int64_t image(std::int64_t sample, std::int64_t y, std::int64_t x) const {
        return ((sample * h + y) * w + x) * c;
    }
    WEFT_HOST_DEVICE std::int64_t result(std::int64_t sample, std::int64_t y,
                                         std::int64_t x) const {
        return ((sample * out_h + y) * out_w + x) * o;
    }
};

/// `image` [N,H,W,C], `weight` [kh,kw,C,O], `result` [N,H',W',O] of a convolution in any direction.
WindowShape conv_shape(const Op& op, const Type& image, const Type& weight, const Type& result);
enum class ConvolutionPass { forward, input_grad, weight_grad };

/// A convolution op in one of its directions: image, weight -> result; result, weight -> image;
/// image, result -> weight.
struct ConvolutionOp {
    ConvolutionPass pass;
    WindowShape window;
};
ConvolutionOp convolution_op(const Op& op);
/// `image` [N,H,W,C] and `result` [N,H',W',C] of pooling in either direction.
WindowShape pool_shape(const Op& op, const Type& image, const Type& result);

/// Pixels of the image under the window of result (oy, ox).
WEFT_HOST_DEVICE inline std::int64_t taps_inside(const WindowShape& s, std::int64_t oy,
                                                 std::int64_t ox) {
    const auto inside = [](std::int64_t first, std::int64_t window, std::int64_t size) {
        const std::int64_t last = first + window < size ? first + window : size;
        return last - (first > 0 ? first : 0);
    };
    return inside(oy * s.stride_h - s.top, s.kh, s.h) * inside(ox * s.stride_w - s.left, s.kw, s.w);
}

} // namespace weft::kernels
