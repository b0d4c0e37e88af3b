// SPDX-License-Identifier: Apache-2.0
// Specs as text, in the words of two libraries. JAX says for every dimension of an array which axes
// of the mesh split it; PyTorch's DTensor says for every axis of the mesh what it does to the
// array.
#pragma once

#include "core/sharding/sharding.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sharding {

enum class SpecDialect : std::uint8_t { jax, dtensor };

/// "P('data', None)" or "[Shard(0), Replicate()]". DTensor knows no pipeline: its stages are meshes
/// of their own, so the axis `stages` has no placement. Axes that split a dimension in another
/// order than the mesh's are written with DTensor's private `_StridedShard`.
std::string spec_text(const ir::Spec& spec, const Mesh& mesh, SpecDialect dialect,
                      std::optional<int> stages = std::nullopt);
std::string spec_text(const Sharding& sharding, const Mesh& mesh, SpecDialect dialect);

/// Reads either dialect. Throws Error{usage}, as ir::parse_spec does.
ir::Spec parse_spec_text(std::string_view text, const Mesh& mesh,
                         std::optional<int> stages = std::nullopt);

/// The axes that have a placement, in their order: "data, model".
std::string placement_axes(const Mesh& mesh, std::optional<int> stages = std::nullopt);

/// What DTensor cannot say of an array, a sentence each; mostly nothing.
std::vector<std::string> dtensor_gaps(const Sharding& sharding, const ir::Shape& shape,
                                      const Mesh& mesh);

} // namespace weft::sharding
