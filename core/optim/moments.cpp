// SPDX-License-Identifier: Apache-2.0
#include "core/optim/moments.h"

namespace weft::optim {

using config::Json;

namespace {

constexpr ir::DType kWide = ir::DType::f64;

double beta_of(const Json& settings, std::size_t moment) {
    return settings.at("betas").at(moment).get<double>();
}

} // namespace

config::FieldTable moment_fields(double beta2, double decay, const char* decay_help) {
    return {config::list_field("betas", Json::array({0.9, beta2}),
                               config::real_field("beta", nullptr, "Decay of a moment.")
                                   .must_be_given()
                                   .range(0.0, 0.999999),
                               "Decay of the first and second moment of the gradient.")
                .exactly(2),
            config::real_field("eps", 1e-8, "Added to the root of the second moment.").above(0.0),
            config::real_field("weight_decay", decay, decay_help).at_least(0.0)};
}

std::vector<std::string> moment_state(const Json&) {
    return {"m", "v"};
}

MomentScalars::MomentScalars(ops::Builder& builder, const Json& settings, ir::ValueId step)
    : b_(builder), settings_(settings), t_(ops::add(b_, ops::cast(b_, step, kWide), constant(1))) {}

ir::ValueId MomentScalars::constant(double value) const {
    return ops::constant(b_, value, {}, kWide);
}

ir::ValueId MomentScalars::power(std::size_t moment, double ahead) const {
    const ir::ValueId exponent = ahead == 0 ? t_ : ops::affine(b_, t_, 1.0, ahead);
    return b_.emit("pow", {constant(beta_of(settings_, moment)), exponent});
}

ir::ValueId MomentScalars::correction(std::size_t moment, double ahead) const {
    return ops::sub(b_, constant(1), power(moment, ahead));
}

ir::ValueId MomentScalars::in_f32(ir::ValueId value) const {
    return ops::cast(b_, value, ir::DType::f32);
}

Moments next_moments(ops::Builder& b, const Json& settings, const UpdateInputs& in,
                     ir::ValueId gradient) {
    const auto next = [&](std::size_t moment, ir::ValueId seen) {
        const double beta = beta_of(settings, moment);
        return ops::add(b, ops::affine(b, in.state[moment], beta),
                        ops::affine(b, seen, 1.0 - beta));
    };
    const ir::ValueId m = next(0, gradient);
    return {m, next(1, b.emit("square", {gradient}))};
}

ir::ValueIds corrected_scalars(ops::Builder& b, const Json& settings, ir::ValueId learning_rate,
                               ir::ValueId step) {
    const MomentScalars s(b, settings, step);
    const ir::ValueId one = s.constant(1.0);
    const ir::ValueId first = ops::div(b, one, s.correction(0));
    const ir::ValueId second = ops::div(b, one, b.emit("sqrt", {s.correction(1)}));
    return {learning_rate, s.in_f32(first), s.in_f32(second)};
}

ir::ValueId corrected_step(ops::Builder& b, const Json& settings, const UpdateInputs& in,
                           const Moments& moments) {
    const ir::ValueId root = ops::mul(b, b.emit("sqrt", {moments.v}), in.scalars[2]);
    const ir::ValueId denominator = ops::affine(b, root, 1.0, settings.at("eps").get<double>());
    return ops::div(b, ops::mul(b, moments.m, in.scalars[1]), denominator);
}

ir::ValueId decayed_step(ops::Builder& b, const Json& settings, const UpdateInputs& in,
                         ir::ValueId step, ir::ValueId rate) {
    const auto decay = settings.at("weight_decay").get<double>();
    if (decay > 0.0) {
        step = ops::add(b, step, ops::affine(b, in.parameter, decay));
    }
    return ops::sub(b, in.parameter, ops::mul(b, step, rate));
}

} // namespace weft::optim
