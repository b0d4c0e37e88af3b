// SPDX-License-Identifier: Apache-2.0
// Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019). With t counted from 1:
//   m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2
//   theta -= rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
// Adam adds weight_decay * theta to g; AdamW subtracts rate * weight_decay * theta from theta.
#include "core/optim/optimizer_list.h"

namespace weft::optim {
namespace {

using config::Json;

config::FieldTable adam_fields(double decay, const char* decay_help) {
    return {config::list_field("betas", Json::array({0.9, 0.999}),
                               config::real_field("beta", nullptr, "Decay of a moment.")
                                   .must_be_given()
                                   .range(0.0, 0.999999),
                               "Decay of the first and second moment of the gradient.")
                .exactly(2),
            config::real_field("eps", 1e-8, "Added to the root of the second moment.").above(0.0),
            config::real_field("weight_decay", decay, decay_help).at_least(0.0)};
}

config::FieldTable adam_fields() {
    return adam_fields(0.0, "Pull towards zero, added to the gradient.");
}

config::FieldTable adamw_fields() {
    return adam_fields(0.01, "Pull towards zero, times the learning rate, apart from the moments.");
}

std::vector<std::string> adam_state(const Json&) {
    return {"m", "v"};
}

struct Scalars {
    enum : std::size_t { rate, first_correction, second_root_correction, count };
};

// The corrections are taken in f64: 1 - 0.999 has only three good digits in f32.
ir::ValueIds adam_scalars(ops::Builder& b, const Json& settings, ir::ValueId learning_rate,
                          ir::ValueId step) {
    const ir::DType wide = ir::DType::f64;
    const ir::ValueId one = ops::constant(b, 1.0, {}, wide);
    const ir::ValueId t = ops::add(b, ops::cast(b, step, wide), one);
    const auto correction = [&](std::size_t moment) {
        const auto beta = settings.at("betas").at(moment).get<double>();
        return ops::sub(b, one, b.emit("pow", {ops::constant(b, beta, {}, wide), t}));
    };
    const ir::ValueId first = ops::div(b, one, correction(0));
    const ir::ValueId second = ops::div(b, one, b.emit("sqrt", {correction(1)}));
    return {learning_rate, ops::cast(b, first, ir::DType::f32),
            ops::cast(b, second, ir::DType::f32)};
}

UpdateResult moments_update(ops::Builder& b, const Json& settings, const UpdateInputs& in,
                            ir::ValueId gradient, ir::ValueId decay) {
    const auto beta1 = settings.at("betas").at(0).get<double>();
    const auto beta2 = settings.at("betas").at(1).get<double>();
    const ir::ValueId m = ops::add(b, ops::affine(b, in.state[0], beta1),
                                   ops::affine(b, gradient, 1.0 - beta1));
    const ir::ValueId v = ops::add(b, ops::affine(b, in.state[1], beta2),
                                   ops::affine(b, b.emit("square", {gradient}), 1.0 - beta2));
    const ir::ValueId root =
        ops::mul(b, b.emit("sqrt", {v}), in.scalars[Scalars::second_root_correction]);
    const ir::ValueId denominator = ops::affine(b, root, 1.0, settings.at("eps").get<double>());
    ir::ValueId step =
        ops::div(b, ops::mul(b, m, in.scalars[Scalars::first_correction]), denominator);
    if (decay.valid()) {
        step = ops::add(b, step, decay);
    }
    const ir::ValueId change = ops::mul(b, step, in.scalars[Scalars::rate]);
    return {ops::sub(b, in.parameter, change), {m, v}};
}

UpdateResult adam_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const auto decay = settings.at("weight_decay").get<double>();
    const ir::ValueId gradient =
        decay > 0.0 ? ops::add(b, in.gradient, ops::affine(b, in.parameter, decay)) : in.gradient;
    return moments_update(b, settings, in, gradient, {});
}

UpdateResult adamw_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const auto decay = settings.at("weight_decay").get<double>();
    const ir::ValueId pull = decay > 0.0 ? ops::affine(b, in.parameter, decay) : ir::ValueId{};
    return moments_update(b, settings, in, in.gradient, pull);
}

} // namespace

const OptimizerDef kAdam = {"adam",       "Adaptive moments; weight decay through the gradient.",
                            1e-3,         adam_fields,
                            nullptr,      adam_state,
                            adam_scalars, adam_update};
const OptimizerDef kAdamW = {"adamw",      "Adaptive moments with decoupled weight decay.",
                             1e-3,         adamw_fields,
                             nullptr,      adam_state,
                             adam_scalars, adamw_update};

} // namespace weft::optim
