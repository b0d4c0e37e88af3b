// SPDX-License-Identifier: Apache-2.0
// Adam-atan2 (Everett et al. 2024): no epsilon, and the same whatever the scale of the loss. With m
// and v of moments.h:
//   theta -= rate (atan2(m, sqrt(v / (1 - b2^t))) / (1 - b1^t) + weight_decay theta)
// The correction of m stands outside of the arctangent, as in the recipes that use it.
#include "core/optim/moments.h"
#include "core/optim/optimizer_list.h"

namespace weft::optim {
namespace {

using config::Json;

config::FieldTable adam_atan2_fields() {
    config::FieldTable fields =
        moment_fields(0.95, 0.1, "Pull towards zero, times the learning rate.");
    std::erase_if(fields, [](const config::Field& field) { return field.name == "eps"; });
    return fields;
}

UpdateResult adam_atan2_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const Moments moments = next_moments(b, settings, in, in.gradient);
    const ir::ValueId root = ops::mul(b, b.emit("sqrt", {moments.v}), in.scalars[2]);
    const ir::ValueId step = ops::mul(b, b.emit("atan2", {moments.m, root}), in.scalars[1]);
    return {decayed_step(b, settings, in, step, in.scalars[0]), {moments.m, moments.v}};
}

} // namespace

const OptimizerDef kAdamAtan2 = {"adam_atan2",
                                 "Adam by the angle of its two moments: no epsilon, steps of at "
                                 "most pi / 2 rates.",
                                 1e-4,
                                 adam_atan2_fields,
                                 nullptr,
                                 moment_state,
                                 corrected_scalars,
                                 adam_atan2_update};

} // namespace weft::optim
