// SPDX-License-Identifier: Apache-2.0
// Attention as a layer, and whole numbers as waves.
#include "core/nn/layers/layer_list.h"
#include "core/nn/models/transformer.h"

namespace weft::nn {
namespace {

using config::Json;

config::FieldTable attention_fields(int) {
    return {
        config::integer_field("heads", 4, "Heads; divides the channels.").range(1, 1 << 16),
        config::boolean_field("causal", false, "A position sees none after it."),
        config::real_field("dropout", 0.0, "Share of the probabilities set to zero in training.")
            .range(0.0, 0.95)};
}

ir::ValueId build_multi_head_attention(ModelContext& context, const Json& settings, ir::ValueId x) {
    const ir::Shape shape = context.shape(x);
    if (shape.rank() != 3 || !ir::is_float(context.builder().type(x).dtype)) {
        context.fail("its input is " + ir::to_text(context.builder().type(x)) +
                         ", but it needs sequences [batch, positions, channels]",
                     "Use it after an embedding layer, or on data of that shape.");
    }
    const auto heads = settings.at("heads").get<std::int64_t>();
    const std::int64_t width = shape[2];
    if (width % heads != 0) {
        context.fail(std::to_string(width) + " channels do not divide into " +
                         std::to_string(heads) + " heads",
                     "Use a number of heads that divides the channels.");
    }
    ops::Builder& b = context.builder();
    const std::int64_t each = width / heads;
    const auto projected = [&](const char* name) {
        const Scope scope(context, name);
        const ir::ValueId y =
            dense(context, x, width, Init::fan_in(width), {"embed", heads_axis("heads", each)});
        return ops::reshape(b, y, {shape[0], shape[1], heads, each});
    };
    const ir::ValueId query = projected("query");
    const ir::ValueId key = projected("key");
    const ir::ValueId value = projected("value");
    const AttentionSettings how{.causal = settings.at("causal").get<bool>(),
                                .dropout = settings.at("dropout").get<double>()};
    const ir::ValueId mixed = attend(context, how, query, key, value);
    const Scope scope(context, "output");
    return dense(context, mixed, width, Init::fan_in(width), {heads_axis("heads", each), "embed"});
}

config::FieldTable time_embedding_fields(int) {
    return {config::integer_field("times", 1000, "The largest number; 0 is the smallest.")
                .range(1, 1 << 20),
            config::integer_field("width", 128, "Cosines and sines; even.").range(2, 1 << 16)};
}

ir::ValueId build_time_embedding(ModelContext& context, const Json& settings, ir::ValueId x) {
    if (context.builder().type(x).dtype != ir::DType::i32) {
        context.fail("its input is " + ir::to_text(context.builder().type(x)) +
                         ", but it needs whole numbers",
                     "Use it as the first layer, on data of whole numbers.");
    }
    const auto width = settings.at("width").get<std::int64_t>();
    if (width % 2 != 0) {
        context.fail("a width of " + std::to_string(width) + " is no pairs of cosine and sine",
                     "Use an even number.");
    }
    const auto rows = settings.at("times").get<std::int64_t>() + 1;
    if (context.data().classes > rows) {
        context.fail("the data has " + std::to_string(context.data().classes) +
                         " different numbers, but there are waves for " + std::to_string(rows),
                     "Raise times.");
    }
    return context.builder().emit("embedding",
                                  {waves_of(context.builder(), rows, width, kWaveBase), x});
}

} // namespace

// There is no op that counts: `rotary` turns (1, 0), in pairs of channels i and i + D / 2, by
// row theta^(-2 i / D).
ir::ValueId waves_of(ops::Builder& b, std::int64_t rows, std::int64_t channels, double theta) {
    const ir::Shape half{1, rows, 1, channels / 2};
    const ir::ValueId straight =
        b.emit("concat", {ops::constant(b, 1.0, half), ops::constant(b, 0.0, half)},
               {{"dim", std::int64_t{3}}});
    return ops::reshape(b, b.emit("rotary", {straight}, {{"theta", theta}, {"inverse", false}}),
                        {rows, channels});
}

const LayerDef kMultiHeadAttentionLayer = {
    "multi_head_attention",
    "Every position takes from all others what it asks for: [B, T, C] to the same.",
    attention_fields, build_multi_head_attention};
const LayerDef kTimeEmbeddingLayer = {
    "time_embedding",
    "Whole numbers as cosines and sines of falling frequency: [B, ...] to [B, ..., width].",
    time_embedding_fields, build_time_embedding};

} // namespace weft::nn
