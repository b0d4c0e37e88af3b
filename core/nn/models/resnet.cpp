// SPDX-License-Identifier: Apache-2.0
// ResNet (He et al. 2016), v1.5: bottlenecks stride on their 3x3 convolution, as torchvision's do.
// Batch norm after each convolution, which has no bias; weights start normal with sqrt(2 / fan out)
// (He et al. 2015). Shape letters: B samples, W width of the first stage.
#include "core/nn/layers/layer_def.h"
#include "core/nn/models/model_list.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::nn {
namespace {

using config::Json;

constexpr double kMomentum = 0.1;
constexpr double kResnetNormEps = 1e-5;
constexpr std::int64_t kExpansion = 4; // output channels of a bottleneck over inner ones

struct Net {
    std::int64_t depth;
    std::array<std::int64_t, 4> blocks; // per stage
    bool bottleneck;
};

constexpr std::array kNets = {Net{18, {2, 2, 2, 2}, false}, Net{34, {3, 4, 6, 3}, false},
                              Net{50, {3, 4, 6, 3}, true}, Net{101, {3, 4, 23, 3}, true},
                              Net{152, {3, 8, 36, 3}, true}};

const Net* find_net(const Json& settings) {
    const auto depth = settings.at("depth").get<std::int64_t>();
    const auto found = std::find_if(kNets.begin(), kNets.end(),
                                    [depth](const Net& net) { return net.depth == depth; });
    return found == kNets.end() ? nullptr : &*found;
}

config::FieldTable resnet_fields() {
    return {config::integer_field("depth", 18, "Layers with weights: 18, 34, 50, 101 or 152.")
                .range(18, 152),
            config::choice_field("stem", "imagenet", {"imagenet", "cifar"},
                                 "imagenet: 7x7 convolution and pooling, a quarter of the extent; "
                                 "cifar: 3x3, for images below about 64 pixels."),
            config::integer_field("width", 64, "Channels of the first stage; each next has twice.")
                .range(1, 4096)};
}

void check_resnet(const Json& settings, const std::string& pointer, config::Diagnostics& out) {
    if (find_net(settings) == nullptr) {
        out.push_back({pointer + "/depth", config::Severity::error,
                       "there is no ResNet of depth " + settings.at("depth").dump(),
                       "Use one of 18, 34, 50, 101, 152."});
    }
}

// "conv<suffix>" and "norm<suffix>" over x [B, H, W, C]; the window keeps the extent, stride aside.
ir::ValueId conv_norm(ModelContext& context, const std::string& suffix, ir::ValueId x,
                      std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
    {
        const Scope scope(context, "conv" + suffix);
        const double fan_out = static_cast<double>(kernel * kernel * channels);
        const ir::ValueId weight =
            context.parameter("weight", {kernel, kernel, context.shape(x)[3], channels},
                              Init::normal(std::sqrt(2.0 / fan_out)), {"", "", "embed", "mlp"});
        x = context.builder().emit("conv2d", {x, weight},
                                   {{"stride", std::vector<std::int64_t>(2, stride)},
                                    {"padding", std::vector<std::int64_t>(4, kernel / 2)}});
    }
    const Scope scope(context, "norm" + suffix);
    return batch_norm(context, x, kMomentum, kResnetNormEps);
}

ir::ValueId stem(ModelContext& context, const Json& settings, ir::ValueId x) {
    const Scope scope(context, "stem");
    const bool small = settings.at("stem") == "cifar";
    const auto width = settings.at("width").get<std::int64_t>();
    x = conv_norm(context, "", x, width, small ? 3 : 7, small ? 1 : 2);
    x = activation(context, "relu", x);
    return small ? x
                 : context.builder().emit("max_pool", {x},
                                          {{"window", std::vector<std::int64_t>{3, 3}},
                                           {"stride", std::vector<std::int64_t>{2, 2}},
                                           {"padding", std::vector<std::int64_t>{1, 1, 1, 1}}});
}

ir::ValueId residual_block(ModelContext& context, bool bottleneck, ir::ValueId x,
                           std::int64_t width, std::int64_t stride) {
    const std::int64_t channels = bottleneck ? kExpansion * width : width;
    ir::ValueId shortcut = x;
    ir::ValueId y = conv_norm(context, "1", x, width, bottleneck ? 1 : 3, bottleneck ? 1 : stride);
    y = activation(context, "relu", y);
    y = conv_norm(context, "2", y, width, 3, bottleneck ? stride : 1);
    if (bottleneck) {
        y = activation(context, "relu", y);
        y = conv_norm(context, "3", y, channels, 1, 1);
    }
    if (stride != 1 || context.shape(x)[3] != channels) {
        const Scope scope(context, "shortcut");
        shortcut = conv_norm(context, "", x, channels, 1, stride);
    }
    return activation(context, "relu", ops::add(context.builder(), y, shortcut));
}

ir::ValueId build_resnet(ModelContext& context, const Json& settings, ir::ValueId inputs) {
    const ir::Type& type = context.builder().type(inputs);
    if (!ir::is_float(type.dtype) || type.shape.rank() != 4) {
        context.fail("resnet needs images [height, width, channels], but the data delivers " +
                         ir::to_text(context.data().input),
                     "Use image data.");
    }
    const Net* net = find_net(settings);
    WEFT_CHECK(net != nullptr, "the configuration was checked");
    ir::ValueId x = stem(context, settings, inputs);
    auto width = settings.at("width").get<std::int64_t>();
    for (std::size_t stage = 0; stage < net->blocks.size(); ++stage, width *= 2) {
        for (std::int64_t i = 0; i < net->blocks[stage]; ++i) {
            const Scope scope(context, "stages." + std::to_string(stage) + "." + std::to_string(i));
            x = residual_block(context, net->bottleneck, x, width, stage > 0 && i == 0 ? 2 : 1);
        }
    }
    x = ops::reduce_mean(context.builder(), x, {1, 2});
    const Scope scope(context, "head");
    return dense(context, x, context.data().outputs(), Init::fan_in(context.shape(x).back()),
                 {"embed", "vocab"});
}

constexpr std::string_view kResnetTensors =
    "stem.conv.weight [k, k, channels, W]\n"
    "stem.norm.weight [W]\n"
    "stem.norm.bias [W]\n"
    "stem.norm.running_mean [W]\n"
    "stem.norm.running_variance [W]\n"
    "stages.*.*.conv1.weight [k, k, in, w]: w = W, 2 W, 4 W, 8 W by stage\n"
    "stages.*.*.norm1.weight [w]\n"
    "stages.*.*.norm1.bias [w]\n"
    "stages.*.*.norm1.running_mean [w]\n"
    "stages.*.*.norm1.running_variance [w]\n"
    "stages.*.*.conv2.weight [3, 3, w, w]\n"
    "stages.*.*.norm2.weight [w]\n"
    "stages.*.*.norm2.bias [w]\n"
    "stages.*.*.norm2.running_mean [w]\n"
    "stages.*.*.norm2.running_variance [w]\n"
    "stages.*.*.conv3.weight [1, 1, w, 4 w]: from depth 50\n"
    "stages.*.*.norm3.weight [4 w]\n"
    "stages.*.*.norm3.bias [4 w]\n"
    "stages.*.*.norm3.running_mean [4 w]\n"
    "stages.*.*.norm3.running_variance [4 w]\n"
    "stages.*.*.shortcut.conv.weight [1, 1, in, out]: where the shape changes\n"
    "stages.*.*.shortcut.norm.weight [out]\n"
    "stages.*.*.shortcut.norm.bias [out]\n"
    "stages.*.*.shortcut.norm.running_mean [out]\n"
    "stages.*.*.shortcut.norm.running_variance [out]\n"
    "head.weight [in, classes]\n"
    "head.bias [classes]\n";

} // namespace

const ModelDef kResnetModel = {"resnet",      "ResNet for images.", kResnetTensors,
                               resnet_fields, build_resnet,         check_resnet};

} // namespace weft::nn
