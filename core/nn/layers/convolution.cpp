// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling over images [B, H, W, C].
#include "core/nn/layers/layer_list.h"

#include <algorithm>
#include <array>

namespace weft::nn {
namespace {

using config::Json;
using Extents = std::vector<std::int64_t>;

void require_images(ModelContext& context, ir::ValueId x) {
    if (context.shape(x).rank() != 4) {
        context.fail("its input is " + ir::to_text(context.builder().type(x)) +
                         ", but it needs images [batch, height, width, channels]",
                     "Use it on image data, before flatten.");
    }
}

/// Low and high padding of one axis. "same": output = ceil(input / stride), the odd one high.
std::pair<std::int64_t, std::int64_t> axis_padding(std::int64_t size, std::int64_t window,
                                                   std::int64_t stride, bool same) {
    if (!same) {
        return {0, 0};
    }
    const std::int64_t steps = (size + stride - 1) / stride;
    const std::int64_t total = std::max<std::int64_t>((steps - 1) * stride + window - size, 0);
    return {total / 2, total - total / 2};
}

/// top, left, bottom, right. Fails when a window is larger than the padded image.
Extents padding_of(ModelContext& context, ir::ValueId x, std::int64_t window, std::int64_t stride,
                   const std::string& mode) {
    const ir::Shape& shape = context.shape(x);
    if (mode == "valid" && (shape[1] < window || shape[2] < window)) {
        context.fail("its window of " + std::to_string(window) + " x " + std::to_string(window) +
                         " does not fit into an image of " + std::to_string(shape[1]) + " x " +
                         std::to_string(shape[2]),
                     "Use a smaller window, fewer pooling layers or padding \"same\".");
    }
    const auto [top, bottom] = axis_padding(shape[1], window, stride, mode == "same");
    const auto [left, right] = axis_padding(shape[2], window, stride, mode == "same");
    return {top, left, bottom, right};
}

Extents square(std::int64_t extent) {
    return {extent, extent};
}

void require_sequence(ModelContext& context, ir::ValueId x) {
    if (context.shape(x).rank() != 3) {
        context.fail("its input is " + ir::to_text(context.builder().type(x)) +
                         ", but it needs sequences [batch, positions, channels]",
                     "Use it after an embedding layer, or on data of that shape.");
    }
}

/// y, and a learned offset per channel where the settings ask for one.
ir::ValueId with_bias(ModelContext& context, const Json& settings, ir::ValueId y) {
    return settings.at("bias").get<bool>() ? with_offset(context, y) : y;
}

config::Field padding_field(const char* value) {
    return config::choice_field(
        "padding", value, {"same", "valid"},
        "same: the output has ceil(size / stride) points; valid: no padding.");
}

config::FieldTable conv2d_fields(int) {
    return {config::integer_field("channels", nullptr, "Output channels.")
                .must_be_given()
                .range(1, 1 << 20),
            config::integer_field("kernel", 3, "Height and width of the window.").range(1, 255),
            config::integer_field("stride", 1, "Step of the window.").range(1, 255),
            padding_field("same"),
            config::boolean_field("bias", true, "Adds a learned offset per channel.")};
}

/// Without an offset; `padding` is "same" or "valid".
ir::ValueId padded_conv2d(ModelContext& context, ir::ValueId x, std::int64_t channels,
                          std::int64_t kernel, std::int64_t stride, const std::string& padding,
                          std::optional<Init> init = {}) {
    const std::int64_t inputs = context.shape(x)[3];
    const ir::ValueId weight = context.parameter(
        "weight", {kernel, kernel, inputs, channels},
        init.value_or(Init::fan_in(kernel * kernel * inputs)), {"", "", "embed", "mlp"});
    return context.builder().emit(
        "conv2d", {x, weight},
        {{"stride", square(stride)}, {"padding", padding_of(context, x, kernel, stride, padding)}});
}

ir::ValueId build_conv2d(ModelContext& context, const Json& settings, ir::ValueId x) {
    require_images(context, x);
    const ir::ValueId y =
        padded_conv2d(context, x, settings.at("channels").get<std::int64_t>(),
                      settings.at("kernel").get<std::int64_t>(),
                      settings.at("stride").get<std::int64_t>(), settings.at("padding"));
    return with_bias(context, settings, y);
}

config::FieldTable conv1d_fields(int) {
    return {config::integer_field("channels", nullptr, "Output channels.")
                .must_be_given()
                .range(1, 1 << 20),
            config::integer_field("kernel", 3, "Length of the window.").range(1, 255),
            config::integer_field("stride", 1, "Step of the window.").range(1, 255),
            padding_field("same"),
            config::boolean_field("bias", true, "Adds a learned offset per channel.")};
}

// An image that is one pixel wide.
ir::ValueId build_conv1d(ModelContext& context, const Json& settings, ir::ValueId x) {
    require_sequence(context, x);
    ops::Builder& b = context.builder();
    const ir::Shape shape = context.shape(x);
    const auto channels = settings.at("channels").get<std::int64_t>();
    const auto kernel = settings.at("kernel").get<std::int64_t>();
    const auto stride = settings.at("stride").get<std::int64_t>();
    const bool same = settings.at("padding") == "same";
    if (!same && shape[1] < kernel) {
        context.fail("its window of " + std::to_string(kernel) +
                         " does not fit into a sequence of " + std::to_string(shape[1]),
                     "Use a smaller window or padding \"same\".");
    }
    const auto [before, after] = axis_padding(shape[1], kernel, stride, same);
    const ir::ValueId weight =
        context.parameter("weight", {kernel, 1, shape[2], channels},
                          Init::fan_in(kernel * shape[2]), {"", "", "embed", "mlp"});
    const ir::ValueId image = ops::reshape(b, x, {shape[0], shape[1], 1, shape[2]});
    const ir::ValueId y =
        b.emit("conv2d", {image, weight},
               {{"stride", Extents{stride, 1}}, {"padding", Extents{before, 0, after, 0}}});
    return with_bias(context, settings,
                     ops::reshape(b, y, {shape[0], context.shape(y)[1], channels}));
}

config::FieldTable conv2d_transpose_fields(int) {
    return {
        config::integer_field("channels", nullptr, "Output channels.")
            .must_be_given()
            .range(1, 1 << 20),
        config::integer_field("kernel", 3, "Height and width of the window.").range(1, 255),
        config::integer_field("stride", 2, "Factor by which height and width grow.").range(1, 255),
        config::choice_field("padding", "same", {"same", "valid"},
                             "same: the output has size * stride points; valid: all that a "
                             "window reaches, (size - 1) * stride + kernel."),
        config::boolean_field("bias", true, "Adds a learned offset per channel.")};
}

ir::ValueId build_conv2d_transpose(ModelContext& context, const Json& settings, ir::ValueId x) {
    require_images(context, x);
    const ir::Shape shape = context.shape(x);
    const auto kernel = settings.at("kernel").get<std::int64_t>();
    const auto stride = settings.at("stride").get<std::int64_t>();
    const bool same = settings.at("padding") == "same";
    const auto grown = [&](std::int64_t size) {
        return same ? size * stride : (size - 1) * stride + kernel;
    };
    const ir::ValueId y = conv2d_transpose(context, x,
                                           {.channels = settings.at("channels").get<std::int64_t>(),
                                            .kernel = kernel,
                                            .stride = stride,
                                            .height = grown(shape[1]),
                                            .width = grown(shape[2]),
                                            .same = same});
    return with_bias(context, settings, y);
}

config::FieldTable upsample_fields(int) {
    return {
        config::integer_field("factor", 2, "Height and width grow by this factor.").range(2, 64)};
}

ir::ValueId build_upsample(ModelContext& context, const Json& settings, ir::ValueId x) {
    require_images(context, x);
    return upsample(context, x, settings.at("factor").get<std::int64_t>());
}

config::FieldTable pool_fields(int) {
    return {config::integer_field("window", 2, "Height and width of the window.").range(1, 255),
            config::integer_field("stride", nullptr, "Step of the window; null: the window's size.")
                .or_null()
                .range(1, 255),
            padding_field("valid")};
}

config::FieldTable avg_pool_fields(int depth) {
    config::FieldTable out = pool_fields(depth);
    out.push_back(config::boolean_field(
        "count_include_pad", true,
        "With padding \"same\", its zeros count in the mean; false: the mean of what is there."));
    return out;
}

ir::ValueId build_pool(ModelContext& context, const char* kind, const Json& settings, ir::ValueId x,
                       bool exclude_padding = false) {
    require_images(context, x);
    const auto window = settings.at("window").get<std::int64_t>();
    const std::int64_t stride =
        settings.at("stride").is_null() ? window : settings.at("stride").get<std::int64_t>();
    ir::Attributes attributes = {
        {"window", square(window)},
        {"stride", square(stride)},
        {"padding", padding_of(context, x, window, stride, settings.at("padding"))}};
    if (exclude_padding) {
        attributes.set("exclude_padding", true);
    }
    return context.builder().emit(kind, {x}, std::move(attributes));
}

ir::ValueId build_max_pool(ModelContext& context, const Json& settings, ir::ValueId x) {
    return build_pool(context, "max_pool", settings, x);
}

ir::ValueId build_avg_pool(ModelContext& context, const Json& settings, ir::ValueId x) {
    return build_pool(context, "avg_pool", settings, x,
                      !settings.at("count_include_pad").get<bool>());
}

ir::ValueId build_global_avg_pool(ModelContext& context, const Json&, ir::ValueId x) {
    require_images(context, x);
    return ops::reduce_mean(context.builder(), x, {1, 2});
}

} // namespace

ir::ValueId conv2d(ModelContext& context, ir::ValueId x, std::int64_t channels, std::int64_t kernel,
                   std::int64_t stride, std::optional<Init> init) {
    return padded_conv2d(context, x, channels, kernel, stride, "same", init);
}

ir::ValueId with_offset(ModelContext& context, ir::ValueId x) {
    const std::int64_t channels = context.shape(x).back();
    return ops::add(context.builder(), x,
                    context.parameter("bias", {channels}, Init::zeros(), {"mlp"}));
}

// The input gradient of the convolution that turns the large image into x.
ir::ValueId conv2d_transpose(ModelContext& context, ir::ValueId x, const TransposedConv2d& how) {
    const ir::Shape shape = context.shape(x);
    const auto [top, bottom] = axis_padding(how.height, how.kernel, how.stride, how.same);
    const auto [left, right] = axis_padding(how.width, how.kernel, how.stride, how.same);
    const std::int64_t met = how.kernel * how.kernel / (how.stride * how.stride);
    const ir::ValueId weight = context.parameter(
        "weight", {how.kernel, how.kernel, how.channels, shape[3]},
        Init::fan_in(std::max<std::int64_t>(met, 1) * shape[3]), {"", "", "mlp", "embed"});
    return context.builder().emit(
        "conv2d_input_grad", {x, weight},
        {{"shape", Extents{shape[0], how.height, how.width, how.channels}},
         {"stride", square(how.stride)},
         {"padding", Extents{top, left, bottom, right}}});
}

ir::ValueId upsample(ModelContext& context, ir::ValueId x, std::int64_t factor) {
    ops::Builder& b = context.builder();
    const ir::Shape shape = context.shape(x);
    const auto [n, h, w, c] = std::array{shape[0], shape[1], shape[2], shape[3]};
    const ir::ValueId apart = ops::reshape(b, x, {n, h, 1, w, 1, c});
    const ir::ValueId repeated =
        b.emit("broadcast", {apart}, {{"shape", Extents{n, h, factor, w, factor, c}}});
    return ops::reshape(b, repeated, {n, h * factor, w * factor, c});
}

const LayerDef kConv2dLayer = {"conv2d", "2-D convolution: [B, H, W, C] to [B, H', W', channels].",
                               conv2d_fields, build_conv2d};
const LayerDef kConv1dLayer = {"conv1d", "1-D convolution: [B, T, C] to [B, T', channels].",
                               conv1d_fields, build_conv1d};
const LayerDef kConv2dTransposeLayer = {"conv2d_transpose",
                                        "Transposed 2-D convolution: images grow by the stride.",
                                        conv2d_transpose_fields, build_conv2d_transpose};
const LayerDef kUpsampleLayer = {"upsample", "Larger images, every pixel repeated.",
                                 upsample_fields, build_upsample};
const LayerDef kMaxPoolLayer = {"max_pool", "Largest value of each window.", pool_fields,
                                build_max_pool};
const LayerDef kAvgPoolLayer = {"avg_pool", "Mean of each window.", avg_pool_fields,
                                build_avg_pool};
const LayerDef kGlobalAvgPoolLayer = {"global_avg_pool",
                                      "Mean over height and width: [B, H, W, C] to [B, C].",
                                      no_fields, build_global_avg_pool};

} // namespace weft::nn
