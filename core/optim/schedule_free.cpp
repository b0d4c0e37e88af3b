// SPDX-License-Identifier: Apache-2.0
// Schedule-free AdamW (Defazio et al. 2024) as its authors' program has it. The weights y lie
// between a fast sequence z and its average x, which is what evaluations and exports take. With v
// of moments.h, rate_max the largest rate so far and c = rate_max^2 / sum of all rate_max^2:
//   u = g / (sqrt(v / (1 - b2^t)) + eps) + weight_decay y
//   z = z - rate u,  x = (1 - c) x + c z,  y = (1 - b1) z + b1 x
// Kept beside y and x: z - y, which is 0 where all three begin.
#include "core/optim/moments.h"
#include "core/optim/optimizer_list.h"

namespace weft::optim {
namespace {

using config::Json;

config::FieldTable schedule_free_fields() {
    config::FieldTable fields =
        moment_fields(0.999, 0.0, "Pull towards zero, times the learning rate.");
    fields[0].help =
        "Share of the average in the weights that gradients are taken at, and decay of "
        "the second moment of the gradient.";
    return fields;
}

std::vector<StateArray> schedule_free_arrays(const Json&, const ir::Shape& parameter) {
    return {{"ahead", parameter}, {"v", parameter}, {"largest_rate", {}}, {"weights", {}}};
}

ir::ValueIds schedule_free_scalars(ops::Builder& b, const Json& settings, ir::ValueId learning_rate,
                                   ir::ValueId step) {
    const MomentScalars s(b, settings, step);
    const ir::ValueId root = b.emit("sqrt", {s.correction(1)});
    return {learning_rate, s.in_f32(ops::div(b, s.constant(1.0), root))};
}

UpdateResult schedule_free_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const auto beta1 = settings.at("betas").at(0).get<double>();
    const auto beta2 = settings.at("betas").at(1).get<double>();
    const ir::ValueId y = in.parameter;
    const ir::ValueId v = ops::add(b, ops::affine(b, in.state[1], beta2),
                                   ops::affine(b, b.emit("square", {in.gradient}), 1.0 - beta2));
    const ir::ValueId root = ops::mul(b, b.emit("sqrt", {v}), in.scalars[1]);
    ir::ValueId u =
        ops::div(b, in.gradient, ops::affine(b, root, 1.0, settings.at("eps").get<double>()));
    if (const auto decay = settings.at("weight_decay").get<double>(); decay > 0.0) {
        u = ops::add(b, u, ops::affine(b, y, decay));
    }
    const ir::ValueId largest = ops::maximum(b, in.state[2], in.scalars[0]);
    const ir::ValueId weight = b.emit("square", {largest});
    const ir::ValueId sum = ops::add(b, in.state[3], weight);
    const ir::ValueId zero = ops::constant(b, 0.0);
    const ir::ValueId any = b.emit("less", {zero, sum}); // a warm-up may begin with a rate of 0
    const ir::ValueId share = ops::select(
        b, any, ops::div(b, weight, ops::select(b, any, sum, ops::constant(b, 1.0))), zero);
    const ir::ValueId z = ops::sub(b, ops::add(b, y, in.state[0]), ops::mul(b, u, in.scalars[0]));
    const ir::ValueId x = ops::add(b, in.average, ops::mul(b, ops::sub(b, z, in.average), share));
    const ir::ValueId next = ops::add(b, ops::affine(b, z, 1.0 - beta1), ops::affine(b, x, beta1));
    return {next, {ops::sub(b, z, next), v, largest, sum}, x};
}

} // namespace

const OptimizerDef kScheduleFree = {
    .name = "schedule_free",
    .help =
        "AdamW whose average of the weights stands in for a falling rate: give it a constant one, "
        "warmed up. Evaluations take the average.",
    .default_learning_rate = 2.5e-3,
    .fields = schedule_free_fields,
    .check = nullptr,
    .state = nullptr,
    .prepare = schedule_free_scalars,
    .update = schedule_free_update,
    .arrays = schedule_free_arrays,
    .averages = true};

} // namespace weft::optim
