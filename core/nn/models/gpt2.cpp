// SPDX-License-Identifier: Apache-2.0
// GPT-2 (Radford et al. 2019), in the structure of Hugging Face's checkpoints: learned positions,
// pre-norm blocks, biases, LayerNorm, tanh GELU, output tied to the token table. Shape letters:
// B samples, T positions, C width, F = 4 C, V vocabulary, E experts.
#include "core/nn/models/model_list.h"
#include "core/nn/models/model_settings.h"
#include "core/nn/models/transformer.h"

#include <array>

namespace weft::nn {
namespace {

using config::Json;

constexpr double kGpt2NormEps = 1e-5; // unless set otherwise

struct Gpt2Variant {
    std::string_view name;
    std::int64_t layers, width, heads;
};

constexpr std::array kGpt2Variants = {
    Gpt2Variant{"124m", 12, 768, 12}, Gpt2Variant{"355m", 24, 1024, 16},
    Gpt2Variant{"774m", 36, 1280, 20}, Gpt2Variant{"1558m", 48, 1600, 25}};
constexpr std::int64_t kVariantContext = 1024;
constexpr std::int64_t kVariantVocab = 50257;
// Without a variant: a model that trains on a laptop.
constexpr Gpt2Variant kGpt2Small = {"", 6, 384, 6};
constexpr std::int64_t kSmallContext = 256;

struct Gpt2Dimensions {
    std::int64_t layers, width, heads, context, vocab; // vocab 0: from the data
    double dropout, norm_eps;
    bool tied;
};

Gpt2Dimensions gpt2_dimensions(const Json& settings) {
    const Gpt2Variant& variant = variant_of(settings, kGpt2Variants, kGpt2Small);
    const bool small = variant.name.empty();
    return {given(settings, "layers", variant.layers),
            given(settings, "width", variant.width),
            given(settings, "heads", variant.heads),
            given(settings, "context", small ? kSmallContext : kVariantContext),
            given(settings, "vocab", small ? 0 : kVariantVocab),
            settings.at("dropout").get<double>(),
            settings.at("norm_eps").get<double>(),
            settings.at("tied").get<bool>()};
}

config::FieldTable gpt2_fields() {
    config::FieldTable table = {
        variant_field(kGpt2Variants),
        size_field("layers", "Transformer blocks; null: the variant's, or 6.", 1000),
        size_field("width", "Channels; null: the variant's, or 384.", 1 << 16),
        size_field("heads", "Attention heads; null: the variant's, or 6.", 1024),
        size_field("context", "Positions the model sees; null: 1024 for a variant, or 256.",
                   1 << 20)
            .in("tokens"),
        size_field("vocab", "Number of tokens; null: 50257 for a variant, or the data's.", 1 << 24),
        config::real_field("dropout", 0.0,
                           "Share of values set to zero after embedding, attention and block.")
            .range(0.0, 0.95),
        norm_eps_field(kGpt2NormEps, "layer_norm_epsilon"),
        config::boolean_field("tied", true, "The output uses the token table's weights.")};
    for (config::Field& field :
         expert_fields("Feed-forward networks per block; none: a single one.")) {
        table.push_back(std::move(field));
    }
    return table;
}

void check_gpt2(const Json& settings, const std::string& pointer, config::Diagnostics& out) {
    const Gpt2Dimensions d = gpt2_dimensions(settings);
    if (d.width % d.heads != 0) {
        out.push_back({pointer + "/heads", config::Severity::error,
                       "width " + std::to_string(d.width) + " does not divide into " +
                           std::to_string(d.heads) + " heads",
                       "Choose a number of heads that divides the width."});
    }
    check_experts(expert_settings(settings), pointer, out);
}

Json resolved_gpt2(const Json& settings) {
    const Gpt2Dimensions d = gpt2_dimensions(settings);
    Json out = settings;
    out["layers"] = d.layers;
    out["width"] = d.width;
    out["heads"] = d.heads;
    out["context"] = d.context;
    out["experts"] = expert_settings(settings).experts;
    if (d.vocab > 0) {
        out["vocab"] = d.vocab;
    }
    return out;
}

std::int64_t gpt2_context_length(const Json& settings) {
    return gpt2_dimensions(settings).context;
}

std::int64_t gpt2_experts(const Json& settings) {
    return expert_settings(settings).experts;
}

// A prefill starts at position 0; a decode of one token looks its position up, and packed sequences
// look up theirs.
ir::ValueId position_rows(ModelContext& context, const Gpt2Dimensions& d, const Tokens& tokens) {
    const std::int64_t positions = context.shape(tokens.ids)[1];
    ops::Builder& b = context.builder();
    const Scope scope(context, "wpe");
    const ir::ValueId table =
        context.parameter("weight", {d.context, d.width}, transformer_init(), {"", "embed"});
    if (context.mode() == Mode::decode && positions == 1) {
        const ir::ValueId row =
            ops::reshape(b, ops::cast(b, context.position(), ir::DType::i32), {1, 1});
        return b.emit("embedding", {table, row});
    }
    if (tokens.positions.valid()) {
        return b.emit("embedding", {table, tokens.positions});
    }
    return positions == d.context ? table : ops::slice(b, table, {0, 0}, {positions, d.width});
}

ir::ValueId build_gpt2(ModelContext& context, const Json& settings, ir::ValueId inputs) {
    Gpt2Dimensions d = gpt2_dimensions(settings);
    d.vocab = d.vocab == 0 ? context.data().classes : d.vocab;
    const Tokens tokens = tokens_of(context, "gpt2", d.context, d.vocab, inputs);
    ops::Builder& b = context.builder();
    ir::ValueId table;
    ir::ValueId x; // [B, T, C]
    {
        const Scope scope(context, "wte");
        table =
            context.parameter("weight", {d.vocab, d.width}, transformer_init(), {"vocab", "embed"});
        x = b.emit("embedding", {table, tokens.ids});
    }
    x = ops::add(b, x, position_rows(context, d, tokens));
    {
        const Scope scope(context, "embedding");
        x = dropout(context, x, d.dropout);
    }
    const BlockSettings block{.layers = d.layers,
                              .width = d.width,
                              .heads = d.heads,
                              .mlp = 4 * d.width,
                              .dropout = d.dropout,
                              .norm_eps = d.norm_eps,
                              .gelu = "gelu",
                              .attention = {true, d.context, d.dropout, tokens.positions},
                              .experts = expert_settings(settings)};
    for (std::int64_t i = 0; i < d.layers; ++i) {
        const Scope scope(context, "blocks." + std::to_string(i));
        x = transformer_block(context, block, x);
    }
    {
        const Scope scope(context, "norm");
        x = layer_norm(context, x, d.norm_eps);
    }
    const Scope scope(context, "head");
    if (d.tied) {
        return ops::matmul(b, x, table, false, true);
    }
    return dense(context, x, d.vocab, transformer_init(), {"embed", "vocab"}, false);
}

constexpr std::string_view kGpt2Tensors =
    "wte.weight [V, C]: tokens\n"
    "wpe.weight [context, C]: positions\n"
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
    "blocks.*.mlp.router.weight [C, E]: with E experts, in "
    "place of up and down\n"
    "blocks.*.mlp.experts.up.weight [E, C, F]\n"
    "blocks.*.mlp.experts.down.weight [E, F, C]\n"
    "norm.weight [C]\n"
    "norm.bias [C]\n"
    "head.weight [C, V]: where tied is false\n";

} // namespace

const ModelDef kGpt2Model = {"gpt2",
                             "GPT-2 language model; on text data it reads bytes.",
                             kGpt2Tensors,
                             gpt2_fields,
                             build_gpt2,
                             check_gpt2,
                             gpt2_context_length,
                             gpt2_experts,
                             resolved_gpt2};

} // namespace weft::nn
