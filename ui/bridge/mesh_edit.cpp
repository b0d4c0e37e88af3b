// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/mesh_edit.h"

#include "core/compile/mesh_config.h"
#include "core/compile/programs.h"
#include "core/sharding/strategies/strategy_list.h"

#include <algorithm>

namespace weft::ui {
namespace {

using config::Json;

int product(const std::vector<MeshAxis>& axes) {
    int out = 1;
    for (const MeshAxis& axis : axes) {
        out *= axis.size;
    }
    return out;
}

/// Deals devices out over the axes of a strategy: each wants its own size, the open one the rest.
std::vector<MeshAxis> dealt(const sharding::StrategyDef& strategy, int devices) {
    std::vector<MeshAxis> out;
    int left = devices;
    for (const sharding::Axis& axis : strategy.axes) {
        int size = 1;
        if (axis.size > 0) {
            // As large as it wants to be, or the largest below that divides what is left.
            size = static_cast<int>(std::min<std::int64_t>(axis.size, left));
            while (left % size != 0) {
                --size;
            }
            left /= size;
        }
        out.push_back({axis.name, size});
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (strategy.axes[i].size < 0) {
            out[i].size = left;
            left = 1;
        }
    }
    if (!out.empty()) {
        out.front().size *= left;
    }
    return out;
}

} // namespace

MeshEdit MeshEdit::of(const compile::RunConfig& config) {
    MeshEdit out;
    const Json& mesh = config.section("mesh");
    const sharding::Placement placement = compile::placement_of(mesh);
    out.devices = static_cast<int>(placement.mesh.devices());
    out.strategy = mesh.at("strategy").get<std::string>();
    out.zero_stage = mesh.at("zero_stage").get<int>();
    const auto named = mesh.at("devices").get<std::string>();
    out.kind = compile::is_planned_hardware(named) ? named.substr(0, named.find(':')) : "cpu";
    for (const sharding::Axis& axis : placement.mesh.axes) {
        out.axes.push_back({axis.name, static_cast<int>(axis.size)});
    }
    return out;
}

MeshEdit exampleMesh() {
    return withStrategy({4, "2d", {}, 0}, "2d");
}

MeshEdit withStrategy(const MeshEdit& edit, const std::string& strategy) {
    MeshEdit out = edit;
    out.strategy = strategy;
    const sharding::StrategyDef* def = sharding::find_strategy(strategy);
    if (def != nullptr && !def->axes.empty()) {
        out.axes = dealt(*def, edit.devices);
        out.zero_stage = 0;
    }
    return out;
}

MeshEdit withDevices(const MeshEdit& edit, int devices) {
    MeshEdit out = edit;
    out.devices = devices;
    const int first = edit.axes.empty() ? 1 : edit.axes.front().size;
    const int others = product(edit.axes) / std::max(1, first);
    if (!out.axes.empty() && devices % others == 0) {
        out.axes.front().size = devices / others;
        return out;
    }
    const int zero_stage = edit.zero_stage;
    out = withStrategy(out, edit.strategy);
    out.zero_stage = zero_stage;
    return out;
}

MeshEdit withAxisSize(const MeshEdit& edit, std::size_t axis, int size) {
    MeshEdit out = edit;
    out.axes.at(axis).size = size;
    out.devices = product(out.axes);
    return out;
}

MeshEdit withAxisMoved(const MeshEdit& edit, std::size_t from, std::size_t to) {
    MeshEdit out = edit;
    const MeshAxis moved = out.axes.at(from);
    out.axes.erase(out.axes.begin() + static_cast<std::ptrdiff_t>(from));
    out.axes.insert(out.axes.begin() + static_cast<std::ptrdiff_t>(std::min(to, out.axes.size())),
                    moved);
    return out;
}

std::vector<std::string> assignmentsOf(const MeshEdit& edit, const compile::RunConfig& config) {
    Json mesh = config.section("mesh");
    mesh["devices"] = edit.kind + ":" + std::to_string(edit.devices);
    mesh["strategy"] = edit.strategy;
    mesh["zero_stage"] = edit.zero_stage;
    mesh["axes"] = Json::array();
    for (const MeshAxis& axis : edit.axes) {
        mesh["axes"].push_back(Json::array({axis.name, axis.size}));
    }
    std::vector<std::string> out;
    for (const char* field : {"devices", "strategy", "axes", "zero_stage"}) {
        out.push_back("mesh." + std::string(field) + "=" + mesh.at(field).dump());
    }
    const sharding::Placement placement = compile::placement_of(mesh);
    const std::int64_t ranks = placement.mesh.size(placement.axes_of("batch"));
    const std::int64_t stages = placement.mesh.size(placement.axes_of("layers"));
    const std::int64_t samples = config.global_batch_size;
    if (samples % ranks != 0) { // an uneven batch is taken in one microstep
        out.emplace_back("training.micro_batch_size=null");
    } else if (stages > 1 && compile::plan_batch(config).accumulation_steps < stages) {
        // As many microbatches as fill the pipeline twice, of those that divide a rank's samples.
        const std::int64_t share = samples / ranks;
        std::int64_t micro = std::max<std::int64_t>(1, share / (2 * stages));
        while (share % micro != 0) {
            --micro;
        }
        out.push_back("training.micro_batch_size=" + std::to_string(micro));
    }
    return out;
}

} // namespace weft::ui
