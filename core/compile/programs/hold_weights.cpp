// SPDX-License-Identifier: Apache-2.0
#include "core/compile/mesh/mesh_config.h"
#include "core/compile/programs/model_programs.h"
#include "core/compile/programs/programs.h"
#include "core/passes/apply_precision.h"
#include "core/passes/rewrite.h"
#include "core/passes/simplify.h"

#include <algorithm>
#include <map>

namespace weft::compile {
namespace {

using ir::Op;
using ir::Port;
using ir::ValueId;

/// Arguments that are cast to the compute type, and the copies that are made so.
std::map<ValueId, ir::ValueIds> copies_of(const ir::Program& program, ir::DType compute) {
    std::map<ValueId, ir::ValueIds> out;
    for (const Op& op : program.body.ops) {
        if (op.kind == "cast" && program.type(op.outputs[0]).dtype == compute) {
            out[op.inputs[0]].push_back(op.outputs[0]);
        }
    }
    return out;
}

void leave_unread_arguments(ir::Program& program) {
    const std::vector<int> uses = passes::count_uses(program);
    const auto unread = [&](const Port& port) {
        return port.role == ir::Role::state &&
               uses[static_cast<std::size_t>(port.value.index)] == 0;
    };
    std::erase_if(program.arguments, unread);
    program.body.arguments.clear();
    for (const Port& port : program.arguments) {
        program.body.arguments.push_back(port.value);
    }
}

} // namespace

void hold_weights(const RunConfig& config, ProgramSet& set) {
    const ir::DType compute = config.compute_dtype();
    const auto decode = std::find_if(set.programs.begin(), set.programs.end(),
                                     [](const ir::Program& one) { return one.name == "decode"; });
    if (decode == set.programs.end() || compute == ir::DType::f32 ||
        !placement_of(config.section("mesh")).mesh.single()) {
        return;
    }
    passes::simplify(*decode);
    passes::apply_precision(*decode, compute);
    passes::simplify(*decode);
    const auto copies = copies_of(*decode, compute);
    ir::Program hold;
    hold.name = kHoldProgram;
    ops::Builder b(hold, hold.body);
    passes::Replacements held_instead;
    const std::vector<Port> arguments = decode->arguments; // more come
    for (const Port& port : arguments) {
        const auto found = copies.find(port.value);
        if (port.role != ir::Role::state || found == copies.end()) {
            continue;
        }
        const auto weight = std::find_if(set.state_slots.begin(), set.state_slots.end(),
                                         [&](const auto& slot) { return slot.name == port.name; });
        WEFT_CHECK(weight != set.state_slots.end(), "a program reads slots");
        plan::StateSlot slot;
        slot.name = kHeldWeightPrefix + port.name;
        slot.category = plan::Category::packed_weights;
        slot.type = {compute, weight->type.shape};
        slot.saved = slot.trainable = false;
        slot.logical_axes = weight->logical_axes;
        b.set_path(layer_of(port.name));
        const ValueId given = hold.add_argument(ir::Role::state, port.name, weight->type);
        hold.add_result(ir::Role::state, slot.name, ops::cast(b, given, compute));
        const ValueId held = decode->add_argument(ir::Role::state, slot.name, slot.type);
        for (const ValueId copy : found->second) {
            held_instead.set(copy, held);
        }
        set.state_slots.push_back(std::move(slot));
    }
    if (hold.results.empty()) {
        return;
    }
    held_instead.apply(*decode);
    passes::remove_dead_code(*decode);
    leave_unread_arguments(*decode);
    set.programs.push_back(std::move(hold));
}

} // namespace weft::compile
