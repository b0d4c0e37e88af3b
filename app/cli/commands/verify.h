// SPDX-License-Identifier: Apache-2.0
// weft plan CONFIG --verify STEPS: what the comparison of a mesh with one device says.
#pragma once

#include "core/config/json.h"
#include "core/train/verify_mesh.h"

namespace weft::cli {

/// Losses and values differ or not, and the first op that does.
std::string verdict_text(const train::MeshVerdict& verdict);
config::Json verdict_json(const train::MeshVerdict& verdict);

} // namespace weft::cli
