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
            config::integer_field("dilation", 1,
                                  "Distance of the points that a window reads; it works as a "
                                  "larger window whose other weights are 0.")
                .range(1, 64),
            config::integer_field("groups", 1,
                                  "Parts of the channels that are convolved each by itself; as "
                                  "many as input channels: depthwise. Divides both channels.")
                .range(1, 1 << 20),
            padding_field("same"),
            config::boolean_field("bias", true, "Adds a learned offset per channel."),
            weight_norm_field()};
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

/// A window of such a convolution, and how it moves.
struct Window {
    std::int64_t kernel, stride, dilation;
    Extents padding;

    std::int64_t reach() const { return (kernel - 1) * dilation + 1; }
};

/// The kernel [k, k, C, O] with zeros between its weights: [reach, reach, C, O].
ir::ValueId spread_weight(ops::Builder& b, ir::ValueId weight, const Window& window) {
    const ir::Shape shape = b.shape(weight);
    const std::int64_t k = window.kernel;
    const std::int64_t d = window.dilation;
    if (d == 1 || k == 1) {
        return weight;
    }
    const std::int64_t inner = shape[2] * shape[3];
    const ir::ValueId apart = b.emit("pad", {ops::reshape(b, weight, {k, 1, k, 1, inner})},
                                     {{"low", Extents{0, 0, 0, 0, 0}},
                                      {"high", Extents{0, d - 1, 0, d - 1, 0}},
                                      {"value", 0.0}});
    const ir::ValueId wide = ops::reshape(b, apart, {k * d, k * d, shape[2], shape[3]});
    return ops::slice(b, wide, {0, 0, 0, 0}, {window.reach(), window.reach(), shape[2], shape[3]});
}

/// Every input channel by itself: the sum over the window's points of the moved image times their
/// weights [1, 1, C, O / C].
ir::ValueId depthwise(ops::Builder& b, ir::ValueId x, ir::ValueId weight, const Window& window) {
    const ir::Shape shape = b.shape(x);
    const std::int64_t channels = shape[3];
    const std::int64_t each = b.shape(weight)[3] / channels;
    const auto steps = [&](int dim) { // of the window over the padded image
        const auto at = static_cast<std::size_t>(dim - 1);
        return (shape[dim] + window.padding[at] + window.padding[at + 2] - window.reach()) /
                   window.stride +
               1;
    };
    const std::int64_t height = steps(1);
    const std::int64_t width = steps(2);
    // So much that a whole stride follows the last point that is read.
    const auto beyond = [&](int dim, std::int64_t count) {
        const std::int64_t needed = window.reach() - 1 + count * window.stride;
        const std::int64_t before = window.padding[static_cast<std::size_t>(dim - 1)];
        return std::max<std::int64_t>(needed - shape[dim] - before, 0);
    };
    const ir::ValueId padded = b.emit("pad", {x},
                                      {{"low", Extents{0, window.padding[0], window.padding[1], 0}},
                                       {"high", Extents{0, beyond(1, height), beyond(2, width), 0}},
                                       {"value", 0.0}});
    const auto moved = [&](std::int64_t row, std::int64_t column) { // [N, H', W', C]
        const std::int64_t s = window.stride;
        const ir::ValueId part =
            ops::slice(b, padded, {0, row, column, 0}, {shape[0], height * s, width * s, channels});
        if (s == 1) {
            return part;
        }
        const ir::ValueId cells =
            ops::reshape(b, part, {shape[0] * height, s, width, s * channels});
        const ir::ValueId firsts =
            ops::slice(b, cells, {0, 0, 0, 0}, {shape[0] * height, 1, width, channels});
        return ops::reshape(b, firsts, {shape[0], height, width, channels});
    };
    const std::int64_t points = window.kernel * window.kernel;
    const ir::ValueId table = ops::reshape(b, weight, {points, channels, each});
    ir::ValueId out;
    for (std::int64_t point = 0; point < points; ++point) {
        const ir::ValueId here =
            moved(point / window.kernel * window.dilation, point % window.kernel * window.dilation);
        const ir::ValueId own = ops::slice(b, table, {point, 0, 0}, {1, channels, each});
        const ir::ValueId term =
            ops::mul(b, ops::reshape(b, here, {shape[0], height, width, channels, 1}),
                     ops::reshape(b, own, {1, 1, 1, channels, each}));
        out = out.valid() ? ops::add(b, out, term) : term;
    }
    return ops::reshape(b, out, {shape[0], height, width, channels * each});
}

/// Each group of input channels makes its group of output channels: weight [k, k, C / groups, O].
ir::ValueId grouped(ops::Builder& b, ir::ValueId x, ir::ValueId weight, std::int64_t groups,
                    const Window& window) {
    const ir::Shape shape = b.shape(x);
    const ir::Shape kernel = b.shape(weight);
    const std::int64_t inputs = shape[3] / groups;
    const std::int64_t outputs = kernel[3] / groups;
    ir::ValueIds parts;
    for (std::int64_t i = 0; i < groups; ++i) {
        ir::ValueIds operands = {x, weight};
        if (groups > 1) {
            operands[0] =
                ops::slice(b, x, {0, 0, 0, i * inputs}, {shape[0], shape[1], shape[2], inputs});
            operands[1] = ops::slice(b, weight, {0, 0, 0, i * outputs},
                                     {kernel[0], kernel[1], inputs, outputs});
        }
        parts.push_back(b.emit("conv2d", operands,
                               {{"stride", square(window.stride)}, {"padding", window.padding}}));
    }
    return groups == 1 ? parts[0] : b.emit("concat", parts, {{"dim", std::int64_t{3}}});
}

void require_groups(ModelContext& context, std::int64_t groups, std::int64_t channels,
                    const char* which) {
    if (channels % groups != 0) {
        context.fail(std::to_string(channels) + " " + which + " do not divide into " +
                         std::to_string(groups) + " groups",
                     "Use a number of groups that divides the channels of both sides.");
    }
}

ir::ValueId build_conv2d(ModelContext& context, const Json& settings, ir::ValueId x) {
    require_images(context, x);
    ops::Builder& b = context.builder();
    const std::int64_t inputs = context.shape(x)[3];
    const auto channels = settings.at("channels").get<std::int64_t>();
    const auto groups = settings.at("groups").get<std::int64_t>();
    require_groups(context, groups, inputs, "input channels");
    require_groups(context, groups, channels, "output channels");
    Window window{settings.at("kernel").get<std::int64_t>(),
                  settings.at("stride").get<std::int64_t>(),
                  settings.at("dilation").get<std::int64_t>(),
                  {}};
    window.padding = padding_of(context, x, window.reach(), window.stride, settings.at("padding"));
    const std::int64_t k = window.kernel;
    // Slices of channels that a mesh splits would have to be put together first.
    const std::vector<std::string> axes = groups == 1
                                              ? std::vector<std::string>{"", "", "embed", "mlp"}
                                              : std::vector<std::string>(4, "");
    const ir::ValueId weight =
        normalised_weight(context, settings.at("weight_norm"),
                          context.parameter("weight", {k, k, inputs / groups, channels},
                                            Init::fan_in(k * k * (inputs / groups)), axes));
    const bool apart = groups > 1 && groups == inputs;
    const ir::ValueId y = apart ? depthwise(b, x, weight, window)
                                : grouped(b, x, spread_weight(b, weight, window), groups, window);
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
