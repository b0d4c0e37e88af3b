// SPDX-License-Identifier: Apache-2.0
// Adagrad (Duchi et al. 2011), in PyTorch's form, with t counted from 1:
//   sum += g^2,  theta -= rate / (1 + (t - 1) rate_decay) g / (sqrt(sum) + eps)
// weight_decay * theta is added to g.
#include "core/optim/optimizer_list.h"

namespace weft::optim {
namespace {

using config::Json;

config::FieldTable adagrad_fields() {
    return {config::real_field("rate_decay", 0.0,
                               "The learning rate is divided by 1 + rate_decay times the updates "
                               "done.")
                .at_least(0.0),
            config::real_field("eps", 1e-10, "Added to the root of the sum.").above(0.0),
            config::real_field("weight_decay", 0.0, "Pull towards zero, added to the gradient.")
                .at_least(0.0)};
}

std::vector<std::string> adagrad_state(const Json&) {
    return {"sum"};
}

ir::ValueIds adagrad_scalars(ops::Builder& b, const Json& settings, ir::ValueId learning_rate,
                             ir::ValueId step) {
    const auto decay = settings.at("rate_decay").get<double>();
    if (decay == 0.0) {
        return {learning_rate};
    }
    const ir::ValueId divisor = ops::affine(b, ops::cast(b, step, ir::DType::f64), decay, 1.0);
    return {ops::div(b, learning_rate, ops::cast(b, divisor, ir::DType::f32))};
}

UpdateResult adagrad_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const auto pull = settings.at("weight_decay").get<double>();
    const ir::ValueId gradient =
        pull > 0.0 ? ops::add(b, in.gradient, ops::affine(b, in.parameter, pull)) : in.gradient;
    const ir::ValueId sum = ops::add(b, in.state[0], b.emit("square", {gradient}));
    const ir::ValueId root =
        ops::affine(b, b.emit("sqrt", {sum}), 1.0, settings.at("eps").get<double>());
    const ir::ValueId change = ops::mul(b, ops::div(b, gradient, root), in.scalars[0]);
    return {ops::sub(b, in.parameter, change), {sum}};
}

} // namespace

const OptimizerDef kAdagrad = {"adagrad",
                               "Smaller steps where gradients have been large.",
                               0.01,
                               adagrad_fields,
                               nullptr,
                               adagrad_state,
                               adagrad_scalars,
                               adagrad_update};

} // namespace weft::optim
