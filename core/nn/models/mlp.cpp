// SPDX-License-Identifier: Apache-2.0
// Multilayer perceptron: flatten, hidden layers with activation and dropout, linear output.
// Tensors: layers.<i>.weight [in, out], layers.<i>.bias [out]; the last one is the output.
#include "core/nn/layers/layer_def.h"
#include "core/nn/models/model_list.h"

namespace weft::nn {
namespace {

using config::Json;

config::FieldTable mlp_fields() {
    return {config::list_field("hidden", Json::array({512, 512}),
                               config::integer_field("width", nullptr, "Units of a hidden layer.")
                                   .must_be_given()
                                   .range(1, 1 << 20),
                               "Width of each hidden layer; may be empty."),
            config::choice_field("activation", "relu", activation_names(),
                                 "Function after each hidden layer."),
            config::real_field("dropout", 0.1, "Share of hidden values set to zero while training.")
                .range(0.0, 0.95)};
}

ir::ValueId build_mlp(ModelContext& context, const Json& settings, ir::ValueId inputs) {
    if (!ir::is_float(context.builder().type(inputs).dtype)) {
        context.fail("mlp needs images or features, but the data delivers " +
                         ir::to_text(context.data().input),
                     "Use model gpt2 for text, or sequential with an embedding layer.");
    }
    ir::ValueId x = flatten(context, inputs);
    const Json& hidden = settings.at("hidden");
    // Devices that share a layer split the columns of one weight and the rows of the next.
    const auto from = [](std::size_t layer) { return layer % 2 == 0 ? "embed" : "mlp"; };
    for (std::size_t i = 0; i < hidden.size(); ++i) {
        const Scope scope(context, "layers." + std::to_string(i));
        x = dense(context, x, hidden[i].get<std::int64_t>(), Init::fan_in(context.shape(x).back()),
                  {from(i), from(i + 1)});
        x = activation(context, settings.at("activation").get<std::string>(), x);
        x = dropout(context, x, settings.at("dropout").get<double>());
    }
    const Scope scope(context, "layers." + std::to_string(hidden.size()));
    return dense(context, x, context.data().outputs(), Init::fan_in(context.shape(x).back()),
                 {from(hidden.size()), hidden.size() % 2 == 0 ? "vocab" : "embed"});
}

} // namespace

const ModelDef kMlpModel = {"mlp", "Multilayer perceptron over flattened samples.",
                            "layers.*.weight [in, out]\n"
                            "layers.*.bias [out]\n",
                            mlp_fields, build_mlp};

} // namespace weft::nn
