// SPDX-License-Identifier: Apache-2.0
// signSGD (Bernstein et al. 2018) with decoupled weight decay:
//   theta -= rate (sign(g) + weight_decay theta)
#include "core/optim/moments.h"
#include "core/optim/optimizer_list.h"

namespace weft::optim {
namespace {

using config::Json;

config::FieldTable sign_sgd_fields() {
    return {config::real_field("weight_decay", 0.0, "Pull towards zero, times the learning rate.")
                .at_least(0.0)};
}

std::vector<std::string> sign_sgd_state(const Json&) {
    return {};
}

ir::ValueIds sign_sgd_scalars(ops::Builder&, const Json&, ir::ValueId learning_rate, ir::ValueId) {
    return {learning_rate};
}

UpdateResult sign_sgd_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const ir::ValueId step = b.emit("sign", {in.gradient});
    return {decayed_step(b, settings, in, step, in.scalars[0]), {}};
}

} // namespace

const OptimizerDef kSignSgd = {"sign_sgd",
                               "Steps of one size by the sign of the gradient, without memory.",
                               1e-3,
                               sign_sgd_fields,
                               nullptr,
                               sign_sgd_state,
                               sign_sgd_scalars,
                               sign_sgd_update};

} // namespace weft::optim
