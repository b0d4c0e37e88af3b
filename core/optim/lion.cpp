// SPDX-License-Identifier: Apache-2.0
// Lion (Chen et al. 2023): the sign of a moment, with decoupled weight decay.
//   c = b1 m + (1 - b1) g,  theta -= rate (sign(c) + weight_decay theta),  m = b2 m + (1 - b2) g
#include "core/optim/moments.h"
#include "core/optim/optimizer_list.h"

namespace weft::optim {
namespace {

using config::Json;

config::FieldTable lion_fields() {
    config::FieldTable fields =
        moment_fields(0.99, 0.0, "Pull towards zero, times the learning rate.");
    fields[0].help = "Share of the moment in the step, and decay of the moment.";
    std::erase_if(fields, [](const config::Field& field) { return field.name == "eps"; });
    return fields;
}

std::vector<std::string> lion_state(const Json&) {
    return {"m"};
}

ir::ValueIds lion_scalars(ops::Builder&, const Json&, ir::ValueId learning_rate, ir::ValueId) {
    return {learning_rate};
}

UpdateResult lion_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const auto mixed = [&](std::size_t which) {
        const auto beta = settings.at("betas").at(which).get<double>();
        return ops::add(b, ops::affine(b, in.state[0], beta),
                        ops::affine(b, in.gradient, 1.0 - beta));
    };
    const ir::ValueId step = b.emit("sign", {mixed(0)});
    return {decayed_step(b, settings, in, step, in.scalars[0]), {mixed(1)}};
}

} // namespace

const OptimizerDef kLion = {"lion",
                            "Steps of one size by the sign of a moment; wants a learning "
                            "rate of a third to a tenth of AdamW's.",
                            1e-4,
                            lion_fields,
                            nullptr,
                            lion_state,
                            lion_scalars,
                            lion_update};

} // namespace weft::optim
