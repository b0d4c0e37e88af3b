// SPDX-License-Identifier: Apache-2.0
// RMSprop (Tieleman and Hinton 2012; centred: Graves 2013), in PyTorch's form:
//   v = decay v + (1 - decay) g^2,  mean = decay mean + (1 - decay) g
//   step = g / (sqrt(v - mean^2) + eps), the mean only where it is centred
//   velocity = momentum velocity + step,  theta -= rate velocity
// weight_decay * theta is added to g.
#include "core/optim/optimizer_list.h"

namespace weft::optim {
namespace {

using config::Json;

config::FieldTable rmsprop_fields() {
    return {config::real_field("decay", 0.99, "Decay of the mean of squared gradients.")
                .range(0.0, 0.999999),
            config::real_field("eps", 1e-8, "Added to the root of the mean square.").above(0.0),
            config::real_field("momentum", 0.0, "Share of the velocity that is kept; 0: none.")
                .range(0.0, 0.9999),
            config::boolean_field("centered", false,
                                  "Divides by the deviation of the gradient, not by its size."),
            config::real_field("weight_decay", 0.0, "Pull towards zero, added to the gradient.")
                .at_least(0.0)};
}

std::vector<std::string> rmsprop_state(const Json& settings) {
    std::vector<std::string> out = {"v"};
    if (settings.at("centered").get<bool>()) {
        out.emplace_back("mean");
    }
    if (settings.at("momentum").get<double>() > 0.0) {
        out.emplace_back("velocity");
    }
    return out;
}

ir::ValueIds rmsprop_scalars(ops::Builder&, const Json&, ir::ValueId learning_rate, ir::ValueId) {
    return {learning_rate};
}

UpdateResult rmsprop_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const auto decay = settings.at("decay").get<double>();
    const auto momentum = settings.at("momentum").get<double>();
    const auto pull = settings.at("weight_decay").get<double>();
    const ir::ValueId gradient =
        pull > 0.0 ? ops::add(b, in.gradient, ops::affine(b, in.parameter, pull)) : in.gradient;
    const auto mean = [&](std::size_t state, ir::ValueId value) {
        return ops::add(b, ops::affine(b, in.state[state], decay),
                        ops::affine(b, value, 1.0 - decay));
    };
    UpdateResult out;
    out.state.push_back(mean(0, b.emit("square", {gradient})));
    ir::ValueId square = out.state[0];
    if (settings.at("centered").get<bool>()) {
        out.state.push_back(mean(1, gradient));
        square = ops::sub(b, square, b.emit("square", {out.state[1]}));
        // Rounding may leave a little less than nothing.
        square = b.emit("relu", {square});
    }
    const ir::ValueId root =
        ops::affine(b, b.emit("sqrt", {square}), 1.0, settings.at("eps").get<double>());
    ir::ValueId step = ops::div(b, gradient, root);
    if (momentum > 0.0) {
        step = ops::add(b, ops::affine(b, in.state.back(), momentum), step);
        out.state.push_back(step);
    }
    out.parameter = ops::sub(b, in.parameter, ops::mul(b, step, in.scalars[0]));
    return out;
}

} // namespace

const OptimizerDef kRmsprop = {"rmsprop",
                               "Gradients divided by their usual size.",
                               1e-3,
                               rmsprop_fields,
                               nullptr,
                               rmsprop_state,
                               rmsprop_scalars,
                               rmsprop_update};

} // namespace weft::optim
