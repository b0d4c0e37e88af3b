// SPDX-License-Identifier: Apache-2.0
// A list of layers one after the other. Tensors: layers.<position>.<name>; nested layers add
// "layers.<position>", copies of repeat "copies.<i>", branches "branches.<i>".
#include "core/nn/layers/layer_list.h"
#include "core/nn/models/model_list.h"

namespace weft::nn {

void require_prediction(ModelContext& context, ir::ValueId y) {
    const ir::Shape& shape = context.shape(y);
    const bool per_position =
        context.data().symbols > 0 ||
        (context.data().classes > 0 && context.data().target.shape.rank() == 1);
    const int rank = per_position ? 3 : 2;
    if (shape.rank() != rank || shape.back() != context.data().outputs()) {
        context.fail("the last layer gives " + ir::to_text(shape) + ", but the data needs [batch" +
                         (per_position ? ", positions, " : ", ") +
                         std::to_string(context.data().outputs()) + "]",
                     per_position ? "End with a linear layer; sequence makes positions of images."
                                  : "End with a linear layer, after flatten or global_avg_pool for "
                                    "images.");
    }
}

namespace {

using config::Json;

config::FieldTable sequential_fields() {
    return {layers_field("layers", kLayerDepth, "Layers from input to output.")};
}

void check_sequential(const Json& settings, const std::string& pointer, config::Diagnostics& out) {
    if (settings.at("layers").empty()) {
        out.push_back({pointer + "/layers", config::Severity::error, "the list of layers is empty",
                       "Add layers; the last one, mostly a linear layer, gives the prediction."});
    }
}

// A linear layer at the end that only gives another number of values: its units are the mistake.
void require_last_units(ModelContext& context, const Json& layers, ir::ValueId y) {
    const Json& last = layers.back();
    const std::int64_t outputs = context.data().outputs();
    if (last.at("type") != "linear" || last.at("units").is_null() ||
        context.shape(y).back() == outputs) {
        return;
    }
    const Scope scope(context, "layers." + std::to_string(layers.size() - 1));
    context.fail("it gives " + last.at("units").dump() + " values, but the data needs " +
                     std::to_string(outputs),
                 "Set units to " + std::to_string(outputs) + " or auto.");
}

ir::ValueId build_sequential(ModelContext& context, const Json& settings, ir::ValueId inputs) {
    const ir::ValueId y = build_layers(context, settings.at("layers"), "layers", inputs);
    require_last_units(context, settings.at("layers"), y);
    require_prediction(context, y);
    return y;
}

/// The fewest experts of a moe layer, also of nested ones.
std::int64_t expert_layer(const Json& settings) {
    std::int64_t fewest = 0;
    const auto take = [&](std::int64_t count) {
        fewest = fewest == 0 || (count > 0 && count < fewest) ? count : fewest;
    };
    if (settings.is_object() && settings.value("type", "") == kMoeLayer.name) {
        take(settings.at("experts").get<std::int64_t>());
    }
    for (const Json& part : settings) {
        if (part.is_structured()) {
            take(expert_layer(part));
        }
    }
    return fewest;
}

} // namespace

const ModelDef kSequentialModel = {
    "sequential",
    "Layers one after the other.",
    "layers.*.weight [in, out], convolutions [kh, kw, in, out]\n"
    "layers.*.bias [out]\n"
    "layers.*.gain [out], layers.*.left [in], layers.*.right [out] of weight_norm\n"
    "layers.*.input, layers.*.state of recurrent layers\n"
    "layers.*.query, key, value, output of multi_head_attention\n"
    "layers.*.running_mean [C]\n"
    "layers.*.running_variance [C]\n",
    sequential_fields,
    build_sequential,
    check_sequential,
    nullptr,
    expert_layer};

} // namespace weft::nn
