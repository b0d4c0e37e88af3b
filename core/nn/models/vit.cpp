// SPDX-License-Identifier: Apache-2.0
// Vision Transformer (Dosovitskiy et al. 2021), in the structure of timm's checkpoints: patches, a
// CLS token, learned positions, pre-norm blocks with biases, LayerNorm, exact GELU, the
// head on the CLS token. Shape letters: B samples, C width, F inner width of the MLP, P extent of a
// patch.
#include "core/nn/models/model_list.h"
#include "core/nn/models/model_settings.h"
#include "core/nn/models/transformer.h"

#include <array>

namespace weft::nn {
namespace {

using config::Json;

constexpr double kVitNormEps = 1e-6; // timm's, unless set otherwise

struct VitVariant {
    std::string_view name;
    std::int64_t patch, layers, width, heads;
};

constexpr std::array kVitVariants = {
    VitVariant{"ti16", 16, 12, 192, 3},  VitVariant{"s16", 16, 12, 384, 6},
    VitVariant{"b16", 16, 12, 768, 12},  VitVariant{"b32", 32, 12, 768, 12},
    VitVariant{"l16", 16, 24, 1024, 16}, VitVariant{"h14", 14, 32, 1280, 16}};
// Without a variant: a model for small images that trains on a laptop.
constexpr VitVariant kVitTiny = {"", 4, 6, 192, 3};

struct VitDimensions {
    std::int64_t patch, layers, width, heads, mlp;
    double dropout, norm_eps;
};

VitDimensions vit_dimensions(const Json& settings) {
    const VitVariant& variant = variant_of(settings, kVitVariants, kVitTiny);
    const std::int64_t width = given(settings, "width", variant.width);
    return {given(settings, "patch", variant.patch),
            given(settings, "layers", variant.layers),
            width,
            given(settings, "heads", variant.heads),
            given(settings, "mlp", 4 * width),
            settings.at("dropout").get<double>(),
            settings.at("norm_eps").get<double>()};
}

config::FieldTable vit_fields() {
    return {variant_field(kVitVariants),
            size_field("patch", "Height and width of a patch; null: the variant's, or 4.", 1024)
                .in("pixels"),
            size_field("layers", "Transformer blocks; null: the variant's, or 6.", 1000),
            size_field("width", "Channels; null: the variant's, or 192.", 1 << 16),
            size_field("heads", "Attention heads; null: the variant's, or 3.", 1024),
            size_field("mlp", "Inner width of the MLP; null: four times the width.", 1 << 20),
            config::real_field("dropout", 0.0,
                               "Share of values set to zero after embedding, attention and block.")
                .range(0.0, 0.95),
            norm_eps_field(kVitNormEps, "layer_norm_eps")};
}

void check_vit(const Json& settings, const std::string& pointer, config::Diagnostics& out) {
    const VitDimensions d = vit_dimensions(settings);
    if (d.width % d.heads != 0) {
        out.push_back({pointer + "/heads", config::Severity::error,
                       "width " + std::to_string(d.width) + " does not divide into " +
                           std::to_string(d.heads) + " heads",
                       "Choose a number of heads that divides the width."});
    }
}

Json resolved_vit(const Json& settings) {
    const VitDimensions d = vit_dimensions(settings);
    Json out = settings;
    out["patch"] = d.patch;
    out["layers"] = d.layers;
    out["width"] = d.width;
    out["heads"] = d.heads;
    out["mlp"] = d.mlp;
    return out;
}

void check_data(ModelContext& context, const VitDimensions& d, ir::ValueId inputs) {
    const ir::Type& type = context.builder().type(inputs);
    if (!ir::is_float(type.dtype) || type.shape.rank() != 4) {
        context.fail("vit needs images [height, width, channels], but the data delivers " +
                         ir::to_text(context.data().input),
                     "Use image data.");
    }
    if (type.shape[1] % d.patch != 0 || type.shape[2] % d.patch != 0) {
        context.fail("images of " + std::to_string(type.shape[1]) + " x " +
                         std::to_string(type.shape[2]) + " do not divide into patches of " +
                         std::to_string(d.patch) + " x " + std::to_string(d.patch),
                     "Choose model.patch as a divisor of the image's height and width.");
    }
}

// Images [B, H, W, channels] -> [B, patches, C]: a convolution whose windows do not overlap.
ir::ValueId embed_patches(ModelContext& context, const VitDimensions& d, ir::ValueId images) {
    ops::Builder& b = context.builder();
    const Scope scope(context, "patches");
    const ir::Shape shape = context.shape(images);
    const ir::ValueId weight =
        context.parameter("weight", {d.patch, d.patch, shape[3], d.width},
                          Init::fan_in(d.patch * d.patch * shape[3]), {"", "", "", "embed"});
    const ir::ValueId grid = b.emit("conv2d", {images, weight},
                                    {{"stride", std::vector<std::int64_t>{d.patch, d.patch}},
                                     {"padding", std::vector<std::int64_t>{0, 0, 0, 0}}});
    const std::int64_t count = context.shape(grid)[1] * context.shape(grid)[2];
    const ir::ValueId bias = context.parameter("bias", {d.width}, Init::zeros(), {"embed"});
    return ops::add(b, ops::reshape(b, grid, {shape[0], count, d.width}), bias);
}

// [B, patches, C] -> [B, 1 + patches, C]
ir::ValueId with_cls(ModelContext& context, const VitDimensions& d, ir::ValueId x) {
    ops::Builder& b = context.builder();
    const Scope scope(context, "cls");
    const ir::ValueId token = context.parameter("weight", {d.width}, transformer_init(), {"embed"});
    const ir::ValueId tokens =
        b.emit("broadcast", {token},
               {{"shape", std::vector<std::int64_t>{context.shape(x)[0], 1, d.width}}});
    return b.emit("concat", {tokens, x}, {{"dim", std::int64_t{1}}});
}

ir::ValueId embed(ModelContext& context, const VitDimensions& d, ir::ValueId images) {
    ir::ValueId x = with_cls(context, d, embed_patches(context, d, images));
    {
        const Scope scope(context, "positions");
        const ir::ValueId positions = context.parameter("weight", {context.shape(x)[1], d.width},
                                                        transformer_init(), {"", "embed"});
        x = ops::add(context.builder(), x, positions);
    }
    const Scope scope(context, "embedding");
    return dropout(context, x, d.dropout);
}

ir::ValueId build_vit(ModelContext& context, const Json& settings, ir::ValueId inputs) {
    const VitDimensions d = vit_dimensions(settings);
    check_data(context, d, inputs);
    ops::Builder& b = context.builder();
    const BlockSettings block{.layers = d.layers,
                              .width = d.width,
                              .heads = d.heads,
                              .mlp = d.mlp,
                              .dropout = d.dropout,
                              .norm_eps = d.norm_eps,
                              .gelu = "gelu_erf",
                              .attention = {false, 0, d.dropout}};
    ir::ValueId x = embed(context, d, inputs);
    for (std::int64_t i = 0; i < d.layers; ++i) {
        const Scope scope(context, "blocks." + std::to_string(i));
        x = transformer_block(context, block, x);
    }
    // Rows are normalised one by one, so that only the CLS token's is needed.
    const std::int64_t samples = context.shape(x)[0];
    x = ops::reshape(b, ops::slice(b, x, {0, 0, 0}, {samples, 1, d.width}), {samples, d.width});
    {
        const Scope scope(context, "norm");
        x = layer_norm(context, x, d.norm_eps);
    }
    const Scope scope(context, "head");
    return dense(context, x, context.data().outputs(), transformer_init(), {"embed", "vocab"});
}

constexpr std::string_view kVitTensors =
    "patches.weight [P, P, channels, C]: a convolution\n"
    "patches.bias [C]\n"
    "cls.weight [C]\n"
    "positions.weight [1 + patches, C]\n"
    "blocks.*.norm1.weight [C]\n"
    "blocks.*.norm1.bias [C]\n"
    "blocks.*.attention.qkv.weight [C, 3C]: query, key, value\n"
    "blocks.*.attention.qkv.bias [3C]\n"
    "blocks.*.attention.output.weight [C, C]\n"
    "blocks.*.attention.output.bias [C]\n"
    "blocks.*.norm2.weight [C]\n"
    "blocks.*.norm2.bias [C]\n"
    "blocks.*.mlp.up.weight [C, F]\n"
    "blocks.*.mlp.up.bias [F]\n"
    "blocks.*.mlp.down.weight [F, C]\n"
    "blocks.*.mlp.down.bias [C]\n"
    "norm.weight [C]\n"
    "norm.bias [C]\n"
    "head.weight [C, classes]\n"
    "head.bias [classes]\n";

} // namespace

const ModelDef kVitModel = {.name = "vit",
                            .help = "Vision Transformer.",
                            .tensors = kVitTensors,
                            .fields = vit_fields,
                            .build = build_vit,
                            .check = check_vit,
                            .resolved = resolved_vit};

} // namespace weft::nn
