// SPDX-License-Identifier: Apache-2.0
// NAdam (Dozat 2016) without a schedule of the momentum, as Optax has it, with decoupled weight
// decay. With m and v of moments.h:
//   m' = b1 m / (1 - b1^(t+1)) + (1 - b1) g / (1 - b1^t)
//   theta -= rate (m' / (sqrt(v / (1 - b2^t)) + eps) + weight_decay theta)
#include "core/optim/moments.h"
#include "core/optim/optimizer_list.h"

namespace weft::optim {
namespace {

using config::Json;

config::FieldTable nadam_fields() {
    return moment_fields(0.999, 0.0, "Pull towards zero, apart from the moments.");
}

struct NadamScalars {
    enum : std::size_t { rate, of_moment, of_gradient, second_root_correction };
};

ir::ValueIds nadam_scalars(ops::Builder& b, const Json& settings, ir::ValueId learning_rate,
                           ir::ValueId step) {
    const MomentScalars s(b, settings, step);
    const auto beta1 = settings.at("betas").at(0).get<double>();
    const ir::ValueId second = ops::div(b, s.constant(1.0), b.emit("sqrt", {s.correction(1)}));
    return {learning_rate, s.in_f32(ops::div(b, s.constant(beta1), s.correction(0, 1))),
            s.in_f32(ops::div(b, s.constant(1.0 - beta1), s.correction(0))), s.in_f32(second)};
}

UpdateResult nadam_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const Moments moments = next_moments(b, settings, in, in.gradient);
    const ir::ValueId ahead =
        ops::add(b, ops::mul(b, moments.m, in.scalars[NadamScalars::of_moment]),
                 ops::mul(b, in.gradient, in.scalars[NadamScalars::of_gradient]));
    const ir::ValueId root =
        ops::mul(b, b.emit("sqrt", {moments.v}), in.scalars[NadamScalars::second_root_correction]);
    const ir::ValueId step =
        ops::div(b, ahead, ops::affine(b, root, 1.0, settings.at("eps").get<double>()));
    return {decayed_step(b, settings, in, step, in.scalars[NadamScalars::rate]),
            {moments.m, moments.v}};
}

} // namespace

const OptimizerDef kNadam = {"nadam",       "Adaptive moments that look one step ahead.",
                             1e-3,          nadam_fields,
                             nullptr,       moment_state,
                             nadam_scalars, nadam_update};

} // namespace weft::optim
