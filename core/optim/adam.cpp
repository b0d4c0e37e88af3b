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

UpdateResult adam_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const auto decay = settings.at("weight_decay").get<double>();
    const ir::ValueId gradient =
        decay > 0.0 ? ops::add(b, in.gradient, ops::affine(b, in.parameter, decay)) : in.gradient;
    const Moments moments = next_moments(b, settings, in, gradient);
    const ir::ValueId change =
        ops::mul(b, corrected_step(b, settings, in, moments), in.scalars[0]);
    return {ops::sub(b, in.parameter, change), {moments.m, moments.v}};
}

UpdateResult adamw_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const Moments moments = next_moments(b, settings, in, in.gradient);
    return {decayed_step(b, settings, in, corrected_step(b, settings, in, moments),
                         in.scalars[0]),
            {moments.m, moments.v}};
}

} // namespace

const OptimizerDef kAdam = {"adam",       "Adaptive moments; weight decay through the gradient.",
                            1e-3,         adam_fields,
                            nullptr,      moment_state,
                            corrected_scalars, adam_update};
const OptimizerDef kAdamW = {"adamw",      "Adaptive moments with decoupled weight decay.",
                             1e-3,         adamw_fields,
                             nullptr,      moment_state,
                             corrected_scalars, adamw_update};

} // namespace weft::optim
