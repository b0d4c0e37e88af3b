// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/devices_event.h"

#include "core/base/error.h"
#include "core/base/text.h"

#include <algorithm>

namespace weft::train {
namespace {

constexpr const char* kLiveProgram = "train_step";

/// For which computation stands still.
double planned_exchange_ms(const plan::PlannedProgram& program) {
    double out = -program.hidden_ms;
    for (const plan::Collective& one : plan::collectives(program)) {
        out += one.predicted_ms;
    }
    return std::max(0.0, out);
}

DevicesEvent::Link& link_along(const std::string& axes, DevicesEvent& event) {
    const auto found = std::find_if(event.links.begin(), event.links.end(),
                                    [&](const auto& link) { return link.axes == axes; });
    if (found != event.links.end()) {
        return *found;
    }
    event.links.emplace_back().axes = axes;
    return event.links.back();
}

/// Sums over the devices.
void add_links(const exec::DeviceUse& use, const plan::PlannedProgram& program,
               DevicesEvent& event) {
    for (const exec::LinkUse& link : use.links) {
        DevicesEvent::Link& to = link_along(link.axes, event);
        to.exchange_ms += std::max(0.0, link.moved_s) * 1e3;
        to.waited_ms += link.waited_s * 1e3;
        to.sent_bytes += link.sent_bytes;
    }
    for (const plan::Collective& one : plan::collectives(program)) {
        link_along(join(one.axes, ","), event).planned_ms += one.predicted_ms;
    }
}

/// Whether devices that exchange along these axes are of several hosts.
bool goes_between_hosts(const std::string& axes, const plan::ExecutionPlan& plan,
                        const DevicesEvent& event) {
    std::vector<int> numbers;
    for (const std::string& name : split(axes, ',')) {
        numbers.push_back(plan.mesh.find(name));
    }
    const auto groups = plan.mesh.groups(numbers);
    const auto host = [&](std::int64_t device) -> const std::string& {
        return event.devices[static_cast<std::size_t>(device)].host;
    };
    return std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
        return std::any_of(group.begin(), group.end(), [&](const std::int64_t device) {
            return host(device) != host(group.front());
        });
    });
}

/// Sums become means; links that nothing went over go.
void finish_links(const plan::ExecutionPlan& plan, DevicesEvent& event) {
    std::erase_if(event.links, [](const auto& link) { return link.sent_bytes == 0; });
    const auto count = static_cast<double>(event.devices.size());
    for (DevicesEvent::Link& link : event.links) {
        link.exchange_ms /= count;
        link.waited_ms /= count;
        link.planned_ms /= count;
        link.sent_bytes /= std::ssize(event.devices);
        link.between_hosts = goes_between_hosts(link.axes, plan, event);
    }
}

std::vector<DevicesEvent::Action> actions_of(const exec::DeviceUse& use, double start_s) {
    std::vector<DevicesEvent::Action> out;
    for (const exec::ActionUse& action : use.actions) {
        out.push_back({std::string(action.action), (action.start_s - start_s) * 1e3,
                       (action.end_s - start_s) * 1e3});
    }
    return out;
}

DevicesEvent::Gpu gpu_of(const GpuState& state) {
    const auto known = [](auto value) { return value >= 0 ? std::optional(value) : std::nullopt; };
    const weft_device_health& health = state.health;
    return {state.number,
            health.name,
            health.memory_bytes,
            known(health.memory_used_bytes),
            known(health.utilisation),
            known(health.power_w),
            known(health.power_limit_w),
            known(health.temperature_c)};
}

/// A GPU that could not be looked at has none.
void add_health(const std::vector<GpuState>& states, DevicesEvent& event) {
    for (const GpuState& state : states) {
        event.devices[state.place].gpu = gpu_of(state);
    }
}

} // namespace

DevicesEvent devices_event(const exec::Executor& executor, std::int64_t step,
                           const HealthWatch* health) {
    const plan::ExecutionPlan& plan = executor.plan();
    const auto count = static_cast<int>(plan.mesh.devices());
    double start_s = executor.last_use(0).start_s;
    for (int device = 1; device < count; ++device) {
        start_s = std::min(start_s, executor.last_use(device).start_s);
    }
    DevicesEvent out;
    out.step = step;
    out.stages.resize(plan.pipeline ? plan.stages.size() : 0);
    for (int device = 0; device < count; ++device) {
        const exec::DeviceUse use = executor.last_use(device);
        const int stage = plan.stage_of(device);
        const plan::PlannedProgram* program = plan.find(kLiveProgram, stage);
        WEFT_CHECK(program != nullptr, "every stage trains");
        DevicesEvent::Device& one = out.devices.emplace_back();
        const exec::LinkUse links = use.together();
        one.compute_ms = (use.end_s - use.start_s - links.exchange_s) * 1e3;
        one.exchange_ms = std::max(0.0, links.exchange_s - links.waited_s) * 1e3;
        one.waited_ms = links.waited_s * 1e3;
        one.sent_bytes = links.sent_bytes;
        add_links(use, *program, out);
        one.memory_bytes = executor.resident_bytes(device);
        one.host = executor.host_of(device);
        one.planned_exchange_ms = planned_exchange_ms(*program);
        one.planned_compute_ms = std::max(0.0, program->predicted_ms - one.planned_exchange_ms);
        one.planned_memory_bytes = plan.stages[static_cast<std::size_t>(stage)].arena_bytes;
        if (plan.pipeline && out.stages[static_cast<std::size_t>(stage)].empty()) {
            out.stages[static_cast<std::size_t>(stage)] = actions_of(use, start_s);
        }
    }
    finish_links(plan, out);
    if (health != nullptr) {
        add_health(health->last(), out);
    }
    return out;
}

} // namespace weft::train
