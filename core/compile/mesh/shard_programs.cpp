// SPDX-License-Identifier: Apache-2.0
#include "core/compile/mesh/shard_programs.h"

#include "core/compile/programs/activations.h"

#include <algorithm>
#include <iterator>

namespace weft::compile {
namespace {

using sharding::Annotation;
using sharding::SlotInfo;

/// "m/NAME" and "ema/NAME" belong to the parameter NAME.
SlotInfo info_of(const plan::StateSlot& slot) {
    SlotInfo out;
    out.name = slot.name;
    out.type = slot.whole;
    out.logical_axes = slot.logical_axes;
    const std::size_t slash = slot.name.find('/');
    if (slot.by_row) {
        out.kind = SlotInfo::Kind::other; // ZeRO would bring all rows together in every step
    } else if (slot.category == plan::Category::parameters) {
        out.kind = SlotInfo::Kind::parameter;
    } else if (slot.logical_axes.size() > 1 && slot.logical_axes[1] == "batch") {
        out.kind = SlotInfo::Kind::batch; // rows of microsteps [n, B, ...]
    } else if (slash != std::string::npos) {
        out.kind = SlotInfo::Kind::optimizer;
        out.parameter = slot.name.substr(slash + 1);
    }
    return out;
}

std::vector<SlotInfo> infos_of(const std::vector<plan::StateSlot>& slots) {
    std::vector<SlotInfo> out;
    std::transform(slots.begin(), slots.end(), std::back_inserter(out), info_of);
    return out;
}

sharding::ProgramAnnotations annotations_of(const ir::Program& program,
                                            const sharding::Annotations& state,
                                            const sharding::Placement& placement) {
    sharding::ProgramAnnotations out;
    out.batch_axes = placement.axes_of("batch");
    for (const int axis : placement.axes_of("sequence")) {
        const std::string& name = placement.mesh.axes[static_cast<std::size_t>(axis)].name;
        if (std::count(placement.zero_axes.begin(), placement.zero_axes.end(), name) > 0) {
            out.batch_axes.push_back(axis);
        }
    }
    const bool trains = program.name == "train_step";
    for (const ir::Port& port : program.arguments) {
        const ir::Type& type = program.type(port.value);
        if (port.role == ir::Role::state) {
            out.arguments[port.name] = state.state.at(port.name);
        } else if (port.role == ir::Role::batch && port.name != "tokens") {
            const int batch_dim = trains ? 1 : 0;
            const bool positions =
                type.dtype == ir::DType::i32 && type.shape.rank() >= batch_dim + 2;
            const sharding::Sharding place =
                sharding::batch_sharding(type, batch_dim, positions, placement);
            out.arguments[port.name] = {place, place};
        }
    }
    for (const ir::Port& port : program.results) {
        if (port.role == ir::Role::state) {
            out.results[port.name] = state.state.at(port.name).stored;
        }
    }
    for (const auto& [parameter, gradient] : state.gradients) {
        out.values["gradient/" + parameter] = gradient;
    }
    return out;
}

PortPlaces places_of(const std::vector<ir::Port>& ports, const std::vector<ir::Type>& types,
                     const std::vector<sharding::Sharding>& shardings) {
    PortPlaces out;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        out[ports[i].name] = {types[i], shardings[i]};
    }
    return out;
}

/// The slots as they are kept, and the batch of the training step.
std::vector<sharding::Finding> findings_of(const ProgramSet& programs, const ShardedPrograms& made,
                                           std::vector<SlotInfo> infos,
                                           const sharding::Placement& placement) {
    std::vector<sharding::PlacedArray> arrays;
    for (std::size_t i = 0; i < infos.size(); ++i) {
        arrays.push_back({std::move(infos[i]), programs.state_slots[i].placement});
    }
    for (std::size_t i = 0; i < programs.programs.size(); ++i) {
        const ir::Program& program = programs.programs[i];
        if (program.name != "train_step") {
            continue;
        }
        for (const ir::Port& port : program.arguments) {
            if (port.role == ir::Role::batch) {
                const auto& [whole, place] = made.arguments[i].at(port.name);
                SlotInfo info{SlotInfo::Kind::batch, port.name, {}, whole, {"", "batch"}};
                info.logical_axes.resize(static_cast<std::size_t>(whole.shape.rank()));
                arrays.push_back({std::move(info), place});
            }
        }
    }
    return sharding::lint(arrays, placement);
}

} // namespace

sharding::PartitionedProgram shard_program(const ProgramSet& programs, const ir::Program& program,
                                           const sharding::Placement& placement) {
    const sharding::Annotations state =
        sharding::annotate(infos_of(programs.state_slots), placement);
    return sharding::partition(program, annotations_of(program, state, placement), placement.mesh);
}

ShardedPrograms shard_programs(ProgramSet& programs, const sharding::Placement& placement,
                               std::optional<ir::DType> compute_dtype,
                               const std::stop_token& stop) {
    ShardedPrograms out;
    const std::vector<SlotInfo> infos = infos_of(programs.state_slots);
    sharding::Annotations state = sharding::annotate(infos, placement);
    for (plan::StateSlot& slot : programs.state_slots) {
        slot.placement = state.state.at(slot.name).stored;
        slot.type = sharding::local_type(slot.whole, slot.placement, placement.mesh);
    }
    for (ir::Program& program : programs.programs) {
        sharding::PartitionedProgram local = sharding::partition(
            program, annotations_of(program, state, placement), placement.mesh, stop);
        if (program.name == "train_step" && compute_dtype) {
            out.activations = activations_of(program, local.values, placement.mesh, *compute_dtype);
        }
        out.arguments.push_back(
            places_of(local.program.arguments, local.argument_types, local.arguments));
        out.results.push_back(places_of(local.program.results, local.result_types, local.results));
        program = std::move(local.program);
    }
    out.findings = findings_of(programs, out, infos, placement);
    return out;
}

} // namespace weft::compile
