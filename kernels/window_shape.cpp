// SPDX-License-Identifier: Apache-2.0
#include "kernels/window_shape.h"

namespace weft::kernels {
namespace {

/// One number for both directions, or {vertical, horizontal}.
void read_pair(const Op& op, const char* name, std::int64_t& vertical, std::int64_t& horizontal) {
    const Dims pair = op.list(name);
    require(pair.size() == 1 || pair.size() == 2, "a stride or window is not one or two numbers");
    vertical = pair.front();
    horizontal = pair.back();
    require(vertical > 0 && horizontal > 0, "a stride or window is not positive");
}

WindowShape window_shape(const Op& op, const Type& image, const Type& result, std::int64_t kh,
                         std::int64_t kw) {
    require(image.rank == 4 && result.rank == 4, "images are not [N,H,W,C]");
    WindowShape s{};
    s.n = image.shape[0];
    s.h = image.shape[1];
    s.w = image.shape[2];
    s.c = image.shape[3];
    s.out_h = result.shape[1];
    s.out_w = result.shape[2];
    s.o = result.shape[3];
    s.kh = kh;
    s.kw = kw;
    s.stride_h = s.stride_w = 1;
    require(result.shape[0] == s.n, "image and result differ in the number of samples");
    if (op.has("stride")) {
        read_pair(op, "stride", s.stride_h, s.stride_w);
    }
    if (op.has("padding")) {
        const Dims p = op.list("padding");
        require(p.size() == 4, "padding is not top, left, bottom, right");
        s.top = p[0];
        s.left = p[1];
        s.bottom = p[2];
        s.right = p[3];
    }
    require(s.top >= 0 && s.left >= 0 && s.bottom >= 0 && s.right >= 0, "padding is negative");
    const std::int64_t room_h = s.h + s.top + s.bottom - s.kh;
    const std::int64_t room_w = s.w + s.left + s.right - s.kw;
    require(room_h >= 0 && room_w >= 0, "the window is larger than the padded image");
    require(s.out_h == room_h / s.stride_h + 1 && s.out_w == room_w / s.stride_w + 1,
            "the result's size does not follow from window, stride and padding");
    return s;
}

} // namespace

WindowShape conv_shape(const Op& op, const Type& image, const Type& weight, const Type& result) {
    require(weight.rank == 4 && weight.shape[0] > 0 && weight.shape[1] > 0,
            "the weight is not [kh,kw,C,O]");
    const WindowShape s = window_shape(op, image, result, weight.shape[0], weight.shape[1]);
    require(weight.shape[2] == s.c && weight.shape[3] == s.o,
            "the weight's channels are not those of image and result");
    return s;
}

ConvolutionOp convolution_op(const Op& op) {
    if (op.kind() == "conv2d") {
        return {ConvolutionPass::forward, conv_shape(op, op.input(0), op.input(1), op.output(0))};
    }
    if (op.kind() == "conv2d_input_grad") {
        return {ConvolutionPass::input_grad,
                conv_shape(op, op.output(0), op.input(1), op.input(0))};
    }
    return {ConvolutionPass::weight_grad, conv_shape(op, op.input(0), op.output(0), op.input(1))};
}

WindowShape pool_shape(const Op& op, const Type& image, const Type& result) {
    std::int64_t kh = 0;
    std::int64_t kw = 0;
    read_pair(op, "window", kh, kw);
    const WindowShape s = window_shape(op, image, result, kh, kw);
    require(s.o == s.c, "pooling keeps the channels");
    require(s.top < kh && s.bottom < kh && s.left < kw && s.right < kw,
            "padding is as large as the window");
    return s;
}

} // namespace weft::kernels
