// SPDX-License-Identifier: Apache-2.0
// What of a configuration the exports of its mesh say (core/plan/mesh_formats.h).
#pragma once

#include "core/compile/config/run_config.h"
#include "core/plan/mesh_formats.h"

namespace weft::compile {

/// The configuration was checked.
plan::MeshRecipe mesh_recipe(const RunConfig& config);

} // namespace weft::compile
