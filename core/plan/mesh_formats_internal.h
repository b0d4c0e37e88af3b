// SPDX-License-Identifier: Apache-2.0
// What the writers of mesh_formats.h share. Private to core/plan.
#pragma once

#include "core/plan/mesh_formats.h"

#include <vector>

namespace weft::plan {

std::string mesh_as_jax(const ExecutionPlan& plan, const MeshRecipe& recipe);
std::string mesh_as_torchtitan(const ExecutionPlan& plan, const MeshRecipe& recipe);
std::string mesh_as_megatron(const ExecutionPlan& plan, const MeshRecipe& recipe);

/// Rules that count: the first of each logical axis.
std::vector<sharding::Rule> effective_rules(const std::vector<sharding::Rule>& rules);

/// Slots of one kind, each name once. Slots of tied weights lie in several stages of a pipeline.
struct NamedSlot {
    const StateSlot* slot = nullptr;
    std::vector<int> stages; // of a pipeline; else empty
};
std::vector<NamedSlot> slots_of(const ExecutionPlan& plan, Category category);

/// Comments, a line each: axes that no rule names, overrides of single tensors, the order of
/// devices where a program has another. `places`: roles from major to minor, as it places them.
std::vector<std::string> unsaid(const MeshRecipe& recipe, std::string_view program,
                                const std::vector<AxisRole>& places);
/// Every role of `places` that the mesh has, in its order: "pipeline x data x tensor".
bool placed_like(const sharding::Placement& placement, const std::vector<AxisRole>& places);

/// Layers of each chunk of each stage when they are all alike; none: uneven, or not known.
std::optional<std::int64_t> even_layers(const ExecutionPlan& plan, const MeshRecipe& recipe);

} // namespace weft::plan
