// SPDX-License-Identifier: Apache-2.0
// Elementwise activations and dropout.
#include "core/nn/layers/layer_list.h"

namespace weft::nn {

std::vector<std::string> activation_names() {
    return {"relu", "gelu", "silu", "tanh", "sigmoid"};
}

ir::ValueId activation(ModelContext& context, const std::string& name, ir::ValueId x) {
    return context.builder().emit(name, {x}); // the ops have the same names
}

ir::ValueId dropout(ModelContext& context, ir::ValueId x, double rate) {
    if (!context.training() || rate == 0.0) {
        return x;
    }
    return context.builder().emit("dropout", {x, context.random()},
                                  {{"rate", rate}, {"stream", context.path()}});
}

namespace {

ir::ValueId build_relu(ModelContext& context, const config::Json&, ir::ValueId x) {
    return activation(context, "relu", x);
}

ir::ValueId build_gelu(ModelContext& context, const config::Json&, ir::ValueId x) {
    return activation(context, "gelu", x);
}

ir::ValueId build_silu(ModelContext& context, const config::Json&, ir::ValueId x) {
    return activation(context, "silu", x);
}

ir::ValueId build_tanh(ModelContext& context, const config::Json&, ir::ValueId x) {
    return activation(context, "tanh", x);
}

ir::ValueId build_sigmoid(ModelContext& context, const config::Json&, ir::ValueId x) {
    return activation(context, "sigmoid", x);
}

config::FieldTable dropout_fields(int) {
    return {config::real_field("rate", 0.1, "Share of values set to zero while training.")
                .range(0.0, 0.95)};
}

ir::ValueId build_dropout(ModelContext& context, const config::Json& settings, ir::ValueId x) {
    return dropout(context, x, settings.at("rate").get<double>());
}

} // namespace

const LayerDef kReluLayer = {"relu", "max(x, 0).", no_fields, build_relu};
const LayerDef kGeluLayer = {"gelu", "Gaussian error linear unit, tanh form.", no_fields,
                             build_gelu};
const LayerDef kSiluLayer = {"silu", "x * sigmoid(x).", no_fields, build_silu};
const LayerDef kTanhLayer = {"tanh", "Hyperbolic tangent.", no_fields, build_tanh};
const LayerDef kSigmoidLayer = {"sigmoid", "1 / (1 + exp(-x)).", no_fields, build_sigmoid};
const LayerDef kDropoutLayer = {"dropout", "Sets values to zero at random while training.",
                                dropout_fields, build_dropout};

} // namespace weft::nn
