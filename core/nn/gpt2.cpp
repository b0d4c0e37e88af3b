// SPDX-License-Identifier: Apache-2.0
// GPT-2 (Radford et al. 2019), in the structure of Hugging Face's checkpoints: learned positions,
// pre-norm blocks, biases, LayerNorm eps 1e-5, tanh GELU, output tied to the token table.
// Tensors: wte.weight [V, C], wpe.weight [context, C], blocks.<i>.norm1, .attention.qkv,
// .attention.output, .norm2, .mlp.up, .mlp.down (each weight and bias), norm, head.weight [C, V] when
// not tied. Shape letters: B samples, T positions, C width, H heads, D = C / H, V vocabulary.
#include "core/base/text.h"
#include "core/nn/layer_def.h"
#include "core/nn/model_list.h"

#include <array>
#include <cmath>

namespace weft::nn {
namespace {

using config::Json;

constexpr double kNormEps = 1e-5;
constexpr double kInitDeviation = 0.02;

struct Variant {
    std::string_view name;
    std::int64_t layers, width, heads;
};

constexpr std::array kVariants = {Variant{"124m", 12, 768, 12}, Variant{"355m", 24, 1024, 16},
                                  Variant{"774m", 36, 1280, 20}, Variant{"1558m", 48, 1600, 25}};
constexpr std::int64_t kVariantContext = 1024;
constexpr std::int64_t kVariantVocab = 50257;
// Without a variant: a model that trains on a laptop.
constexpr Variant kSmall = {"", 6, 384, 6};
constexpr std::int64_t kSmallContext = 256;

struct Dimensions {
    std::int64_t layers, width, heads, context, vocab; // vocab 0: from the data
    double dropout;
    bool tied;
};

const Variant& variant_of(const Json& settings) {
    const Json& name = settings.at("variant");
    for (const Variant& variant : kVariants) {
        if (name.is_string() && name.get_ref<const std::string&>() == variant.name) {
            return variant;
        }
    }
    return kSmall;
}

std::int64_t given(const Json& settings, const char* name, std::int64_t otherwise) {
    return settings.at(name).is_null() ? otherwise : settings.at(name).get<std::int64_t>();
}

Dimensions dimensions(const Json& settings) {
    const Variant& variant = variant_of(settings);
    const bool small = variant.name.empty();
    return {given(settings, "layers", variant.layers),
            given(settings, "width", variant.width),
            given(settings, "heads", variant.heads),
            given(settings, "context", small ? kSmallContext : kVariantContext),
            given(settings, "vocab", small ? 0 : kVariantVocab),
            settings.at("dropout").get<double>(),
            settings.at("tied").get<bool>()};
}

config::FieldTable gpt2_fields() {
    const auto size = [](const char* name, const char* help, double most) {
        return config::integer_field(name, nullptr, help).or_null().range(1, most);
    };
    std::vector<std::string> variants;
    for (const Variant& variant : kVariants) {
        variants.emplace_back(variant.name);
    }
    return {config::choice_field("variant", nullptr, variants,
                                 "A published size; null: the fields below.")
                .or_null(),
            size("layers", "Transformer blocks; null: the variant's, or 6.", 1000),
            size("width", "Channels; null: the variant's, or 384.", 1 << 16),
            size("heads", "Attention heads; null: the variant's, or 6.", 1024),
            size("context", "Positions the model sees; null: 1024 for a variant, or 256.", 1 << 20)
                .in("tokens"),
            size("vocab", "Number of tokens; null: 50257 for a variant, or the data's.", 1 << 24),
            config::real_field("dropout", 0.0,
                               "Share of values set to zero after embedding, attention and block.")
                .range(0.0, 0.95),
            config::boolean_field("tied", true, "The output uses the token table's weights.")};
}

void check_gpt2(const Json& settings, const std::string& pointer, config::Diagnostics& out) {
    const Dimensions d = dimensions(settings);
    if (d.width % d.heads != 0) {
        out.push_back({pointer + "/heads", config::Severity::error,
                       "width " + std::to_string(d.width) + " does not divide into " +
                           std::to_string(d.heads) + " heads",
                       "Choose a number of heads that divides the width."});
    }
}

std::int64_t context_length(const Json& settings) {
    return dimensions(settings).context;
}

ir::ValueId attention(ModelContext& context, const Dimensions& d, ir::ValueId x) {
    ops::Builder& b = context.builder();
    const Scope scope(context, "attention");
    const std::int64_t samples = context.shape(x)[0];
    const std::int64_t positions = context.shape(x)[1];
    const std::int64_t head_width = d.width / d.heads;

    ir::ValueId qkv; // [B, T, 3C]
    {
        const Scope inner(context, "qkv");
        qkv = dense(context, x, 3 * d.width, Init::normal(kInitDeviation), {"embed", "heads"});
    }
    const auto part = [&](std::int64_t index) { // [B, T, H, D]
        const ir::ValueId third =
            ops::slice(b, qkv, {0, 0, index * d.width}, {samples, positions, d.width});
        return ops::reshape(b, third, {samples, positions, d.heads, head_width});
    };
    const ir::ValueId query = part(0);
    ir::ValueId key = part(1);
    ir::ValueId value = part(2);
    const double scale = 1.0 / std::sqrt(static_cast<double>(head_width));

    ir::ValueId mixed;
    if (context.mode() == Mode::decode) {
        const ir::Shape cache = {samples, d.context, d.heads, head_width};
        key = b.emit("cache_write", {context.cache("keys", cache), key, context.position()});
        value = b.emit("cache_write", {context.cache("values", cache), value, context.position()});
        context.update("keys", key);
        context.update("values", value);
        mixed = b.emit("attention_cached", {query, key, value, context.position()},
                       {{"scale", scale}});
    } else {
        std::vector<ir::ValueId> operands = {query, key, value};
        ir::Attributes attributes = {{"causal", true}, {"scale", scale}};
        if (context.training() && d.dropout > 0.0) {
            operands.push_back(context.random());
            attributes.set("rate", d.dropout);
            attributes.set("stream", context.path());
        }
        mixed = b.emit("attention", operands, attributes);
    }
    mixed = ops::reshape(b, mixed, {samples, positions, d.width});
    const Scope inner(context, "output");
    const double deviation = kInitDeviation / std::sqrt(2.0 * static_cast<double>(d.layers));
    const ir::ValueId out =
        dense(context, mixed, d.width, Init::normal(deviation), {"heads", "embed"});
    return dropout(context, out, d.dropout);
}

ir::ValueId mlp(ModelContext& context, const Dimensions& d, ir::ValueId x) {
    const Scope scope(context, "mlp");
    {
        const Scope inner(context, "up");
        x = dense(context, x, 4 * d.width, Init::normal(kInitDeviation), {"embed", "mlp"});
        x = activation(context, "gelu", x);
    }
    const Scope inner(context, "down");
    const double deviation = kInitDeviation / std::sqrt(2.0 * static_cast<double>(d.layers));
    x = dense(context, x, d.width, Init::normal(deviation), {"mlp", "embed"});
    return dropout(context, x, d.dropout);
}

ir::ValueId normalised(ModelContext& context, const char* name, ir::ValueId x) {
    const Scope scope(context, name);
    return layer_norm(context, x, kNormEps);
}

ir::ValueId block(ModelContext& context, const Dimensions& d, ir::ValueId x) {
    ops::Builder& b = context.builder();
    x = ops::add(b, x, attention(context, d, normalised(context, "norm1", x)));
    return ops::add(b, x, mlp(context, d, normalised(context, "norm2", x)));
}

// A prefill starts at position 0; a decode of one token looks its position up.
ir::ValueId position_rows(ModelContext& context, const Dimensions& d, std::int64_t positions) {
    ops::Builder& b = context.builder();
    const Scope scope(context, "wpe");
    const ir::ValueId table = context.parameter("weight", {d.context, d.width},
                                                Init::normal(kInitDeviation), {"", "embed"});
    if (context.mode() == Mode::decode && positions == 1) {
        const ir::ValueId row =
            ops::reshape(b, ops::cast(b, context.position(), ir::DType::i32), {1, 1});
        return b.emit("embedding", {table, row});
    }
    return positions == d.context ? table : ops::slice(b, table, {0, 0}, {positions, d.width});
}

void check_data(ModelContext& context, const Dimensions& d, ir::ValueId inputs) {
    const ir::Type& type = context.builder().type(inputs);
    if (type.dtype != ir::DType::i32 || type.shape.rank() != 2) {
        context.fail("gpt2 needs tokens i32[T], but the data delivers " +
                         ir::to_text(context.data().input),
                     "Use a text or tokens source.");
    }
    if (type.shape[1] > d.context) {
        context.fail("a sample has " + std::to_string(type.shape[1]) +
                         " tokens, but the model's context is " + std::to_string(d.context),
                     "Raise model.context.");
    }
    if (d.vocab < context.data().classes || d.vocab < 1) {
        context.fail("the vocabulary of " + std::to_string(d.vocab) +
                         " is smaller than the data's " + std::to_string(context.data().classes),
                     "Leave model.vocab out to take the data's.");
    }
}

ir::ValueId build_gpt2(ModelContext& context, const Json& settings, ir::ValueId inputs) {
    Dimensions d = dimensions(settings);
    d.vocab = d.vocab == 0 ? context.data().classes : d.vocab;
    check_data(context, d, inputs);
    ops::Builder& b = context.builder();
    ir::ValueId table;
    ir::ValueId x; // [B, T, C]
    {
        const Scope scope(context, "wte");
        table = context.parameter("weight", {d.vocab, d.width}, Init::normal(kInitDeviation),
                                  {"vocab", "embed"});
        x = b.emit("embedding", {table, inputs});
    }
    x = ops::add(b, x, position_rows(context, d, context.shape(inputs)[1]));
    {
        const Scope scope(context, "embedding");
        x = dropout(context, x, d.dropout);
    }
    for (std::int64_t i = 0; i < d.layers; ++i) {
        const Scope scope(context, "blocks." + std::to_string(i));
        x = block(context, d, x);
    }
    x = normalised(context, "norm", x);
    const Scope scope(context, "head");
    if (d.tied) {
        return ops::matmul(b, x, table, false, true);
    }
    return dense(context, x, d.vocab, Init::normal(kInitDeviation), {"embed", "vocab"}, false);
}

} // namespace

const ModelDef kGpt2Model = {"gpt2", "GPT-2 language model; on text data it reads bytes.",
                             gpt2_fields, build_gpt2, check_gpt2, context_length};

} // namespace weft::nn
