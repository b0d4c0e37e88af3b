// SPDX-License-Identifier: Apache-2.0
// Convolutions as graphs of cuDNN: one operation, and one that stores the f32 sums of a weight's
// gradient where that is wider than the operands.
#include "kernels/cuda/wrappers/dnn.h"

#include "kernels/cuda/wrappers/dnn_plan.h"

#include <algorithm>
#include <array>

namespace weft::kernels::cuda {
namespace {

/// Images as cuDNN counts them, [N,C,H,W], in memory [N,H,W,C]; weights alike, [O,C,kh,kw].
DnnPart channels_last(std::int64_t number, cudnnDataType_t type, std::int64_t n, std::int64_t h,
                      std::int64_t w, std::int64_t c, DnnPlace place = DnnPlace::device) {
    const std::array dims = {n, c, h, w};
    const std::array strides = {h * w * c, std::int64_t{1}, w * c, c};
    return dnn_array(number, type, dims, strides, place);
}

/// Numbers of the arrays, in the order of the op.
struct Roles {
    std::int64_t image, weight, result;
};

Roles roles_of(ConvolutionPass pass) {
    switch (pass) {
    case ConvolutionPass::forward: return {0, 1, 2};
    case ConvolutionPass::input_grad: return {2, 1, 0};
    default: return {0, 2, 1};
    }
}

/// How cuDNN calls the operation of a pass.
struct OperationNames {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t window, image, weight, result, alpha, beta;
};

OperationNames names_of(ConvolutionPass pass) {
    switch (pass) {
    case ConvolutionPass::forward:
        return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case ConvolutionPass::input_grad:
        return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    default:
        return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
    }
}

DnnPart window_part(const WindowShape& s) {
    DnnPart window(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    const std::array strides = {s.stride_h, s.stride_w};
    const std::array before = {s.top, s.left};
    const std::array after = {s.bottom, s.right};
    const std::array dilations = {std::int64_t{1}, std::int64_t{1}};
    window.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
        .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2})
        .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, before)
        .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, after)
        .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, strides)
        .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, dilations);
    return std::move(window).finished();
}

/// Stores `from` as `to`, in the type of that.
DnnPart copied(const DnnPart& from, const DnnPart& to) {
    DnnPart how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_IDENTITY)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
    how = std::move(how).finished();
    DnnPart copy(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    copy.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
    return std::move(copy).finished();
}

DnnPart convolution_graph(const ConvolutionShape& shape) {
    constexpr std::int64_t kSums = 3;
    const WindowShape& s = shape.window;
    const Roles roles = roles_of(shape.pass);
    const cudnnDataType_t type = dnn_type(shape.dtype);
    const bool widened = shape.result != shape.dtype; // of a weight's gradient only
    const DnnPart image = channels_last(roles.image, type, s.n, s.h, s.w, s.c);
    const DnnPart result = channels_last(roles.result, type, s.n, s.out_h, s.out_w, s.o);
    const DnnPart weight =
        widened ? channels_last(kSums, CUDNN_DATA_FLOAT, s.o, s.kh, s.kw, s.c, DnnPlace::nowhere)
                : channels_last(roles.weight, type, s.o, s.kh, s.kw, s.c);
    const OperationNames names = names_of(shape.pass);
    DnnPart operation(names.type);
    operation.set(names.window, window_part(s))
        .set(names.image, image)
        .set(names.weight, weight)
        .set(names.result, result)
        .set(names.alpha, 1.0f)
        .set(names.beta, 0.0f);
    std::vector<DnnPart> operations;
    operations.push_back(std::move(operation).finished());
    if (widened) {
        operations.push_back(copied(
            weight, channels_last(roles.weight, dnn_type(shape.result), s.o, s.kh, s.kw, s.c)));
    }
    DnnPart graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, std::span<const DnnPart>(operations));
    return std::move(graph).finished();
}

/// Room for padded copies of the arrays, which the library makes where channels are odd.
std::int64_t most_workspace(const WindowShape& s) {
    constexpr std::int64_t kAlways = std::int64_t{64} << 20;
    const std::int64_t images = s.n * s.h * s.w * s.c + s.n * s.out_h * s.out_w * s.o;
    return std::max(kAlways, images * 4);
}

/// All that a plan hangs on but the GPU.
std::vector<std::int64_t> convolution_key(const ConvolutionShape& shape) {
    const WindowShape& s = shape.window;
    return {static_cast<std::int64_t>(shape.pass),
            shape.dtype,
            shape.result,
            shape.tf32 ? 1 : 0,
            s.n,
            s.h,
            s.w,
            s.c,
            s.out_h,
            s.out_w,
            s.o,
            s.kh,
            s.kw,
            s.stride_h,
            s.stride_w,
            s.top,
            s.left,
            s.bottom,
            s.right};
}

class DnnConvolution final : public Convolution {
public:
    explicit DnnConvolution(std::shared_ptr<const DnnPlan> plan) : execution_(std::move(plan)) {}

    std::int64_t workspace_bytes() const override { return execution_.workspace_bytes(); }

    void run(weft_stream* stream, const void* first, const void* second, void* to,
             void* workspace) override {
        // The library's operands are not const, though it only reads them.
        const std::array arrays = {const_cast<void*>(first), const_cast<void*>(second), to};
        execution_.run(stream, arrays, workspace);
    }

private:
    DnnExecution execution_;
};

} // namespace

DnnPlan plan_convolution(const ConvolutionShape& shape, const DnnDevice& device) {
    const DnnPart graph = convolution_graph(shape);
    const std::int64_t room = most_workspace(shape.window);
    if (shape.dtype == WEFT_F32 && !shape.tf32) { // its tensor cores round to tf32
        return choose_plan(graph, device, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, room);
    }
    return choose_plan(graph, device, {}, room);
}

std::unique_ptr<Convolution> make_convolution(const ConvolutionShape& shape) {
    return std::make_unique<DnnConvolution>(
        kept_plan(convolution_key(shape),
                  [&](const DnnDevice& device) { return plan_convolution(shape, device); }));
}

} // namespace weft::kernels::cuda
