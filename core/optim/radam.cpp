// SPDX-License-Identifier: Apache-2.0
// RAdam (Liu et al. 2020) with decoupled weight decay, as its authors' program has it. With m and v
// of moments.h and
//   r_inf = 2 / (1 - b2) - 1,  r = r_inf - 2 t b2^t / (1 - b2^t)
// where r > 5 the second moment is trusted,
//   step = (m / (1 - b1^t)) sqrt(1 - b2^t) c / (sqrt(v) + eps),
//   c^2 = (r - 4) (r - 2) r_inf / ((r_inf - 4) (r_inf - 2) r)
// and before that not: step = m / (1 - b1^t). theta -= rate (step + weight_decay theta).
#include "core/optim/moments.h"
#include "core/optim/optimizer_list.h"

namespace weft::optim {
namespace {

using config::Json;

constexpr double kTrusted = 5.0;

config::FieldTable radam_fields() {
    return moment_fields(0.999, 0.0, "Pull towards zero, apart from the moments.");
}

struct RadamScalars {
    enum : std::size_t { rate, over_root, plain };
};

ir::ValueIds radam_scalars(ops::Builder& b, const Json& settings, ir::ValueId learning_rate,
                           ir::ValueId step) {
    const MomentScalars s(b, settings, step);
    const double most = 2.0 / (1.0 - settings.at("betas").at(1).get<double>()) - 1.0;
    const ir::ValueId first = ops::div(b, s.constant(1.0), s.correction(0));
    const ir::ValueId share = ops::div(b, ops::mul(b, s.t(), s.power(1)), s.correction(1));
    const ir::ValueId length = ops::affine(b, share, -2.0, most);
    const ir::ValueId trusted = b.emit("less", {s.constant(kTrusted), length});
    // Where it is not trusted the root is taken of 1, which is thrown away.
    const ir::ValueId safe = b.emit("select", {trusted, length, s.constant(kTrusted)});
    const ir::ValueId above =
        ops::mul(b, ops::affine(b, safe, 1.0, -4.0), ops::affine(b, safe, 1.0, -2.0));
    const ir::ValueId below = ops::affine(b, safe, (most - 4.0) * (most - 2.0) / most);
    const ir::ValueId root =
        b.emit("sqrt", {ops::mul(b, ops::div(b, above, below), s.correction(1))});
    const ir::ValueId zero = s.constant(0.0);
    return {learning_rate, s.in_f32(b.emit("select", {trusted, ops::mul(b, first, root), zero})),
            s.in_f32(b.emit("select", {trusted, zero, first}))};
}

UpdateResult radam_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const Moments moments = next_moments(b, settings, in, in.gradient);
    const ir::ValueId root =
        ops::affine(b, b.emit("sqrt", {moments.v}), 1.0, settings.at("eps").get<double>());
    const ir::ValueId step =
        ops::add(b, ops::div(b, ops::mul(b, moments.m, in.scalars[RadamScalars::over_root]), root),
                 ops::mul(b, moments.m, in.scalars[RadamScalars::plain]));
    return {decayed_step(b, settings, in, step, in.scalars[RadamScalars::rate]),
            {moments.m, moments.v}};
}

void check_radam(const Json& settings, const std::string& pointer, config::Diagnostics& out) {
    if (settings.at("betas").at(1).get<double>() <= 0.6) { // r_inf of at most 4
        out.push_back({pointer + "/betas/1", config::Severity::error,
                       "it must be above 0.6, below which the second moment is never trusted",
                       "Use 0.999, or another optimizer."});
    }
}

} // namespace

const OptimizerDef kRadam = {"radam",
                             "Adaptive moments, trusted as they become certain: no "
                             "warm-up is needed.",
                             1e-3,
                             radam_fields,
                             check_radam,
                             moment_state,
                             radam_scalars,
                             radam_update};

} // namespace weft::optim
