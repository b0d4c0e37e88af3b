// SPDX-License-Identifier: Apache-2.0
// The start value of every slot. Random ones draw from the stream of the parameter's name, so that
// a parameter starts alike on any mesh and beside any other parameters.
#include "core/compile/programs/loss_scale.h"
#include "core/compile/programs/model_programs.h"

#include <algorithm>

namespace weft::compile {
namespace {

using ir::ValueId;

/// Standard deviation of a standard normal variable cut at -2 and 2: sqrt(1 - 4 f(2) / (2 F(2) -
/// 1)) with density f and distribution F.
constexpr double kTruncatedDeviation = 0.879625661034239;

ValueId start_value(ops::Builder& b, const nn::Variable& variable, ValueId random) {
    const std::vector<std::int64_t> shape(variable.shape.begin(), variable.shape.end());
    const std::string& stream = variable.name;
    const double scale = variable.init.scale;
    switch (variable.init.kind) {
    case nn::Init::Kind::zeros: return ops::constant(b, 0.0, variable.shape);
    case nn::Init::Kind::ones: return ops::constant(b, 1.0, variable.shape);
    case nn::Init::Kind::normal:
        return b.emit("random_normal", {random},
                      {{"shape", shape}, {"mean", 0.0}, {"stddev", scale}, {"stream", stream}});
    case nn::Init::Kind::uniform:
        return b.emit("random_uniform", {random},
                      {{"shape", shape}, {"low", -scale}, {"high", scale}, {"stream", stream}});
    case nn::Init::Kind::truncated_normal:
        return b.emit("random_truncated_normal", {random},
                      {{"shape", shape},
                       {"mean", 0.0},
                       {"stddev", scale / kTruncatedDeviation},
                       {"stream", stream}});
    case nn::Init::Kind::constant: return ops::constant(b, scale, variable.shape);
    }
    return {};
}

bool is_saved(const std::vector<plan::StateSlot>& slots, const std::string& name) {
    const auto slot = std::find_if(slots.begin(), slots.end(),
                                   [&](const auto& one) { return one.name == name; });
    return slot != slots.end() && slot->saved;
}

} // namespace

ir::Program build_init(const RunModel& run, const std::vector<plan::StateSlot>& slots,
                       bool restores) {
    ir::Program program;
    program.name = "init";
    const ValueId random = program.add_argument(ir::Role::scalar, "random", {ir::DType::i64, {3}});
    ops::Builder b(program, program.body);
    std::vector<std::pair<std::string, ValueId>> values;
    for (const auto* variables : {&run.parameters, &run.statistics}) {
        for (const nn::Variable& variable : *variables) {
            b.set_path(layer_of(variable.name));
            const bool parameter = variables == &run.parameters;
            const bool comes = restores && parameter && is_saved(slots, variable.name);
            const ValueId value = comes ? ops::constant(b, 0.0, variable.shape)
                                        : start_value(b, variable, random);
            values.emplace_back(variable.name,
                                parameter ? ops::cast(b, value, run.kept_as(variable)) : value);
            if (parameter && run.trainable(variable) && run.averaged(variable)) {
                values.emplace_back(average_slot(variable.name), b.emit("copy", {value}));
            }
        }
    }
    if (run.holds_samples()) {
        b.set_path("");
        const auto done = std::find_if(slots.begin(), slots.end(),
                                       [](const auto& slot) { return slot.name == kHeldDoneSlot; });
        if (done != slots.end()) {
            values.emplace_back(kHeldDoneSlot, ops::constant(b, 1.0, done->type.shape));
        }
    }
    if (run.config->loss_scale) {
        b.set_path("");
        const auto first = first_loss_scale(*run.config->loss_scale);
        for (std::size_t i = 0; i < first.size(); ++i) {
            values.emplace_back(kLossScaleSlots.at(i), ops::constant(b, first.at(i)));
        }
    }
    for (const plan::StateSlot& slot : slots) {
        const auto found = std::find_if(values.begin(), values.end(), [&](const auto& entry) {
            return entry.first == slot.name;
        });
        b.set_path(layer_of(slot.name));
        program.add_result(ir::Role::state, slot.name,
                           found != values.end()
                               ? found->second
                               : ops::constant(b, 0.0, slot.type.shape, slot.type.dtype));
    }
    return program;
}

} // namespace weft::compile
