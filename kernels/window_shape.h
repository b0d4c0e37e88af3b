// SPDX-License-Identifier: Apache-2.0
// The geometry of convolutions and pooling, read once for every back end. Images are NHWC, weights
// [kh, kw, C, O]; padding is {top, left, bottom, right}, zeros for convolutions and average pooling
// (which always divides by the whole window), never chosen by max pooling.
#pragma once

#include "kernels/op.h"

namespace weft::kernels {

struct WindowShape {
    std::int64_t n, h, w, c;      // images
    std::int64_t out_h, out_w, o; // results
    std::int64_t kh, kw;          // window
    std::int64_t stride_h, stride_w;
    std::int64_t top, left, bottom, right;

    std::int64_t image(std::int64_t sample, std::int64_t y, std::int64_t x) const {
        return ((sample * h + y) * w + x) * c;
    }
    std::int64_t result(std::int64_t sample, std::int64_t y, std::int64_t x) const {
        return ((sample * out_h + y) * out_w + x) * o;
    }
};

/// `image` [N,H,W,C], `weight` [kh,kw,C,O], `result` [N,H',W',O] of a convolution in any direction.
WindowShape conv_shape(const Op& op, const Type& image, const Type& weight, const Type& result);
/// `image` [N,H,W,C] and `result` [N,H',W',C] of pooling in either direction.
WindowShape pool_shape(const Op& op, const Type& image, const Type& result);

} // namespace weft::kernels
