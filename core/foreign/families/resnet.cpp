// SPDX-License-Identifier: Apache-2.0
// ResNets by the names of torchvision (resnet.py), which timm's have too, and of Hugging Face's
// transformers (modeling_resnet.py). Convolutions are [out, in, kh, kw] there, the head [out, in].
#include "core/foreign/family_list.h"

#include <algorithm>
#include <array>

namespace weft::foreign {
namespace {

constexpr int kStages = 4;
constexpr int kConvolutions = 3; // of a block, at most
constexpr std::int64_t kBottleneckExpansion = 4;

/// A batch norm, its running statistics with it.
void add_norm(TensorPairs& out, const std::string& ours, const std::string& theirs) {
    const std::pair<const char*, const char*> parts[] = {{".weight", ".weight"},
                                                         {".bias", ".bias"},
                                                         {".running_mean", ".running_mean"},
                                                         {".running_variance", ".running_var"}};
    for (const auto& [here, there] : parts) {
        out.push_back({ours + here, {theirs + there}});
    }
}

void add_conv(TensorPairs& out, const std::string& ours, const std::string& theirs) {
    out.push_back({ours + ".weight", {theirs + ".weight"}, Layout::convolution});
}

void add_head(TensorPairs& out, const std::string& theirs) {
    out.push_back({"head.weight", {theirs + ".weight"}, Layout::transposed});
    out.push_back({"head.bias", {theirs + ".bias"}});
}

TensorPairs torchvision_resnet_tensors() {
    TensorPairs out;
    add_conv(out, "stem.conv", "conv1");
    add_norm(out, "stem.norm", "bn1");
    for (int stage = 0; stage < kStages; ++stage) {
        const std::string ours = "stages." + std::to_string(stage) + ".*.";
        const std::string theirs = "layer" + std::to_string(stage + 1) + ".*.";
        for (int i = 1; i <= kConvolutions; ++i) {
            const std::string number = std::to_string(i);
            add_conv(out, ours + "conv" + number, theirs + "conv" + number);
            add_norm(out, ours + "norm" + number, theirs + "bn" + number);
        }
        add_conv(out, ours + "shortcut.conv", theirs + "downsample.0");
        add_norm(out, ours + "shortcut.norm", theirs + "downsample.1");
    }
    add_head(out, "fc");
    return out;
}

TensorPairs resnet_tensors() {
    TensorPairs out;
    add_conv(out, "stem.conv", "resnet.embedder.embedder.convolution");
    add_norm(out, "stem.norm", "resnet.embedder.embedder.normalization");
    const std::string theirs = "resnet.encoder.stages.*.layers.*.";
    for (int i = 0; i < kConvolutions; ++i) {
        const std::string layer = theirs + "layer." + std::to_string(i);
        add_conv(out, "stages.*.*.conv" + std::to_string(i + 1), layer + ".convolution");
        add_norm(out, "stages.*.*.norm" + std::to_string(i + 1), layer + ".normalization");
    }
    add_conv(out, "stages.*.*.shortcut.conv", theirs + "shortcut.convolution");
    add_norm(out, "stages.*.*.shortcut.norm", theirs + "shortcut.normalization");
    add_head(out, "classifier.1");
    return out;
}

std::string refused_resnet(const Json& settings) {
    return settings.at("stem") == "cifar" ? "the stem is always the one for large images there"
                                          : "";
}

struct Depth {
    std::int64_t layers;
    std::vector<std::int64_t> blocks;
    bool bottleneck;
};
const std::array<Depth, 5> kDepths = {
    Depth{18, {2, 2, 2, 2}, false}, Depth{34, {3, 4, 6, 3}, false}, Depth{50, {3, 4, 6, 3}, true},
    Depth{101, {3, 4, 23, 3}, true}, Depth{152, {3, 8, 36, 3}, true}};

Described describe_resnet(const ConfigReader& theirs) {
    const bool bottleneck = theirs.text("layer_type", "bottleneck") == "bottleneck";
    std::vector<std::int64_t> blocks = theirs.wholes("depths");
    blocks = blocks.empty() ? kDepths[2].blocks : blocks;
    const auto depth = std::find_if(kDepths.begin(), kDepths.end(), [&](const Depth& one) {
        return one.blocks == blocks && one.bottleneck == bottleneck;
    });
    if (depth == kDepths.end()) {
        theirs.refuse("depths", "the stages are those of none of ResNet-18, 34, 50, 101 and 152");
    }
    const std::int64_t width = theirs.whole("embedding_size", 64);
    std::vector<std::int64_t> expected;
    for (int stage = 0; stage < kStages; ++stage) {
        expected.push_back((width << stage) * (bottleneck ? kBottleneckExpansion : 1));
    }
    if (const auto widths = theirs.wholes("hidden_sizes"); !widths.empty() && widths != expected) {
        theirs.refuse("hidden_sizes", "the widths of the stages do not double from embedding_size");
    }
    if (const std::string act = theirs.text("hidden_act", "relu"); act != "relu") {
        theirs.refuse("hidden_act", "the activation is '" + act + "', here always relu");
    }
    if (theirs.flag("downsample_in_first_stage", false)) {
        theirs.refuse("downsample_in_first_stage", "the first stage halves the image too");
    }
    if (theirs.flag("downsample_in_bottleneck", false)) {
        theirs.refuse("downsample_in_bottleneck", "bottlenecks stride on their first convolution");
    }
    const Json& names = theirs.object("id2label");
    constexpr std::int64_t kUsualExtent = 224; // it is in no config.json
    return {{{"type", "resnet"},
             {"depth", depth == kDepths.end() ? 50 : depth->layers},
             {"stem", "imagenet"},
             {"width", width}},
            {{"type", "synthetic"},
             {"kind", "images"},
             {"samples", 1000},
             {"shape", {kUsualExtent, kUsualExtent, theirs.whole("num_channels", 3)}},
             {"classes", names.empty() ? 2 : static_cast<std::int64_t>(names.size())}}};
}

Json config_of_resnet(const Facts& ours) {
    const auto layers = ours.settings.at("depth").get<std::int64_t>();
    const auto width = ours.settings.at("width").get<std::int64_t>();
    const auto depth = std::find_if(kDepths.begin(), kDepths.end(),
                                    [&](const Depth& one) { return one.layers == layers; });
    Json widths = Json::array();
    for (int stage = 0; stage < kStages; ++stage) {
        widths.push_back((width << stage) * (depth->bottleneck ? kBottleneckExpansion : 1));
    }
    return {{"architectures", {"ResNetForImageClassification"}},
            {"model_type", "resnet"},
            {"hidden_act", "relu"},
            {"layer_type", depth->bottleneck ? "bottleneck" : "basic"},
            {"depths", depth->blocks},
            {"embedding_size", width},
            {"hidden_sizes", std::move(widths)},
            {"num_channels", ours.channels},
            {"num_labels", ours.classes}};
}

// Counts of batches, which no result depends on where the momentum is given.
const std::vector<std::string_view> kIdleOfResnet = {"*num_batches_tracked"};

} // namespace

const Family kResnetFamily = {.name = "resnet",
                              .as = "huggingface",
                              .model = "resnet",
                              .help = "ResNet of transformers",
                              .tensors = resnet_tensors,
                              .prefix = "resnet.",
                              .idle = kIdleOfResnet,
                              .refuses = refused_resnet,
                              .describe = describe_resnet,
                              .config = config_of_resnet};

const Family kTorchvisionResnetFamily = {.name = "resnet",
                                         .as = "torchvision",
                                         .model = "resnet",
                                         .help = "ResNet of torchvision and timm",
                                         .tensors = torchvision_resnet_tensors,
                                         .idle = kIdleOfResnet};

const Family kTimmResnetFamily = {.name = "resnet",
                                  .as = "timm",
                                  .model = "resnet",
                                  .help = "ResNet of timm and torchvision",
                                  .tensors = torchvision_resnet_tensors,
                                  .idle = kIdleOfResnet};

} // namespace weft::foreign
