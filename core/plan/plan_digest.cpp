// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_digest.h"

#include "core/base/fnv1a.h"
#include "core/ir/text.h"

#include <algorithm>

namespace weft::plan {
namespace {

void add(Fnv1a& hash, const ir::Type& type) {
    hash.add(ir::to_text(type));
}

void add(Fnv1a& hash, const sharding::Sharding& placement, const sharding::Mesh& mesh) {
    hash.add(ir::to_text(sharding::to_spec(placement, mesh)));
}

void add(Fnv1a& hash, const Operand& operand) {
    hash.add(operand.offset);
    add(hash, operand.type);
    for (const std::int64_t stride : operand.strides) {
        hash.add(stride);
    }
    hash.add(std::string_view("."));
}

void add(Fnv1a& hash, const std::vector<Step>& steps) {
    hash.add(static_cast<std::int64_t>(steps.size()));
    for (const Step& step : steps) {
        hash.add(ir::op_text(step.op));
        for (const auto& [name, value] : step.op.attributes) {
            hash.add(name);
            hash.add(ir::to_text(value));
        }
        hash.add(step.kernel);
        hash.add(step.count);
        hash.add(std::int64_t{step.reverse});
        for (const Operand& operand : step.inputs) {
            add(hash, operand);
        }
        for (const Operand& operand : step.outputs) {
            add(hash, operand);
        }
        add(hash, step.workspace);
        add(hash, step.steps);
    }
}

void add(Fnv1a& hash, const std::vector<PlannedPort>& ports, const sharding::Mesh& mesh) {
    for (const PlannedPort& port : ports) {
        hash.add(port.name);
        add(hash, port.operand);
        add(hash, port.whole);
        add(hash, port.placement, mesh);
    }
}

} // namespace

PlanDigest digest_of(const ExecutionPlan& plan) {
    PlanDigest out;
    Fnv1a slots;
    slots.add(plan.mesh.to_text());
    for (const Stage& stage : plan.stages) {
        slots.add(stage.arena_bytes);
    }
    for (const StateSlot& slot : plan.state_slots) {
        slots.add(slot.name);
        slots.add(slot.offset);
        slots.add(std::int64_t{slot.stage});
        add(slots, slot.type);
        add(slots, slot.whole);
        add(slots, slot.placement, plan.mesh);
    }
    out.emplace_back("slots", std::to_string(slots.value()));
    for (const PlannedProgram& program : plan.programs) {
        Fnv1a hash;
        hash.add(program.text); // what groups of ops do inside, too
        hash.add(program.peak_bytes);
        add(hash, program.arguments, plan.mesh);
        add(hash, program.results, plan.mesh);
        add(hash, program.steps);
        out.emplace_back(program.name + (plan.pipeline_axis >= 0
                                             ? " of stage " + std::to_string(program.stage)
                                             : ""),
                         std::to_string(hash.value()));
    }
    return out;
}

std::string first_difference(const PlanDigest& one, const PlanDigest& other) {
    const auto [mine, theirs] = std::ranges::mismatch(one, other);
    return mine != one.end() ? mine->first : theirs != other.end() ? theirs->first : std::string();
}

} // namespace weft::plan
