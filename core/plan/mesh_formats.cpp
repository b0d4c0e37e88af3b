// SPDX-License-Identifier: Apache-2.0
#include "core/plan/mesh_formats.h"

#include "core/base/text.h"
#include "core/ir/text.h"
#include "core/plan/mesh_formats_internal.h"
#include "core/plan/sections.h"

#include <algorithm>

namespace weft::plan {
namespace {

using config::Json;

bool splits(const sharding::Placement& placement, std::string_view logical, int axis) {
    const std::vector<int> axes = placement.axes_of(logical);
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::string role_name(AxisRole role) {
    switch (role) {
    case AxisRole::replicate:
    case AxisRole::shard: return "data";
    case AxisRole::expert: return "expert";
    case AxisRole::context: return "context";
    case AxisRole::pipeline: return "pipeline";
    case AxisRole::tensor: return "tensor";
    case AxisRole::idle: break;
    }
    return "idle";
}

Json rules_json(const std::vector<sharding::Rule>& rules) {
    Json out = Json::array();
    for (const sharding::Rule& rule : rules) {
        Json axes = nullptr;
        if (rule.axes.size() == 1) {
            axes = rule.axes.front();
        } else if (!rule.axes.empty()) {
            axes = rule.axes;
        }
        out.push_back({rule.logical, std::move(axes)});
    }
    return out;
}

Json stages_json(const Pipeline& pipeline, const std::vector<Stage>& stages) {
    Json layers = Json::array();
    for (const Stage& stage : stages) {
        layers.push_back(stage.layers);
    }
    return {{"schedule", pipeline.schedule},
            {"stages", pipeline.stages},
            {"chunks", pipeline.chunks},
            {"microbatches", pipeline.microbatches},
            {"layers", std::move(layers)}};
}

/// The section "mesh" of a configuration first, with what is derived filled in, then every array.
std::string mesh_as_json(const ExecutionPlan& plan, const MeshRecipe& recipe) {
    Json axes = Json::array();
    for (const sharding::Axis& axis : plan.mesh.axes) {
        axes.push_back({axis.name, axis.size});
    }
    Json specs = Json::object();
    for (const auto& [pattern, spec] : recipe.placement.specs) {
        specs[pattern] = ir::to_text(spec);
    }
    Json tensors = Json::array();
    for (const StateSlot& slot : plan.state_slots) {
        tensors.push_back(tensor_row_json(plan, slot));
        tensors.back()["logical_axes"] = slot.logical_axes;
    }
    const Json out{
        {"name", recipe.name},
        {"devices", plan.mesh.devices()},
        {"axes", std::move(axes)},
        {"strategy", plan.strategy},
        {"zero_stage", plan.zero_stage},
        {"rules", rules_json(effective_rules(plan.rules))},
        {"specs", std::move(specs)},
        {"pipeline", plan.pipeline ? stages_json(*plan.pipeline, plan.stages) : Json(nullptr)},
        {"global_batch_size", recipe.global_batch_size},
        {"micro_batch_size", recipe.micro_batch_size},
        {"tensors", std::move(tensors)}};
    return out.dump(2) + "\n";
}

std::string mesh_as_text(const ExecutionPlan& plan, const MeshRecipe& recipe) {
    std::string out = recipe.name + " on " + plan.mesh.to_text() + "\n";
    out += "strategy " + plan.strategy + ", ZeRO " + std::to_string(plan.zero_stage) + "\n";
    for (const sharding::Rule& rule : effective_rules(plan.rules)) {
        out += "rule " + rule.logical + " -> " +
               (rule.axes.empty() ? "whole" : join(rule.axes, " x ")) + "\n";
    }
    for (const auto& [pattern, spec] : recipe.placement.specs) {
        out += "spec " + pattern + " -> " + ir::to_text(spec) + "\n";
    }
    if (plan.pipeline) {
        out += "pipeline " + plan.pipeline->schedule + ", " +
               std::to_string(plan.pipeline->stages) + " stages, " +
               std::to_string(plan.pipeline->microbatches) + " microbatches\n";
        for (std::size_t i = 0; i < plan.stages.size(); ++i) {
            out += "stage " + std::to_string(i) + ": " + plan.stages[i].layers + "\n";
        }
    }
    out += "batch " + std::to_string(recipe.global_batch_size) + ", micro batch " +
           std::to_string(recipe.micro_batch_size) + "\n";
    for (const StateSlot& slot : plan.state_slots) {
        out += slot.name + "  " + ir::to_text(slot.whole) + "  " +
               ir::to_text(sharding::to_spec(slot.placement, plan.mesh)) + "  " +
               ir::to_text(slot.type.shape) + " on a device" +
               (plan.pipeline ? ", stage " + std::to_string(slot.stage) : "") + "\n";
    }
    return out;
}

} // namespace

AxisRole role_of(const sharding::Placement& placement, int axis) {
    if (splits(placement, "layers", axis)) {
        return AxisRole::pipeline;
    }
    if (splits(placement, "expert", axis)) {
        return AxisRole::expert;
    }
    const std::string& name = placement.mesh.axes[static_cast<std::size_t>(axis)].name;
    if (splits(placement, "batch", axis)) {
        const auto& zero = placement.zero_axes;
        const bool shares =
            placement.zero_stage > 0 && std::find(zero.begin(), zero.end(), name) != zero.end();
        return shares ? AxisRole::shard : AxisRole::replicate;
    }
    for (const char* logical : {"heads", "kv_heads", "mlp", "vocab", "embed"}) {
        if (splits(placement, logical, axis)) {
            return AxisRole::tensor;
        }
    }
    return splits(placement, "sequence", axis) ? AxisRole::context : AxisRole::idle;
}

std::int64_t degree_of(const sharding::Placement& placement, AxisRole role) {
    std::int64_t out = 1;
    for (int axis = 0; axis < static_cast<int>(placement.mesh.axes.size()); ++axis) {
        out *= role_of(placement, axis) == role ? placement.mesh.size(axis) : 1;
    }
    return out;
}

std::vector<sharding::Rule> effective_rules(const std::vector<sharding::Rule>& rules) {
    std::vector<sharding::Rule> out;
    for (const sharding::Rule& rule : rules) {
        const bool known = std::any_of(out.begin(), out.end(), [&](const sharding::Rule& one) {
            return one.logical == rule.logical;
        });
        if (!known) {
            out.push_back(rule);
        }
    }
    return out;
}

std::vector<NamedSlot> slots_of(const ExecutionPlan& plan, Category category) {
    std::vector<NamedSlot> out;
    for (const StateSlot& slot : plan.state_slots) {
        if (slot.category != category) {
            continue;
        }
        auto found = std::find_if(out.begin(), out.end(), [&](const NamedSlot& one) {
            return one.slot->name == slot.name;
        });
        if (found == out.end()) {
            found = out.insert(out.end(), {&slot, {}});
        }
        if (plan.pipeline) {
            found->stages.push_back(slot.stage);
        }
    }
    return out;
}

bool placed_like(const sharding::Placement& placement, const std::vector<AxisRole>& places) {
    std::ptrdiff_t before = 0;
    for (int axis = 0; axis < static_cast<int>(placement.mesh.axes.size()); ++axis) {
        if (placement.mesh.size(axis) == 1) {
            continue;
        }
        const auto at = std::find(places.begin(), places.end(), role_of(placement, axis));
        if (at == places.end() || at - places.begin() < before) {
            return false;
        }
        before = at - places.begin();
    }
    return true;
}

std::vector<std::string> unsaid(const MeshRecipe& recipe, std::string_view program,
                                const std::vector<AxisRole>& places) {
    std::vector<std::string> out;
    const sharding::Placement& placement = recipe.placement;
    bool idle = false;
    for (int axis = 0; axis < static_cast<int>(placement.mesh.axes.size()); ++axis) {
        if (role_of(placement, axis) == AxisRole::idle && placement.mesh.size(axis) > 1) {
            idle = true;
            out.push_back("No rule names the axis " +
                          placement.mesh.axes[static_cast<std::size_t>(axis)].name + ": its " +
                          std::to_string(placement.mesh.size(axis)) +
                          " devices repeat each other, and are not among those below.");
        }
    }
    if (!idle && !placed_like(placement, places)) {
        std::vector<std::string> order;
        for (const AxisRole role : places) {
            const std::string name = role_name(role);
            if (degree_of(placement, role) > 1 &&
                std::find(order.begin(), order.end(), name) == order.end()) {
                order.push_back(name);
            }
        }
        out.push_back(std::string(program) + " numbers devices " + join(order, " x ") +
                      ", major to minor; the plan has " + placement.mesh.to_text() + ".");
    }
    for (const auto& [pattern, spec] : placement.specs) {
        out.push_back("The plan places " + pattern + " as " + ir::to_text(spec) + "; " +
                      std::string(program) + " has no place for single tensors.");
    }
    return out;
}

std::optional<std::int64_t> even_layers(const ExecutionPlan& plan, const MeshRecipe& recipe) {
    if (!plan.pipeline || recipe.layers == 0) {
        return std::nullopt;
    }
    const std::int64_t parts = std::int64_t{plan.pipeline->stages} * plan.pipeline->chunks;
    return recipe.layers % parts == 0 ? std::optional(recipe.layers / parts) : std::nullopt;
}

std::string write_mesh_as(MeshFormat format, const ExecutionPlan& plan, const MeshRecipe& recipe) {
    switch (format) {
    case MeshFormat::json: return mesh_as_json(plan, recipe);
    case MeshFormat::jax: return mesh_as_jax(plan, recipe);
    case MeshFormat::torchtitan: return mesh_as_torchtitan(plan, recipe);
    case MeshFormat::megatron: return mesh_as_megatron(plan, recipe);
    case MeshFormat::text: break;
    }
    return mesh_as_text(plan, recipe);
}

} // namespace weft::plan
