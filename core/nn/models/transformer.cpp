// SPDX-License-Identifier: Apache-2.0
#include "core/nn/models/transformer.h"

#include <cmath>

namespace weft::nn {
namespace {

constexpr double kBlockDeviation = 0.02;

ir::ValueId layer_normalised(ModelContext& context, const char* name, ir::ValueId x, double eps) {
    const Scope scope(context, name);
    return layer_norm(context, x, eps);
}

ir::ValueId self_attention(ModelContext& context, const BlockSettings& s, ir::ValueId x) {
    ops::Builder& b = context.builder();
    const Scope scope(context, "attention");
    const std::int64_t samples = context.shape(x)[0];
    const std::int64_t positions = context.shape(x)[1];
    ir::ValueId qkv; // [B, T, 3C]
    {
        const Scope inner(context, "qkv");
        qkv = dense(context, x, 3 * s.width, transformer_init(),
                    {"embed", heads_axis("heads", s.width / s.heads, 3)});
    }
    const auto part = [&](std::int64_t index) { // [B, T, H, D]
        const ir::ValueId third =
            ops::slice(b, qkv, {0, 0, index * s.width}, {samples, positions, s.width});
        return ops::reshape(b, third, {samples, positions, s.heads, s.width / s.heads});
    };
    const ir::ValueId query = part(0);
    const ir::ValueId key = part(1);
    const ir::ValueId value = part(2);
    const ir::ValueId mixed = attend(context, s.attention, query, key, value);
    const Scope inner(context, "output");
    const ir::ValueId out = dense(context, mixed, s.width, residual_init(s.layers),
                                  {heads_axis("heads", s.width / s.heads), "embed"});
    return dropout(context, out, s.dropout);
}

ir::ValueId block_mlp(ModelContext& context, const BlockSettings& s, ir::ValueId x) {
    const Scope scope(context, "mlp");
    if (s.experts.experts > 0) {
        const ExpertNetwork network{.inner = s.mlp,
                                    .activation = s.gelu,
                                    .init = transformer_init(),
                                    .down_init = residual_init(s.layers)};
        x = mixture_of_experts(context, s.experts, network, x);
        return dropout(context, x, s.dropout);
    }
    {
        const Scope inner(context, "up");
        x = dense(context, x, s.mlp, transformer_init(), {"embed", "mlp"});
        x = context.builder().emit(s.gelu, {x});
    }
    const Scope inner(context, "down");
    x = dense(context, x, s.width, residual_init(s.layers), {"mlp", "embed"});
    return dropout(context, x, s.dropout);
}

} // namespace

std::string heads_axis(const char* name, std::int64_t head_width, std::int64_t parts) {
    return std::to_string(parts) + "*" + name + "*" + std::to_string(head_width);
}

Init transformer_init() {
    return Init::normal(kBlockDeviation);
}

Init residual_init(std::int64_t layers) {
    return Init::normal(kBlockDeviation / std::sqrt(2.0 * static_cast<double>(layers)));
}

Tokens tokens_of(ModelContext& context, std::string_view model, std::int64_t most,
                 std::int64_t vocab, ir::ValueId inputs) {
    const ir::Type type = context.builder().type(inputs);
    const bool packed = type.shape.rank() == 3 && type.shape[1] == 2;
    if (type.dtype != ir::DType::i32 || (type.shape.rank() != 2 && !packed)) {
        context.fail(std::string(model) + " needs tokens i32[T], but the data delivers " +
                         ir::to_text(context.data().input),
                     "Use a text or tokens source.");
    }
    const std::int64_t length = type.shape[type.shape.rank() - 1];
    if (length > most) {
        context.fail("a sample has " + std::to_string(length) +
                         " tokens, but the model's context is " + std::to_string(most),
                     "Raise model.context.");
    }
    if (vocab < context.data().classes || vocab < 1) {
        context.fail("the vocabulary of " + std::to_string(vocab) + " is smaller than the data's " +
                         std::to_string(context.data().classes),
                     "Leave model.vocab out to take the data's.");
    }
    if (!packed) {
        return {inputs, {}};
    }
    ops::Builder& b = context.builder();
    const Scope scope(context, "tokens");
    const std::int64_t samples = type.shape[0];
    const auto row = [&](std::int64_t index) {
        return ops::reshape(b, ops::slice(b, inputs, {0, index, 0}, {samples, 1, length}),
                            {samples, length});
    };
    const ir::ValueId ids = row(0);
    return {ids, row(1)};
}

ir::ValueId attend(ModelContext& context, const AttentionSettings& settings, ir::ValueId q,
                   ir::ValueId k, ir::ValueId v) {
    ops::Builder& b = context.builder();
    const ir::Shape shape = context.shape(q);
    const double scale = 1.0 / std::sqrt(static_cast<double>(shape[3]));
    ir::ValueId mixed;
    if (context.mode() == Mode::decode) {
        ir::Shape cache = context.shape(k);
        cache[1] = settings.context;
        k = b.emit("cache_write", {context.cache("keys", cache), k, context.position()});
        v = b.emit("cache_write", {context.cache("values", cache), v, context.position()});
        context.update("keys", k);
        context.update("values", v);
        mixed = b.emit("attention_cached", {q, k, v, context.position()}, {{"scale", scale}});
    } else {
        ir::ValueIds operands = {q, k, v};
        ir::Attributes attributes = {{"causal", settings.causal}, {"scale", scale}};
        if (settings.positions.valid()) {
            operands.push_back(settings.positions);
            attributes.set("packed", true);
        }
        if (context.training() && settings.dropout > 0.0) {
            operands.push_back(context.random());
            attributes.set("rate", settings.dropout);
            attributes.set("stream", context.path());
        }
        mixed = b.emit("attention", operands, attributes);
    }
    return ops::reshape(b, mixed, {shape[0], shape[1], shape[2] * shape[3]});
}

ir::ValueId transformer_block(ModelContext& context, const BlockSettings& settings, ir::ValueId x) {
    ops::Builder& b = context.builder();
    const double eps = settings.norm_eps;
    x = ops::add(b, x,
                 self_attention(context, settings, layer_normalised(context, "norm1", x, eps)));
    return ops::add(b, x, block_mlp(context, settings, layer_normalised(context, "norm2", x, eps)));
}

} // namespace weft::nn
