// SPDX-License-Identifier: Apache-2.0
// A planned mesh in the words of others: as text and JSON for people and scripts, as Python for
// JAX, as TOML for torchtitan, as flags for Megatron-LM. What a format cannot say stands in a
// comment of its output; nothing is left out in silence. Pure.
#pragma once

#include "core/plan/plan.h"
#include "core/sharding/annotate.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace weft::plan {

/// What a run says beside its plan that other programs want to know.
struct MeshRecipe {
    struct LossScale {
        double initial = 0;
        std::int64_t growth_interval = 0; // updates
        std::int64_t hysteresis = 0;      // overflows in a row
        double minimum = 0;
    };
    std::string name;
    std::string model; // its type: "llama"
    sharding::Placement placement;
    std::int64_t global_batch_size = 0;
    std::int64_t micro_batch_size = 0; // of a data rank
    std::int64_t sequence_length = 0;  // 0: samples have no positions
    std::int64_t layers = 0;           // 0: not known
    std::string precision;             // as in the configuration
    std::optional<LossScale> loss_scale; // in f16
    std::string recompute;             // "none" | "blocks" | "auto"
    std::optional<double> max_grad_norm;
};

enum class MeshFormat : std::uint8_t { text, json, jax, torchtitan, megatron };
struct MeshFormatDef {
    MeshFormat format;
    std::string_view name;   // "jax"
    std::string_view title;  // "JAX"
    std::string_view suffix; // of a file: "py"
};
constexpr std::array<MeshFormatDef, 5> kMeshFormats{{
    {MeshFormat::text, "text", "text", "txt"},
    {MeshFormat::json, "json", "JSON", "json"},
    {MeshFormat::jax, "jax", "JAX", "py"},
    {MeshFormat::torchtitan, "torchtitan", "torchtitan TOML", "toml"},
    {MeshFormat::megatron, "megatron", "Megatron flags", "sh"},
}};

/// The whole document, with a newline at its end.
std::string write_mesh_as(MeshFormat format, const ExecutionPlan& plan, const MeshRecipe& recipe);

/// What an axis of a mesh is for, by the rules; of data ranks, `shard` for those that share the
/// optimizer's state. `idle`: no rule names it, its devices repeat each other.
enum class AxisRole : std::uint8_t { replicate, shard, expert, context, pipeline, tensor, idle };
AxisRole role_of(const sharding::Placement& placement, int axis);
/// Devices along all axes of a role; 1 without one.
std::int64_t degree_of(const sharding::Placement& placement, AxisRole role);

} // namespace weft::plan
