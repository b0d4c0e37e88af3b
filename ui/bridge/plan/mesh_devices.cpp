// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/mesh_devices.h"

#include "core/train/find_meshes.h"
#include "ui/bridge/convert.h"

#include <QCoreApplication>

#include <algorithm>

namespace weft::ui {
namespace {

/// "[0:32]": the samples of a microstep that a device reads; empty where its stage reads none.
QString samplesOf(const plan::ExecutionPlan& plan, std::int64_t device) {
    const plan::PlannedProgram* step = plan.find("train_step", plan.stage_of(device));
    if (step == nullptr) {
        return {};
    }
    for (const plan::PlannedPort& port : step->arguments) {
        if (port.name != "inputs" || port.whole.shape.rank() < 2) {
            continue;
        }
        const auto ranges =
            sharding::ranges(port.placement.dims[1], port.whole.shape[1], plan.mesh, device);
        return ranges.empty() ? QString()
                              : QStringLiteral("[%1:%2]")
                                    .arg(ranges.front().first)
                                    .arg(ranges.back().first + ranges.back().count);
    }
    return {};
}

std::vector<widgets::MemorySegment> arenaSegments(const plan::ExecutionPlan& plan, int stage) {
    std::vector<widgets::MemorySegment> out;
    const plan::PlannedProgram* program = plan::largest_program(plan, stage);
    if (program == nullptr) {
        return out;
    }
    const auto bytes = plan::bytes_by_category(plan, *program);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] > 0) {
            out.push_back({toWidget(static_cast<plan::Category>(i)), bytes[i]});
        }
    }
    std::sort(out.begin(), out.end(),
              [](const auto& a, const auto& b) { return a.category < b.category; });
    return out;
}

} // namespace

widgets::DeviceSet meshDevices(const plan::ExecutionPlan& plan) {
    widgets::DeviceSet out;
    out.kind = toQString(plan.device);
    for (const sharding::Axis& axis : plan.mesh.axes) {
        out.axes.push_back({toQString(axis.name), static_cast<int>(axis.size)});
    }
    for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
        out.groups.push_back(
            {arenaSegments(plan, static_cast<int>(stage)), plan.stages[stage].arena_bytes});
    }
    const QString simulated =
        plan.device == "cpu" ? QCoreApplication::translate("MeshDevices", "simulated") : QString();
    for (std::int64_t device = 0; device < plan.mesh.devices(); ++device) {
        const QString samples = samplesOf(plan, device);
        out.notes.push_back(samples.isEmpty() ? simulated : samples);
        out.group_of.push_back(plan.stage_of(device));
    }
    out.limit = train::limit_of_device(plan);
    return out;
}

} // namespace weft::ui
