// SPDX-License-Identifier: Apache-2.0
// Convolutions on oneDNN. Images stay NHWC; weights are brought into the format that the chosen
// implementation wants (and weight gradients back out of it), which costs little beside the
// convolution itself.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/strided_copy.h"
#include "kernels/cpu/onednn.h"
#include "kernels/window_shape.h"

namespace weft::kernels::cpu {
namespace {

using Desc = dnnl::memory::desc;
using Sizes = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;
using dnnl::algorithm;

/// oneDNN names dimensions N,C,H,W and O,I,H,W; tags say how they lie in memory.
struct ConvDescs {
    Sizes image, weight, result, strides, before, after;

    explicit ConvDescs(const WindowShape& s)
        : image{s.n, s.c, s.h, s.w}, weight{s.o, s.c, s.kh, s.kw}, result{s.n, s.o, s.out_h,
                                                                          s.out_w},
          strides{s.stride_h, s.stride_w}, before{s.top, s.left}, after{s.bottom, s.right} {
        if (s.n * s.h * s.w * s.c * s.o * s.out_h * s.out_w == 0) {
            unsupported("an empty convolution");
        }
    }
};

dnnl::convolution_forward::primitive_desc forward_desc(const ConvDescs& d, Desc image, Desc weight,
                                                       Desc result) {
    return {dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training,
                                            algorithm::convolution_direct, image, weight, result,
                                            d.strides, d.before, d.after),
            onednn_attributes(), cpu_engine()};
}

/// `from` itself, or a converted copy in the workspace.
Buffer converted(OneDnnKernel& kernel, const Desc& have, Buffer from, const Desc& want) {
    if (have == want) {
        return from;
    }
    const Buffer copy = kernel.scratch(want);
    kernel.add_reorder(have, from, want, copy);
    return copy;
}

/// The gradient of the weight, of the type `weight_type`: x, dy -> dweight.
Made weight_grad(const ConvDescs& d, dnnl::memory::data_type type,
                 dnnl::memory::data_type result_type, dnnl::memory::data_type weight_type) {
    return with_onednn([&]() -> Made {
        const Desc image(d.image, type, Tag::nhwc);
        const Desc result(d.result, result_type, Tag::nhwc);
        const auto hint = forward_desc(d, image, Desc(d.weight, type, Tag::any), result);
        const dnnl::convolution_backward_weights::primitive_desc found(
            dnnl::convolution_backward_weights::desc(algorithm::convolution_direct, image,
                                                     Desc(d.weight, weight_type, Tag::any), result,
                                                     d.strides, d.before, d.after),
            onednn_attributes(), cpu_engine(), hint);
        auto kernel = std::make_unique<OneDnnKernel>();
        const Desc plain(d.weight, weight_type, Tag::hwio);
        const Desc chosen = found.diff_weights_desc();
        const Buffer weight = chosen == plain ? Buffer::output(0) : kernel->scratch(chosen);
        kernel->add(dnnl::convolution_backward_weights(found), found.scratchpad_desc(),
                    {{DNNL_ARG_SRC, image, Buffer::input(0)},
                     {DNNL_ARG_DIFF_DST, result, Buffer::input(1)},
                     {DNNL_ARG_DIFF_WEIGHTS, chosen, weight}});
        if (!(chosen == plain)) {
            kernel->add_reorder(chosen, weight, plain, Buffer::output(0));
        }
        return kernel;
    });
}

/// Whether the windows are single pixels with others between them.
bool skips_pixels(const WindowShape& s) {
    const bool padded = s.top + s.left + s.bottom + s.right > 0;
    return s.kh == 1 && s.kw == 1 && (s.stride_h > 1 || s.stride_w > 1) && !padded;
}

/// The same convolution over an image of the pixels that it sees.
WindowShape without_skipped(WindowShape s) {
    s.h = s.out_h;
    s.w = s.out_w;
    s.stride_h = s.stride_w = 1;
    return s;
}

/// Moves the pixels that a strided 1x1 convolution sees together before `product` runs on them.
/// oneDNN 2.6 does so by itself, but with fewer than eight channels its weight gradient writes
/// outside its memory then.
class SeenPixels final : public Kernel {
public:
    SeenPixels(const WindowShape& s, std::int64_t size, Made product)
        : product_(std::move(product)),
          gather_({s.n, s.out_h, s.out_w, s.c},
                  {s.h * s.w * s.c, s.stride_h * s.w * s.c, s.stride_w * s.c, 1}, 0,
                  dense_strides({s.n, s.out_h, s.out_w, s.c}), 0, size),
          offset_(round_up_to_line(product_->workspace_bytes())), threads_(team_size()) {
        workspace_bytes_ = offset_ + round_up_to_line(s.n * s.out_h * s.out_w * s.c * size);
    }

    weft_status run(const weft_run_args& args) override {
        void* seen = static_cast<unsigned char*>(args.workspace) + offset_;
        gather_.run(args.inputs[0], seen, threads_);
        const void* const inputs[] = {seen, args.inputs[1]};
        return product_->run({inputs, args.outputs, args.workspace, args.stream});
    }

private:
    Made product_;
    StridedCopy gather_;
    std::int64_t offset_;
    int threads_;
};

} // namespace

Made make_conv2d(const Op& op) {
    const WindowShape s = conv_shape(op, op.input(0), op.input(1), op.output(0));
    const ConvDescs d(s);
    const auto type = onednn_type(op.input(0).dtype);
    const auto weight_type = onednn_type(op.input(1).dtype);
    const auto result_type = onednn_type(op.output(0).dtype);
    return with_onednn([&]() -> Made {
        const Desc image(d.image, type, Tag::nhwc);
        const Desc result(d.result, result_type, Tag::nhwc);
        const auto found = forward_desc(d, image, Desc(d.weight, weight_type, Tag::any), result);
        auto kernel = std::make_unique<OneDnnKernel>();
        const Buffer weight = converted(*kernel, Desc(d.weight, weight_type, Tag::hwio),
                                        Buffer::input(1), found.weights_desc());
        kernel->add(dnnl::convolution_forward(found), found.scratchpad_desc(),
                    {{DNNL_ARG_SRC, image, Buffer::input(0)},
                     {DNNL_ARG_WEIGHTS, found.weights_desc(), weight},
                     {DNNL_ARG_DST, result, Buffer::output(0)}});
        return kernel;
    });
}

Made make_conv2d_input_grad(const Op& op) { // dy, weight -> dx
    const WindowShape s = conv_shape(op, op.output(0), op.input(1), op.input(0));
    const ConvDescs d(s);
    const auto type = onednn_type(op.input(0).dtype);
    const auto weight_type = onednn_type(op.input(1).dtype);
    const auto image_type = onednn_type(op.output(0).dtype);
    return with_onednn([&]() -> Made {
        const Desc result(d.result, type, Tag::nhwc);
        const Desc image(d.image, image_type, Tag::nhwc);
        const Desc any(d.weight, weight_type, Tag::any);
        const auto hint = forward_desc(d, Desc(d.image, weight_type, Tag::nhwc), any,
                                       Desc(d.result, weight_type, Tag::nhwc));
        const dnnl::convolution_backward_data::primitive_desc found(
            dnnl::convolution_backward_data::desc(algorithm::convolution_direct, image, any, result,
                                                  d.strides, d.before, d.after),
            onednn_attributes(), cpu_engine(), hint);
        auto kernel = std::make_unique<OneDnnKernel>();
        const Buffer weight = converted(*kernel, Desc(d.weight, weight_type, Tag::hwio),
                                        Buffer::input(1), found.weights_desc());
        kernel->add(dnnl::convolution_backward_data(found), found.scratchpad_desc(),
                    {{DNNL_ARG_DIFF_DST, result, Buffer::input(0)},
                     {DNNL_ARG_WEIGHTS, found.weights_desc(), weight},
                     {DNNL_ARG_DIFF_SRC, image, Buffer::output(0)}});
        return kernel;
    });
}

Made make_conv2d_weight_grad(const Op& op) { // x, dy -> dweight
    const WindowShape s = conv_shape(op, op.input(0), op.output(0), op.input(1));
    const bool skips = skips_pixels(s);
    const ConvDescs d(skips ? without_skipped(s) : s);
    Made made = weight_grad(d, onednn_type(op.input(0).dtype), onednn_type(op.input(1).dtype),
                            onednn_type(op.output(0).dtype));
    return skips ? std::make_unique<SeenPixels>(s, dtype_size(op.input(0).dtype), std::move(made))
                 : std::move(made);
}

} // namespace weft::kernels::cpu
