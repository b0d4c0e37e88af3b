// SPDX-License-Identifier: Apache-2.0
// weft plan CONFIG --verify STEPS: what the comparison of a mesh with one device says.
#pragma once

#include "core/train/verify_mesh.h"

#include <nlohmann/json.hpp>

namespace weft::cli {

/// Losses and values differ or not, and the first op that does.
std::string verdict_text(const train::MeshVerdict& verdict);
nlohmann::ordered_json verdict_json(const train::MeshVerdict& verdict);

} // namespace weft::cli
