// SPDX-License-Identifier: GPL-3.0-or-later
// Runs on meshes, planned and saved, for the tests of the mesh page.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "ui/bridge/plan/mesh_search.h"

#include <filesystem>
#include <string>
#include <vector>

namespace weft::test {

constexpr auto kJax = sharding::SpecDialect::jax;

/// A GPT of four small layers with "--set" assignments; fails the test binary when they are wrong.
compile::RunConfig mesh_config(const std::vector<std::string>& overrides = {});
/// The training step, for what the configuration names.
std::shared_ptr<const ui::PlanDigest> mesh_digest(const compile::RunConfig& config);

/// Writes the checkpoint that this run would write at its start, of zeros, into a folder of
/// `parent`.
checkpoint::Manifest save_zeros(const compile::RunConfig& config,
                                const std::filesystem::path& parent);

const std::vector<std::string> kHere = {"mesh.devices=cpu:4", "mesh.strategy=2d",
                                        "mesh.axes=[[\"data\",2],[\"model\",2]]"};
/// Planned for, so that there are predicted times.
const std::vector<std::string> kThere = {"mesh.devices=h200:4", "mesh.strategy=2d",
                                         "mesh.axes=[[\"data\",2],[\"model\",2]]"};

} // namespace weft::test
