// SPDX-License-Identifier: Apache-2.0
// Python for JAX: a Mesh, a PartitionSpec and NamedSharding for each parameter, and the rules as
// flax reads them.
#include "core/base/text.h"
#include "core/ir/text.h"
#include "core/plan/mesh_formats_internal.h"

#include <algorithm>

namespace weft::plan {
namespace {

/// A Python literal: names are paths of layers, patterns and axes.
std::string python_text(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        out += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string{c};
    }
    return out + "'";
}

/// None, 'model', ('data', 'expert').
std::string axes_text(const std::vector<std::string>& axes) {
    std::vector<std::string> names;
    for (const std::string& axis : axes) {
        names.push_back(python_text(axis));
    }
    return names.empty()       ? "None"
           : names.size() == 1 ? names.front()
                               : "(" + join(names, ", ") + ")";
}

std::string spec_of(sharding::Sharding placement, const sharding::Mesh& mesh) {
    placement.partial.clear();
    return ir::to_text(sharding::to_spec(placement, mesh));
}

/// What a PartitionSpec cannot say of how an array lies, in short: see kShort.
std::string remark(const NamedSlot& one, const sharding::Mesh& mesh) {
    std::string out;
    const StateSlot& slot = *one.slot;
    for (const sharding::DimSharding& dim : slot.placement.dims) {
        for (const sharding::Split& split : dim) {
            out += split.parts > 1 ? "; " + std::to_string(split.parts) + " parts" : std::string();
        }
    }
    out += sharding::padding_bytes(slot.whole, slot.placement, mesh) > 0 ? "; padded" : "";
    for (const int stage : one.stages) {
        out += "; stage " + std::to_string(stage);
    }
    return out;
}

constexpr const char* kShort =
    "# In short, what a PartitionSpec cannot say:\n"
    "#   n parts: the plan splits each part of that dimension, and not the whole in one\n"
    "#   padded: the plan pads it, where JAX wants the dimension to divide\n"
    "#   stage n: only the devices of that stage of the pipeline hold it\n";

std::string specs_dict(const std::string& name, const std::vector<NamedSlot>& slots,
                       const sharding::Mesh& mesh) {
    std::string out = name + " = {\n";
    for (const NamedSlot& one : slots) {
        const StateSlot& slot = *one.slot;
        out += "    " + python_text(slot.name) + ": " + spec_of(slot.placement, mesh) + ",  # " +
               ir::to_text(slot.whole) + remark(one, mesh) + "\n";
    }
    return out + "}\n";
}

std::string logical_dict(const std::vector<NamedSlot>& slots) {
    std::string out = "logical_axes = {\n";
    for (const NamedSlot& one : slots) {
        std::string axes;
        for (const std::string& text : one.slot->logical_axes) {
            axes += (text.empty() ? "None" : python_text(sharding::parse_logical_axis(text).name)) +
                    ",";
        }
        out += "    " + python_text(one.slot->name) + ": (" + axes + "),\n";
    }
    return out + "}\n";
}

std::string rules_tuple(const ExecutionPlan& plan) {
    std::string out = "logical_axis_rules = (\n";
    for (sharding::Rule rule : effective_rules(plan.rules)) {
        std::erase_if(rule.axes, [&](const std::string& axis) { return plan.mesh.find(axis) < 0; });
        out += "    (" + python_text(rule.logical) + ", " + axes_text(rule.axes) + "),\n";
    }
    return out + ")\n";
}

/// The batch of a microstep: arguments are [microsteps, samples, ...].
std::string batch_dict(const ExecutionPlan& plan) {
    std::string out = "batch_specs = {\n";
    std::vector<std::string> seen;
    for (const PlannedProgram* step : plan.all_stages("train_step")) {
        for (const PlannedPort& port : step->arguments) {
            if (port.role != ir::Role::batch || port.whole.shape.rank() < 2 ||
                std::find(seen.begin(), seen.end(), port.name) != seen.end()) {
                continue;
            }
            seen.push_back(port.name);
            sharding::Sharding own = port.placement;
            own.dims.erase(own.dims.begin());
            out += "    " + python_text(port.name) + ": " + spec_of(own, plan.mesh) + ",\n";
        }
    }
    return out + "}\n";
}

/// The parameter that a slot of the optimizer belongs to: "optimizer.m/NAME" is of NAME.
std::string parameter_of(const std::string& slot) {
    return slot.substr(slot.find('/') + 1);
}

/// Whether some state of the optimizer lies otherwise than its parameter.
bool optimizer_differs(const std::vector<NamedSlot>& parameters,
                       const std::vector<NamedSlot>& optimizer, const sharding::Mesh& mesh) {
    return std::any_of(optimizer.begin(), optimizer.end(), [&](const NamedSlot& state) {
        const auto own = std::find_if(parameters.begin(), parameters.end(), [&](const auto& one) {
            return one.slot->name == parameter_of(state.slot->name);
        });
        return own != parameters.end() &&
               spec_of(own->slot->placement, mesh) != spec_of(state.slot->placement, mesh);
    });
}

void write_unsaid(std::string& out, const ExecutionPlan& plan, const MeshRecipe& recipe) {
    const auto line = [&](const std::string& text) { out += "# " + text + "\n"; };
    if (plan.pipeline) {
        line("JAX has no pipeline: " + plan.pipeline->schedule + " over " +
             std::to_string(plan.pipeline->stages) + " stages, " +
             std::to_string(plan.pipeline->microbatches) + " microbatches, is not said here.");
        for (std::size_t i = 0; i < plan.stages.size(); ++i) {
            line("  stage " + std::to_string(i) + ": " + plan.stages[i].layers);
        }
    }
    if (plan.zero_stage >= 2) {
        line("ZeRO " + std::to_string(plan.zero_stage) +
             ": gradients lie as optimizer_specs; constrain them with "
             "jax.lax.with_sharding_constraint.");
    }
    const std::int64_t steps =
        recipe.global_batch_size /
        std::max<std::int64_t>(1, recipe.micro_batch_size *
                                      degree_of(recipe.placement, AxisRole::replicate) *
                                      degree_of(recipe.placement, AxisRole::shard) *
                                      degree_of(recipe.placement, AxisRole::expert));
    line("A batch of " + std::to_string(recipe.global_batch_size) + " is " + std::to_string(steps) +
         (steps == 1 ? " step of " : " steps of ") + std::to_string(recipe.micro_batch_size) +
         " samples on each data rank.");
    if (recipe.recompute != "none") {
        line("The plan recomputes activations (" + recipe.recompute +
             "): wrap blocks in jax.checkpoint.");
    }
}

} // namespace

std::string mesh_as_jax(const ExecutionPlan& plan, const MeshRecipe& recipe) {
    std::vector<std::string> sizes;
    std::vector<std::string> names;
    for (const sharding::Axis& axis : plan.mesh.axes) {
        sizes.push_back(std::to_string(axis.size));
        names.push_back(python_text(axis.name));
    }
    const std::string devices = std::to_string(plan.mesh.devices());
    std::string out = "# The mesh of " + shown(recipe.name) + ": " + plan.mesh.to_text() + ".\n";
    write_unsaid(out, plan, recipe);
    out += "import jax\nimport numpy as np\n"
           "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\n\n";
    out += "mesh = Mesh(np.array(jax.devices()[:" + devices + "]).reshape(" + join(sizes, ", ") +
           "), (" + join(names, ", ") + ",))\n\n";
    const auto parameters = slots_of(plan, Category::parameters);
    const bool any = std::any_of(parameters.begin(), parameters.end(), [&](const NamedSlot& one) {
        return !remark(one, plan.mesh).empty();
    });
    out += (any ? kShort : "") + specs_dict("parameter_specs", parameters, plan.mesh);
    out += "parameter_shardings = {\n"
           "    name: NamedSharding(mesh, spec) for name, spec in parameter_specs.items()\n}\n\n";
    const auto optimizer = slots_of(plan, Category::optimizer);
    if (optimizer_differs(parameters, optimizer, plan.mesh)) {
        out += specs_dict("optimizer_specs", optimizer, plan.mesh) + "\n";
    } else {
        out += "# The optimizer's state lies as its parameters do.\n\n";
    }
    out += "# Of one microstep: samples first.\n" + batch_dict(plan) + "\n";
    out += "# For flax: flax.linen.logical_axis_rules, and the logical axes of each parameter.\n" +
           rules_tuple(plan) + logical_dict(parameters);
    if (!recipe.placement.specs.empty()) {
        out +=
            "# parameter_specs has these overrides of single tensors already; the rules do not:\n";
    }
    for (const auto& [pattern, spec] : recipe.placement.specs) {
        out += "#   " + pattern + ": " + ir::to_text(spec) + "\n";
    }
    return out;
}

} // namespace weft::plan
