// SPDX-License-Identifier: Apache-2.0
// Layers that hold layers, and the token embedding.
#include "core/nn/layers/layer_list.h"

namespace weft::nn {
namespace {

using config::Json;

config::FieldTable residual_fields(int depth) {
    return {layers_field("layers", depth, "Layers whose output is added to their input.")};
}

ir::ValueId build_residual(ModelContext& context, const Json& settings, ir::ValueId x) {
    const ir::ValueId y = build_layers(context, settings.at("layers"), "layers", x);
    if (context.shape(x) != context.shape(y)) {
        context.fail("its layers turn " + ir::to_text(context.shape(x)) + " into " +
                         ir::to_text(context.shape(y)) + ", which cannot be added to the input",
                     "Keep the shape inside residual, or use branches with a projection.");
    }
    return ops::add(context.builder(), x, y);
}

config::FieldTable repeat_fields(int depth) {
    return {config::integer_field("count", nullptr, "How many copies, each with its own weights.")
                .must_be_given()
                .range(1, 1000),
            layers_field("layers", depth, "Layers of one copy.")};
}

ir::ValueId build_repeat(ModelContext& context, const Json& settings, ir::ValueId x) {
    const auto count = settings.at("count").get<std::int64_t>();
    for (std::int64_t i = 0; i < count; ++i) {
        const Scope scope(context, "copies." + std::to_string(i));
        x = build_layers(context, settings.at("layers"), "layers", x);
    }
    return x;
}

config::FieldTable branches_fields(int depth) {
    return {config::list_field("branches", nullptr,
                               layers_field("branch", depth, "Layers of one branch; may be empty."),
                               "Lists of layers that all see the same input.")
                .must_be_given(),
            config::choice_field("join", "concat", {"concat", "add"},
                                 "How the branches' outputs are put together.")};
}

ir::ValueId build_branches(ModelContext& context, const Json& settings, ir::ValueId x) {
    const Json& lists = settings.at("branches");
    if (lists.empty()) {
        context.fail("it has no branches", "Give at least one list of layers.");
    }
    ops::Builder& b = context.builder();
    ir::ValueIds outputs;
    for (std::size_t i = 0; i < lists.size(); ++i) {
        const Scope scope(context, "branches." + std::to_string(i));
        outputs.push_back(build_layers(context, lists[i], "layers", x));
    }
    if (settings.at("join") == "concat") {
        const std::int64_t last = context.shape(outputs[0]).rank() - 1;
        return outputs.size() == 1 ? outputs[0] : b.emit("concat", outputs, {{"dim", last}});
    }
    ir::ValueId sum = outputs[0];
    for (std::size_t i = 1; i < outputs.size(); ++i) {
        if (context.shape(outputs[i]) != context.shape(sum)) {
            context.fail("branch " + std::to_string(i) + " gives " +
                             ir::to_text(context.shape(outputs[i])) + " and branch 0 " +
                             ir::to_text(context.shape(sum)) + "; they cannot be added",
                         "Use join \"concat\" or give the branches equal shapes.");
        }
        sum = ops::add(b, sum, outputs[i]);
    }
    return sum;
}

config::FieldTable embedding_fields(int) {
    return {config::integer_field("width", nullptr, "Numbers per token.")
                .must_be_given()
                .range(1, 1 << 20),
            config::integer_field("vocab", nullptr, "Number of tokens; null: from the data.")
                .or_null()
                .range(1, 1 << 24)};
}

ir::ValueId build_embedding(ModelContext& context, const Json& settings, ir::ValueId x) {
    if (context.builder().type(x).dtype != ir::DType::i32) {
        context.fail("its input is " + ir::to_text(context.builder().type(x)) +
                         ", but it needs tokens (i32)",
                     "Use it as the first layer on token data.");
    }
    const std::int64_t vocab = settings.at("vocab").is_null()
                                   ? context.data().classes
                                   : settings.at("vocab").get<std::int64_t>();
    if (vocab < context.data().classes || vocab < 1) {
        context.fail("its vocab of " + std::to_string(vocab) + " is smaller than the data's " +
                         std::to_string(context.data().classes),
                     "Leave vocab out to take the data's.");
    }
    const ir::ValueId table =
        context.parameter("weight", {vocab, settings.at("width").get<std::int64_t>()},
                          Init::normal(0.02), {"vocab", "embed"});
    return context.builder().emit("embedding", {table, x});
}

} // namespace

const LayerDef kResidualLayer = {"residual", "x + layers(x).", residual_fields, build_residual,
                                 true};
const LayerDef kRepeatLayer = {"repeat", "The same layers several times, with own weights.",
                               repeat_fields, build_repeat, true};
const LayerDef kBranchesLayer = {"branches", "Several lists of layers on one input, joined.",
                                 branches_fields, build_branches, true};
const LayerDef kEmbeddingLayer = {"embedding", "Tokens [B, T] to vectors [B, T, width].",
                                  embedding_fields, build_embedding};

} // namespace weft::nn
