// SPDX-License-Identifier: Apache-2.0
// Vision Transformers of Hugging Face's transformers (modeling_vit.py), which keeps query, key and
// value apart, and of timm (vision_transformer.py), which does not. Linear layers are [out, in]
// there, convolutions [out, in, kh, kw].
#include "core/foreign/family_list.h"

#include <cmath>

namespace weft::foreign {
namespace {

void add_layer(TensorPairs& out, const std::string& ours, const std::vector<std::string>& theirs,
               Layout weight) {
    for (const char* part : {".weight", ".bias"}) {
        TensorPair pair{ours + part, theirs, part[1] == 'w' ? weight : Layout::same};
        for (std::string& name : pair.theirs) {
            name += part;
        }
        out.push_back(std::move(pair));
    }
}

TensorPairs vit_tensors() {
    TensorPairs out = {
        {"cls.weight", {"vit.embeddings.cls_token"}, Layout::in_two},
        {"positions.weight", {"vit.embeddings.position_embeddings"}, Layout::in_one}};
    const std::string layer = "vit.encoder.layer.*.";
    const std::string attention = layer + "attention.attention.";
    add_layer(out, "patches", {"vit.embeddings.patch_embeddings.projection"}, Layout::convolution);
    add_layer(out, "blocks.*.norm1", {layer + "layernorm_before"}, Layout::same);
    add_layer(out, "blocks.*.attention.qkv",
              {attention + "query", attention + "key", attention + "value"}, Layout::transposed);
    add_layer(out, "blocks.*.attention.output", {layer + "attention.output.dense"},
              Layout::transposed);
    add_layer(out, "blocks.*.norm2", {layer + "layernorm_after"}, Layout::same);
    add_layer(out, "blocks.*.mlp.up", {layer + "intermediate.dense"}, Layout::transposed);
    add_layer(out, "blocks.*.mlp.down", {layer + "output.dense"}, Layout::transposed);
    add_layer(out, "norm", {"vit.layernorm"}, Layout::same);
    add_layer(out, "head", {"classifier"}, Layout::transposed);
    return out;
}

TensorPairs timm_vit_tensors() {
    TensorPairs out = {{"cls.weight", {"cls_token"}, Layout::in_two},
                       {"positions.weight", {"pos_embed"}, Layout::in_one}};
    add_layer(out, "patches", {"patch_embed.proj"}, Layout::convolution);
    add_layer(out, "blocks.*.norm1", {"blocks.*.norm1"}, Layout::same);
    add_layer(out, "blocks.*.attention.qkv", {"blocks.*.attn.qkv"}, Layout::transposed);
    add_layer(out, "blocks.*.attention.output", {"blocks.*.attn.proj"}, Layout::transposed);
    add_layer(out, "blocks.*.norm2", {"blocks.*.norm2"}, Layout::same);
    add_layer(out, "blocks.*.mlp.up", {"blocks.*.mlp.fc1"}, Layout::transposed);
    add_layer(out, "blocks.*.mlp.down", {"blocks.*.mlp.fc2"}, Layout::transposed);
    add_layer(out, "norm", {"norm"}, Layout::same);
    add_layer(out, "head", {"head"}, Layout::transposed);
    return out;
}

/// Classes of a classifier; two where nothing is said, as transformers has it.
std::int64_t labels_of(const ConfigReader& theirs) {
    const Json& names = theirs.object("id2label");
    return names.empty() ? theirs.whole("num_labels", 2) : static_cast<std::int64_t>(names.size());
}

Described describe_vit(const ConfigReader& theirs) {
    if (const std::string act = theirs.text("hidden_act", "gelu"); act != "gelu") {
        theirs.refuse("hidden_act", "the activation is '" + act + "', here always exact GELU");
    }
    if (!theirs.flag("qkv_bias", true)) {
        theirs.refuse("qkv_bias", "query, key and value have no bias");
    }
    const std::int64_t size = theirs.whole("image_size", 224);
    return {{{"type", "vit"},
             {"patch", theirs.whole("patch_size", 16)},
             {"layers", theirs.whole("num_hidden_layers", 12)},
             {"width", theirs.whole("hidden_size", 768)},
             {"heads", theirs.whole("num_attention_heads", 12)},
             {"mlp", theirs.whole("intermediate_size", 3072)},
             {"dropout", theirs.real("hidden_dropout_prob", 0.0)},
             {"norm_eps", theirs.real("layer_norm_eps", 1e-12)}},
            {{"type", "synthetic"},
             {"kind", "images"},
             {"samples", 1000},
             {"shape", {size, size, theirs.whole("num_channels", 3)}},
             {"classes", labels_of(theirs)}}};
}

Json config_of_vit(const Facts& ours) {
    const Json& s = ours.settings;
    const auto side =
        static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(ours.positions - 1))));
    return {{"architectures", {"ViTForImageClassification"}},
            {"model_type", "vit"},
            {"hidden_act", "gelu"},
            {"patch_size", s.at("patch")},
            {"image_size", side * s.at("patch").get<std::int64_t>()},
            {"num_channels", ours.channels},
            {"num_hidden_layers", s.at("layers")},
            {"hidden_size", s.at("width")},
            {"num_attention_heads", s.at("heads")},
            {"intermediate_size", s.at("mlp")},
            {"hidden_dropout_prob", s.at("dropout")},
            {"attention_probs_dropout_prob", s.at("dropout")},
            {"layer_norm_eps", s.at("norm_eps")},
            {"qkv_bias", true},
            {"num_labels", ours.classes}};
}

} // namespace

const Family kVitFamily = {.name = "vit",
                           .as = "huggingface",
                           .model = "vit",
                           .help = "ViT of transformers",
                           .tensors = vit_tensors,
                           .prefix = "vit.",
                           .named_modules = false,
                           .describe = describe_vit,
                           .config = config_of_vit};

const Family kTimmVitFamily = {.name = "vit",
                               .as = "timm",
                               .model = "vit",
                               .help = "ViT of timm",
                               .tensors = timm_vit_tensors};

} // namespace weft::foreign
