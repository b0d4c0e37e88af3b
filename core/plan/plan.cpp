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
    const bool host_memory = device == "cpu";
    return arena_bytes + (host_memory ? host.data_cache_bytes + host.prefetch_bytes +
                                            host.staging_bytes + host.library_bytes
                                      : 0);
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

} // namespace weft::plan
