// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling over images [B, H, W, C].
#include "core/nn/layers/layer_list.h"

#include <algorithm>

namespace weft::nn {
namespace {

using config::Json;

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
std::vector<std::int64_t> padding_of(ModelContext& context, ir::ValueId x, std::int64_t window,
                                     std::int64_t stride, const std::string& mode) {
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

std::vector<std::int64_t> square(std::int64_t extent) {
    return {extent, extent};
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

ir::ValueId build_conv2d(ModelContext& context, const Json& settings, ir::ValueId x) {
    require_images(context, x);
    const auto channels = settings.at("channels").get<std::int64_t>();
    const auto kernel = settings.at("kernel").get<std::int64_t>();
    const auto stride = settings.at("stride").get<std::int64_t>();
    const std::int64_t inputs = context.shape(x)[3];
    const ir::ValueId weight =
        context.parameter("weight", {kernel, kernel, inputs, channels},
                          Init::fan_in(kernel * kernel * inputs), {"", "", "embed", "mlp"});
    ir::ValueId y = context.builder().emit(
        "conv2d", {x, weight},
        {{"stride", square(stride)},
         {"padding", padding_of(context, x, kernel, stride, settings.at("padding"))}});
    if (settings.at("bias").get<bool>()) {
        y = ops::add(context.builder(), y,
                     context.parameter("bias", {channels}, Init::zeros(), {"mlp"}));
    }
    return y;
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

const LayerDef kConv2dLayer = {"conv2d", "2-D convolution: [B, H, W, C] to [B, H', W', channels].",
                               conv2d_fields, build_conv2d};
const LayerDef kMaxPoolLayer = {"max_pool", "Largest value of each window.", pool_fields,
                                build_max_pool};
const LayerDef kAvgPoolLayer = {"avg_pool", "Mean of each window.", avg_pool_fields,
                                build_avg_pool};
const LayerDef kGlobalAvgPoolLayer = {"global_avg_pool",
                                      "Mean over height and width: [B, H, W, C] to [B, C].",
                                      no_fields, build_global_avg_pool};

} // namespace weft::nn
