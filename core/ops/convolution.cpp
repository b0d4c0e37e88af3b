// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling of images [N, H, W, C]. stride = vertical, horizontal; padding = top,
// left, bottom, right, with zeros that pooling leaves out of maxima and averages count.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

using ir::ValueId;
using List = std::vector<std::int64_t>;

constexpr AttributeDef kStride{"stride", AttributeKind::list, true, "vertical, horizontal step"};
constexpr AttributeDef kPadding{"padding", AttributeKind::list, true, "top, left, bottom, right"};
constexpr AttributeDef kWindow{"window", AttributeKind::list, true, "height, width"};
constexpr Combine kWhole = Combine::whole;

// --- Geometry ----------------------------------------------------------------------------------

std::string want_geometry(const ir::Attributes& attributes) {
    const List& stride = attributes.list("stride");
    const List& padding = attributes.list("padding");
    if (stride.size() != 2 || stride[0] < 1 || stride[1] < 1) {
        return "stride needs two positive numbers";
    }
    if (padding.size() != 4 ||
        std::any_of(padding.begin(), padding.end(), [](std::int64_t p) { return p < 0; })) {
        return "padding needs four numbers (top, left, bottom, right), none negative";
    }
    return {};
}

std::string want_window(const List& window) {
    return window.size() == 2 && window[0] > 0 && window[1] > 0
               ? ""
               : "window needs two positive numbers";
}

// Extents of the result of sliding a window over an image; 0 where it does not fit.
std::array<std::int64_t, 2> slide(const ir::Shape& image, const List& window,
                                  const ir::Attributes& attributes) {
    const List& stride = attributes.list("stride");
    const List& padding = attributes.list("padding");
    std::array<std::int64_t, 2> out{};
    for (std::size_t i = 0; i < 2; ++i) {
        const std::int64_t room =
            image[static_cast<int>(i) + 1] + padding[i] + padding[i + 2] - window[i];
        out[i] = room < 0 ? 0 : room / stride[i] + 1;
    }
    return out;
}

std::string want_image(std::string_view name, const ir::Type& type) {
    return first_of({want_float(name, type), want_rank(name, type, 4)});
}

// Type of a window's result over x with `channels`; an error when it does not fit.
Inferred slid(const ir::Type& x, const List& window, const ir::Attributes& attributes,
              std::int64_t channels) {
    const auto extents = slide(x.shape, window, attributes);
    if (extents[0] == 0 || extents[1] == 0) {
        return fail("a window of ", window[0], " x ", window[1], " does not fit into ", x,
                    " with its padding");
    }
    return {{{x.dtype, {x.shape[0], extents[0], extents[1], channels}}}, {}};
}

// --- conv2d ------------------------------------------------------------------------------------

Inferred infer_conv2d(const OpView& view) {
    const ir::Type& x = view.input(0);
    const ir::Type& weight = view.input(1);
    const std::string wrong =
        first_of({want_image("x", x), want_rank("weight", weight, 4), want_float("weight", weight),
                  want_geometry(view.attributes()), want_operands(view, false)});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    if (x.shape[3] != weight.shape[2]) {
        return fail("input has ", x.shape[3], " channels, but weight expects ", weight.shape[2]);
    }
    const auto dtype = promote(x.dtype, weight.dtype);
    if (!dtype) {
        return fail("element types ", x.dtype, " and ", weight.dtype, " do not mix");
    }
    return slid({*dtype, x.shape}, {weight.shape[0], weight.shape[1]}, view.attributes(),
                weight.shape[3]);
}

ir::Attributes geometry(const ir::Attributes& from) {
    return {{"stride", from.list("stride")}, {"padding", from.list("padding")}};
}

void conv2d_gradient(GradientContext& c) {
    Builder& b = c.builder();
    ir::Attributes attributes = geometry(c.op().attributes);
    if (c.needs(0)) {
        attributes.set("shape", list_of_shape(b.shape(c.input(0))));
        c.set(0, b.emit("conv2d_input_grad", {c.upstream(), c.input(1)}, attributes));
    }
    if (c.needs(1)) {
        const ir::Shape weight = b.shape(c.input(1));
        attributes = geometry(c.op().attributes);
        attributes.set("kernel", List{weight[0], weight[1]});
        c.set(1, b.emit("conv2d_weight_grad", {c.input(0), c.upstream()}, attributes));
    }
}

FactorRule conv2d_factors(const OpView& view) {
    return einsum(view, "nhwc,ijco->nyxo",
                  {{'c', Combine::sum, 0.0},
                   {'h', kWhole},
                   {'w', kWhole},
                   {'i', kWhole},
                   {'j', kWhole},
                   {'y', kWhole},
                   {'x', kWhole}});
}

// Each value of the small image meets every value of the kernel's window.
double conv_flops(const ir::Shape& small_image, std::int64_t kernel, std::int64_t channels) {
    return 2.0 * static_cast<double>(small_image.elements()) * static_cast<double>(kernel) *
           static_cast<double>(channels);
}

OpCost conv2d_cost(const OpView& view) {
    const ir::Shape& weight = view.input(1).shape;
    return product_cost(view, conv_flops(view.output(0).shape, weight[0] * weight[1], weight[2]));
}

Inferred infer_conv2d_input_grad(const OpView& view) {
    const ir::Type& dy = view.input(0);
    const ir::Type& weight = view.input(1);
    const auto shape = shape_of_list(view.attributes().list("shape"));
    const std::string wrong =
        first_of({want_image("dy", dy), want_rank("weight", weight, 4),
                  want_geometry(view.attributes()), want_operands(view, false)});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    const auto dtype = promote(dy.dtype, weight.dtype);
    if (!dtype) {
        return fail("element types ", dy.dtype, " and ", weight.dtype, " do not mix");
    }
    if (!shape || shape->rank() != 4 || (*shape)[3] != weight.shape[2]) {
        return fail("shape must be [N, H, W, ", weight.shape[2], "] for weight ", weight);
    }
    const Inferred forward = slid({dy.dtype, *shape}, {weight.shape[0], weight.shape[1]},
                                  view.attributes(), weight.shape[3]);
    if (!forward.error.empty() || forward.outputs[0].shape != dy.shape) {
        return fail("dy ", dy, " is not the result of ", *shape, " with weight ", weight);
    }
    return {{{*dtype, *shape}}, {}};
}

FactorRule conv2d_input_grad_factors(const OpView& view) {
    return einsum(view, "nyxo,ijco->nhwc",
                  {{'o', Combine::sum, 0.0},
                   {'h', kWhole},
                   {'w', kWhole},
                   {'i', kWhole},
                   {'j', kWhole},
                   {'y', kWhole},
                   {'x', kWhole}});
}

// Of a transposed convolution, which this op is when its operands are a layer's.
void conv2d_input_grad_gradient(GradientContext& c) {
    Builder& b = c.builder();
    ir::Attributes attributes = geometry(c.op().attributes);
    if (c.needs(0)) {
        c.set(0, b.emit("conv2d", {c.upstream(), c.input(1)}, attributes));
    }
    if (c.needs(1)) {
        const ir::Shape weight = b.shape(c.input(1));
        attributes.set("kernel", List{weight[0], weight[1]});
        c.set(1, b.emit("conv2d_weight_grad", {c.upstream(), c.input(0)}, attributes));
    }
}

OpCost conv2d_input_grad_cost(const OpView& view) {
    const ir::Shape& weight = view.input(1).shape;
    return product_cost(view, conv_flops(view.input(0).shape, weight[0] * weight[1], weight[2]));
}

Inferred infer_conv2d_weight_grad(const OpView& view) {
    const ir::Type& x = view.input(0);
    const ir::Type& dy = view.input(1);
    const List& kernel = view.attributes().list("kernel");
    const std::string wrong =
        first_of({want_image("x", x), want_image("dy", dy), want_geometry(view.attributes()),
                  want_window(kernel), want_operands(view, false)});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    const auto dtype = promote(x.dtype, dy.dtype);
    if (!dtype) {
        return fail("element types ", x.dtype, " and ", dy.dtype, " do not mix");
    }
    const Inferred forward = slid(x, kernel, view.attributes(), dy.shape[3]);
    if (!forward.error.empty() || forward.outputs[0].shape != dy.shape) {
        return fail("dy ", dy, " is not the result of ", x, " with a kernel of ", kernel[0], " x ",
                    kernel[1]);
    }
    const ir::DType out = view.attributes().flag("wide") ? statistics_dtype(*dtype) : *dtype;
    return {{{out, {kernel[0], kernel[1], x.shape[3], dy.shape[3]}}}, {}};
}

FactorRule conv2d_weight_grad_factors(const OpView& view) {
    return einsum(view, "nhwc,nyxo->ijco",
                  {{'n', Combine::sum, 0.0},
                   {'h', kWhole},
                   {'w', kWhole},
                   {'i', kWhole},
                   {'j', kWhole},
                   {'y', kWhole},
                   {'x', kWhole}});
}

OpCost conv2d_weight_grad_cost(const OpView& view) {
    const List& kernel = view.attributes().list("kernel");
    return product_cost(
        view, conv_flops(view.input(1).shape, kernel[0] * kernel[1], view.input(0).shape[3]));
}

constexpr AttributeDef kExcludePadding{"exclude_padding", AttributeKind::flag, false,
                                       "the mean of what lies in the image"};

// --- Pooling -----------------------------------------------------------------------------------

// A window that lies in the padding alone would have no maximum.
std::string want_pool(const ir::Attributes& attributes) {
    const List& window = attributes.list("window");
    const List& padding = attributes.list("padding");
    const std::string wrong = first_of({want_geometry(attributes), want_window(window)});
    if (!wrong.empty()) {
        return wrong;
    }
    for (std::size_t i = 0; i < 4; ++i) {
        if (padding[i] >= window[i % 2]) {
            return "padding must be smaller than the window";
        }
    }
    return {};
}

Inferred infer_pool(const OpView& view) {
    const ir::Type& x = view.input(0);
    const std::string wrong = first_of({want_image("x", x), want_pool(view.attributes())});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    return slid(x, view.attributes().list("window"), view.attributes(), x.shape[3]);
}

void max_pool_gradient(GradientContext& c) {
    c.set(0, c.builder().emit("max_pool_grad", {c.input(0), c.output(0), c.upstream()},
                              c.op().attributes));
}

void avg_pool_gradient(GradientContext& c) {
    ir::Attributes attributes = c.op().attributes;
    attributes.set("shape", list_of_shape(c.builder().shape(c.input(0))));
    c.set(0, c.builder().emit("avg_pool_grad", {c.upstream()}, attributes));
}

FactorRule pool_factors(const OpView& view) {
    return einsum(view, "nhwc->nyxc", {{'h', kWhole}, {'w', kWhole}, {'y', kWhole}, {'x', kWhole}});
}

double window_elements(const OpView& view) {
    const List& window = view.attributes().list("window");
    return static_cast<double>(window[0] * window[1]);
}

OpCost pool_cost(const OpView& view) {
    return cost(view, window_elements(view) * static_cast<double>(view.output(0).shape.elements()));
}

Inferred infer_max_pool_grad(const OpView& view) {
    const ir::Type& x = view.input(0);
    const std::string wrong = first_of({want_image("x", x), want_pool(view.attributes())});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    const Inferred forward =
        slid(x, view.attributes().list("window"), view.attributes(), x.shape[3]);
    if (!forward.error.empty() || forward.outputs[0].shape != view.input(1).shape ||
        view.input(1).shape != view.input(2).shape) {
        return fail("y ", view.input(1), " and dy ", view.input(2), " are not results of pooling ",
                    x);
    }
    return {{x}, {}};
}

FactorRule max_pool_grad_factors(const OpView& view) {
    return einsum(view, "nhwc,nyxc,nyxc->nhwc",
                  {{'h', kWhole}, {'w', kWhole}, {'y', kWhole}, {'x', kWhole}});
}

OpCost max_pool_grad_cost(const OpView& view) {
    return cost(view, window_elements(view) * static_cast<double>(view.input(1).shape.elements()));
}

Inferred infer_avg_pool_grad(const OpView& view) {
    const ir::Type& dy = view.input(0);
    const auto shape = shape_of_list(view.attributes().list("shape"));
    const std::string wrong = first_of({want_image("dy", dy), want_pool(view.attributes())});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    if (!shape || shape->rank() != 4) {
        return fail("shape must be [N, H, W, C]");
    }
    const ir::Type x{dy.dtype, *shape};
    const Inferred forward =
        slid(x, view.attributes().list("window"), view.attributes(), (*shape)[3]);
    if (!forward.error.empty() || forward.outputs[0].shape != dy.shape) {
        return fail("dy ", dy, " is not the result of pooling ", *shape);
    }
    return {{x}, {}};
}

FactorRule avg_pool_grad_factors(const OpView& view) {
    return einsum(view, "nyxc->nhwc", {{'h', kWhole}, {'w', kWhole}, {'y', kWhole}, {'x', kWhole}});
}

OpCost avg_pool_grad_cost(const OpView& view) {
    return cost(view, window_elements(view) * static_cast<double>(view.input(0).shape.elements()));
}

} // namespace

const OpDef kConv2d{.name = "conv2d",
                    .help = "x [N, H, W, C], weight [kh, kw, C, O] -> [N, H', W', O]",
                    .min_inputs = 2,
                    .max_inputs = 2,
                    .attributes = {kStride, kPadding, kOperands},
                    .infer = infer_conv2d,
                    .gradient = conv2d_gradient,
                    .factors = conv2d_factors,
                    .cost = conv2d_cost};

const OpDef kConv2dInputGrad{
    .name = "conv2d_input_grad",
    .help = "dy [N, H', W', O], weight -> dx; the transposed convolution of dy",
    .min_inputs = 2,
    .max_inputs = 2,
    .attributes = {kShapeAttribute, kStride, kPadding, kOperands},
    .infer = infer_conv2d_input_grad,
    .gradient = conv2d_input_grad_gradient,
    .factors = conv2d_input_grad_factors,
    .cost = conv2d_input_grad_cost,
    .localise = localise_shape};

const OpDef kConv2dWeightGrad{
    .name = "conv2d_weight_grad",
    .help = "x, dy [N, H', W', O] -> dweight [kh, kw, C, O]",
    .min_inputs = 2,
    .max_inputs = 2,
    .attributes = {{"kernel", AttributeKind::list, true, "kh, kw"},
                   kStride,
                   kPadding,
                   {"wide", AttributeKind::flag, false, "f32 result of bf16 or f16 operands"},
                   kOperands},
    .infer = infer_conv2d_weight_grad,
    .factors = conv2d_weight_grad_factors,
    .cost = conv2d_weight_grad_cost,
    .wide_outputs = {0}};

const OpDef kMaxPool{.name = "max_pool",
                     .help = "maximum of each window of x [N, H, W, C]",
                     .attributes = {kWindow, kStride, kPadding},
                     .infer = infer_pool,
                     .gradient = max_pool_gradient,
                     .factors = pool_factors,
                     .cost = pool_cost};

const OpDef kMaxPoolGrad{.name = "max_pool_grad",
                         .help = "x, y, dy -> dx; the first maximum of a window takes all",
                         .min_inputs = 3,
                         .max_inputs = 3,
                         .attributes = {kWindow, kStride, kPadding},
                         .infer = infer_max_pool_grad,
                         .factors = max_pool_grad_factors,
                         .cost = max_pool_grad_cost};

const OpDef kAvgPool{.name = "avg_pool",
                     .help = "average of each window of x [N, H, W, C]",
                     .attributes = {kWindow, kStride, kPadding, kExcludePadding},
                     .infer = infer_pool,
                     .gradient = avg_pool_gradient,
                     .factors = pool_factors,
                     .cost = pool_cost};

const OpDef kAvgPoolGrad{
    .name = "avg_pool_grad",
    .help = "dy [N, H', W', C] -> dx",
    .attributes = {kShapeAttribute, kWindow, kStride, kPadding, kExcludePadding},
    .infer = infer_avg_pool_grad,
    .factors = avg_pool_grad_factors,
    .cost = avg_pool_grad_cost,
    .localise = localise_shape};

} // namespace weft::ops
