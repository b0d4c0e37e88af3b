// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent with momentum (Sutskever et al. 2013, in PyTorch's form: the velocity
// holds gradients, the learning rate multiplies it) and coupled (L2) weight decay.
#include "core/optim/optimizer_list.h"

namespace weft::optim {
namespace {

using config::Json;

config::FieldTable sgd_fields() {
    return {config::real_field("momentum", 0.9, "Share of the velocity that is kept; 0: none.")
                .range(0.0, 0.9999),
            config::boolean_field("nesterov", false, "Looks one step ahead along the velocity."),
            config::real_field("weight_decay", 0.0, "Pull towards zero, added to the gradient.")
                .at_least(0.0)};
}

void check_sgd(const Json& settings, const std::string& pointer, config::Diagnostics& out) {
    if (settings.at("nesterov").get<bool>() && settings.at("momentum").get<double>() == 0.0) {
        out.push_back({pointer + "/nesterov", config::Severity::error,
                       "it needs a momentum above 0", "Set momentum, e.g. 0.9."});
    }
}

std::vector<std::string> sgd_state(const Json& settings) {
    return settings.at("momentum").get<double>() > 0.0 ? std::vector<std::string>{"velocity"}
                                                       : std::vector<std::string>{};
}

ir::ValueIds sgd_scalars(ops::Builder&, const Json&, ir::ValueId learning_rate, ir::ValueId) {
    return {learning_rate};
}

UpdateResult sgd_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const auto decay = settings.at("weight_decay").get<double>();
    const auto momentum = settings.at("momentum").get<double>();
    ir::ValueId step = in.gradient;
    if (decay > 0.0) {
        step = ops::add(b, step, ops::affine(b, in.parameter, decay));
    }
    ir::ValueIds state;
    if (momentum > 0.0) {
        const ir::ValueId velocity = ops::add(b, ops::affine(b, in.state[0], momentum), step);
        state.push_back(velocity);
        step = settings.at("nesterov").get<bool>()
                   ? ops::add(b, step, ops::affine(b, velocity, momentum))
                   : velocity;
    }
    return {ops::sub(b, in.parameter, ops::mul(b, step, in.scalars[0])), std::move(state)};
}

} // namespace

const OptimizerDef kSgd = {"sgd",     "Gradient descent with momentum.", 0.01,       sgd_fields,
                           check_sgd, sgd_state,                         sgd_scalars, sgd_update};

} // namespace weft::optim
