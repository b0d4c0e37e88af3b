// SPDX-License-Identifier: Apache-2.0
// LAMB (You et al. 2020, algorithm 2, with its corrections of the moments): AdamW's step, made as long
// in each parameter as the parameter itself. With m and v of moments.h:
//   u = (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps) + weight_decay theta
//   theta -= rate |theta| / |u| u, where one of the lengths is 0: rate u
#include "core/optim/moments.h"
#include "core/optim/optimizer_list.h"

namespace weft::optim {
namespace {

using config::Json;

config::FieldTable lamb_fields() {
    config::FieldTable fields = moment_fields(
        0.999, 0.01, "Pull towards zero, apart from the moments, before the step is measured.");
    fields[1].default_value = 1e-6; // as in the paper
    return fields;
}

UpdateResult lamb_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const Moments moments = next_moments(b, settings, in, in.gradient);
    ir::ValueId step = corrected_step(b, settings, in, moments);
    if (const auto decay = settings.at("weight_decay").get<double>(); decay > 0.0) {
        step = ops::add(b, step, ops::affine(b, in.parameter, decay));
    }
    // Of the whole parameter, wherever its parts lie.
    const auto length = [&](ir::ValueId x) { return b.emit("sqrt", {b.emit("sum_squares", {x})}); };
    const ir::ValueId own = length(in.parameter);
    const ir::ValueId of_step = length(step);
    const ir::ValueId zero = ops::constant(b, 0.0);
    const ir::ValueId one = ops::constant(b, 1.0);
    const ir::ValueId both = ops::mul(b, b.emit("less", {zero, own}), b.emit("less", {zero, of_step}));
    const ir::ValueId ratio =
        ops::select(b, both, ops::div(b, own, ops::select(b, both, of_step, one)), one);
    const ir::ValueId rate = ops::mul(b, in.scalars[0], ratio);
    return {ops::sub(b, in.parameter, ops::mul(b, step, rate)), {moments.m, moments.v}};
}

} // namespace

const OptimizerDef kLamb = {"lamb",
                            "AdamW's step, as long as the parameter it changes: for batches of "
                            "thousands.",
                            2e-3,
                            lamb_fields,
                            nullptr,
                            moment_state,
                            corrected_scalars,
                            lamb_update};

} // namespace weft::optim
