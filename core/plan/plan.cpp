// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan.h"

#include "core/memory/arena.h"

#include <algorithm>
#include <array>

namespace weft::plan {
namespace {

constexpr std::array<std::string_view, kCategories> kCategoryNames{
    "parameters", "gradients", "optimizer",     "state",   "packed_weights", "activations",
    "workspace",  "batch",     "communication", "staging", "library",
};

const Step* find_step(const std::vector<Step>& steps, int& position) {
    for (const Step& step : steps) {
        if (position-- == 0) {
            return &step;
        }
        if (const Step* found = find_step(step.steps, position)) {
            return found;
        }
    }
    return nullptr;
}

} // namespace

std::string_view category_name(Category category) {
    return kCategoryNames[static_cast<std::size_t>(category)];
}

int ExecutionPlan::stage_of(std::int64_t device) const {
    return pipeline_axis < 0 ? 0
                             : static_cast<int>(mesh.coordinates(
                                   device)[static_cast<std::size_t>(pipeline_axis)]);
}

std::int64_t ExecutionPlan::all_arena_bytes() const {
    if (stages.size() < 2) {
        return mesh.devices() * arena_bytes;
    }
    std::int64_t bytes = 0;
    for (const Stage& stage : stages) {
        bytes += mesh.devices() / static_cast<std::int64_t>(stages.size()) * stage.arena_bytes;
    }
    return bytes;
}

const PlannedProgram* ExecutionPlan::find(std::string_view program, int stage) const {
    const auto found = std::find_if(programs.begin(), programs.end(), [&](const PlannedProgram& p) {
        return p.name == program && p.stage == stage;
    });
    return found == programs.end() ? nullptr : &*found;
}

std::vector<const PlannedProgram*> ExecutionPlan::all_stages(std::string_view program) const {
    std::vector<const PlannedProgram*> out;
    for (const PlannedProgram& one : programs) {
        if (one.name == program) {
            out.push_back(&one);
        }
    }
    return out;
}

std::int64_t ExecutionPlan::device_bytes() const {
    return device == "cpu" ? arena_bytes + host.bytes()
                           : memory::align(arena_bytes) + landing_bytes() + beside.bytes();
}

std::int64_t ExecutionPlan::landing_bytes() const {
    std::int64_t bytes = 0;
    for (const Stage& stage : stages) {
        bytes = std::max(bytes, stage.landing_bytes);
    }
    return bytes;
}

std::int64_t ExecutionPlan::memory_bytes() const {
    return device == "cpu" ? all_arena_bytes() + host.bytes() : device_bytes();
}

const StateSlot* ExecutionPlan::find_slot(std::string_view name) const {
    const auto found = std::find_if(state_slots.begin(), state_slots.end(),
                                    [&](const StateSlot& slot) { return slot.name == name; });
    return found == state_slots.end() ? nullptr : &*found;
}

const Step* step_at(const PlannedProgram& program, int position) {
    return find_step(program.steps, position);
}

std::vector<std::int64_t> bytes_by_category(const ExecutionPlan& plan,
                                            const PlannedProgram& program) {
    std::vector<std::int64_t> bytes(kCategories, 0);
    for (const StateSlot& slot : plan.state_slots) {
        bytes[static_cast<std::size_t>(slot.category)] +=
            slot.stage == program.stage ? memory::align(slot.type.bytes()) : 0;
    }
    for (const Buffer& buffer : program.buffers) {
        if (!buffer.is_state && buffer.first_step <= program.peak_step &&
            program.peak_step <= buffer.last_step) {
            bytes[static_cast<std::size_t>(buffer.category)] += memory::align(buffer.bytes);
        }
    }
    return bytes;
}

namespace {

/// Adds what the arena of a stage's devices holds at the peak, `times` over.
void add_arena(const ExecutionPlan& plan, int stage, std::int64_t times,
               std::vector<std::int64_t>& bytes) {
    if (const PlannedProgram* program = largest_program(plan, stage)) {
        const auto own = bytes_by_category(plan, *program);
        for (std::size_t i = 0; i < own.size(); ++i) {
            bytes[i] += times * own[i];
        }
    }
}

/// What the memory behind the limit holds beside arenas.
void add_beside(const ExecutionPlan& plan, std::vector<std::int64_t>& bytes) {
    const auto add = [&](Category category, std::int64_t more) {
        bytes[static_cast<std::size_t>(category)] += more;
    };
    if (plan.device == "cpu") {
        const HostMemory& host = plan.host;
        add(Category::batch, host.data_cache_bytes + host.prefetch_bytes);
        add(Category::staging, host.staging_bytes + host.inside_bytes);
        add(Category::library, host.library_bytes);
        return;
    }
    add(Category::batch, plan.landing_bytes());
    add(Category::library, plan.beside.context_bytes + plan.beside.library_bytes);
    add(Category::communication, plan.beside.exchange_bytes);
}

} // namespace

std::vector<std::int64_t> device_bytes_by_category(const ExecutionPlan& plan, int stage) {
    std::vector<std::int64_t> bytes(kCategories, 0);
    add_arena(plan, stage, 1, bytes);
    add_beside(plan, bytes);
    return bytes;
}

std::vector<std::int64_t> memory_by_category(const ExecutionPlan& plan) {
    if (plan.device != "cpu") {
        return bytes_by_category(plan);
    }
    std::vector<std::int64_t> bytes(kCategories, 0);
    const auto stages = static_cast<std::int64_t>(plan.stages.size());
    for (int stage = 0; stage < stages; ++stage) {
        add_arena(plan, stage, plan.mesh.devices() / stages, bytes);
    }
    add_beside(plan, bytes);
    return bytes;
}

std::vector<std::int64_t> bytes_by_category(const ExecutionPlan& plan) {
    const PlannedProgram* program = largest_program(plan);
    return device_bytes_by_category(plan, program == nullptr ? 0 : program->stage);
}

const PlannedProgram* largest_program(const ExecutionPlan& plan) {
    const PlannedProgram* out = nullptr;
    for (const PlannedProgram& program : plan.programs) {
        out = out == nullptr || out->peak_bytes < program.peak_bytes ? &program : out;
    }
    return out;
}

const PlannedProgram* largest_program(const ExecutionPlan& plan, int stage) {
    const PlannedProgram* out = nullptr;
    for (const PlannedProgram& program : plan.programs) {
        const bool larger = out == nullptr || out->peak_bytes < program.peak_bytes;
        out = program.stage == stage && larger ? &program : out;
    }
    return out;
}

std::string peak_op(const PlannedProgram& program) {
    const Step* step = step_at(program, program.peak_step);
    if (step == nullptr) {
        return "";
    }
    return ir::op_text(step->op);
}

} // namespace weft::plan
