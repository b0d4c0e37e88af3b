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

const PlannedProgram* ExecutionPlan::find(std::string_view program) const {
    const auto found = std::find_if(programs.begin(), programs.end(),
                                    [&](const PlannedProgram& p) { return p.name == program; });
    return found == programs.end() ? nullptr : &*found;
}

std::int64_t ExecutionPlan::device_bytes() const {
    return arena_bytes + (device == "cpu" ? host.bytes() : 0);
}

std::int64_t ExecutionPlan::memory_bytes() const {
    return device_bytes() + (device == "cpu" ? (mesh.devices() - 1) * arena_bytes : 0);
}

const StateSlot* ExecutionPlan::find_slot(std::string_view name) const {
    const auto found = std::find_if(state_slots.begin(), state_slots.end(),
                                    [&](const StateSlot& slot) { return slot.name == name; });
    return found == state_slots.end() ? nullptr : &*found;
}

const Step* step_at(const PlannedProgram& program, int position) {
    return find_step(program.steps, position);
}

std::vector<std::int64_t> bytes_by_category(const ExecutionPlan& plan, std::string_view program) {
    const PlannedProgram* found = plan.find(program);
    WEFT_CHECK(found != nullptr, "the plan has no program " + std::string(program));
    std::vector<std::int64_t> bytes(kCategories, 0);
    for (const StateSlot& slot : plan.state_slots) {
        bytes[static_cast<std::size_t>(slot.category)] += memory::align(slot.type.bytes());
    }
    for (const Buffer& buffer : found->buffers) {
        if (!buffer.is_state && buffer.first_step <= found->peak_step &&
            found->peak_step <= buffer.last_step) {
            bytes[static_cast<std::size_t>(buffer.category)] += memory::align(buffer.bytes);
        }
    }
    return bytes;
}

std::vector<std::int64_t> bytes_by_category(const ExecutionPlan& plan) {
    const PlannedProgram* program = largest_program(plan);
    auto bytes = program == nullptr ? std::vector<std::int64_t>(kCategories, 0)
                                    : bytes_by_category(plan, program->name);
    if (plan.device == "cpu") {
        const HostMemory& host = plan.host;
        bytes[static_cast<std::size_t>(Category::batch)] +=
            host.data_cache_bytes + host.prefetch_bytes;
        bytes[static_cast<std::size_t>(Category::staging)] += host.staging_bytes;
        bytes[static_cast<std::size_t>(Category::library)] += host.library_bytes;
    }
    return bytes;
}

const PlannedProgram* largest_program(const ExecutionPlan& plan) {
    const auto found = std::max_element(plan.programs.begin(), plan.programs.end(),
                                        [](const PlannedProgram& a, const PlannedProgram& b) {
                                            return a.peak_bytes < b.peak_bytes;
                                        });
    return found == plan.programs.end() ? nullptr : &*found;
}

std::string peak_op(const PlannedProgram& program) {
    const Step* step = step_at(program, program.peak_step);
    if (step == nullptr) {
        return "";
    }
    return step->op.path.empty() ? step->op.kind : step->op.kind + " at " + step->op.path;
}

} // namespace weft::plan
