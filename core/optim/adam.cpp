// SPDX-License-Identifier: Apache-2.0
// Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019). With m and v of moments.h:
//   theta -= rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
// Adam adds weight_decay * theta to g; AdamW subtracts rate * weight_decay * theta from theta.
#include "core/optim/moments.h"
#include "core/optim/optimizer_list.h"

namespace weft::optim {
namespace {

using config::Json;

config::FieldTable adam_fields() {
    return moment_fields(0.999, 0.0, "Pull towards zero, added to the gradient.");
}

config::FieldTable adamw_fields() {
    return moment_fields(0.999, 0.01,
                         "Pull towards zero, times the learning rate, apart from the moments.");
}

struct Scalars {
    enum : std::size_t { rate, first_correction, second_root_correction, count };
};

ir::ValueIds adam_scalars(ops::Builder& b, const Json& settings, ir::ValueId learning_rate,
                          ir::ValueId step) {
    const MomentScalars s(b, settings, step);
    const ir::ValueId one = s.constant(1.0);
    const ir::ValueId first = ops::div(b, one, s.correction(0));
    const ir::ValueId second = ops::div(b, one, b.emit("sqrt", {s.correction(1)}));
    return {learning_rate, s.in_f32(first), s.in_f32(second)};
}

/// The step before rate and decay.
ir::ValueId adam_step(ops::Builder& b, const Json& settings, const UpdateInputs& in,
                      const Moments& moments) {
    const ir::ValueId root =
        ops::mul(b, b.emit("sqrt", {moments.v}), in.scalars[Scalars::second_root_correction]);
    const ir::ValueId denominator = ops::affine(b, root, 1.0, settings.at("eps").get<double>());
    return ops::div(b, ops::mul(b, moments.m, in.scalars[Scalars::first_correction]), denominator);
}

UpdateResult adam_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const auto decay = settings.at("weight_decay").get<double>();
    const ir::ValueId gradient =
        decay > 0.0 ? ops::add(b, in.gradient, ops::affine(b, in.parameter, decay)) : in.gradient;
    const Moments moments = next_moments(b, settings, in, gradient);
    const ir::ValueId change =
        ops::mul(b, adam_step(b, settings, in, moments), in.scalars[Scalars::rate]);
    return {ops::sub(b, in.parameter, change), {moments.m, moments.v}};
}

UpdateResult adamw_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const Moments moments = next_moments(b, settings, in, in.gradient);
    return {decayed_step(b, settings, in, adam_step(b, settings, in, moments),
                         in.scalars[Scalars::rate]),
            {moments.m, moments.v}};
}

} // namespace

const OptimizerDef kAdam = {"adam",       "Adaptive moments; weight decay through the gradient.",
                            1e-3,         adam_fields,
                            nullptr,      moment_state,
                            adam_scalars, adam_update};
const OptimizerDef kAdamW = {"adamw",      "Adaptive moments with decoupled weight decay.",
                             1e-3,         adamw_fields,
                             nullptr,      moment_state,
                             adam_scalars, adamw_update};

} // namespace weft::optim
