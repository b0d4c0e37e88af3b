// SPDX-License-Identifier: Apache-2.0
// What can be offered when a run has failed: forks that change something, from its newest checkpoint.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/train/record/event.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft::train {

/// Step of the newest whole checkpoint of a run; -1: there is none.
std::int64_t newest_checkpoint(const std::filesystem::path& run_folder);

/// "Resume from step 1,200", or "Start again" for -1: how the label of a way on begins.
std::string way_from(std::int64_t checkpoint);

/// When a GPU failed: the same on the CPU, where that computes it.
std::vector<WayOn> ways_without_gpus(const compile::RunConfig& config, std::int64_t checkpoint);

/// When memory ran out although the plan fits: at most three changes that need less, the one that
/// changes least of what is computed first. All are valid configurations.
std::vector<WayOn> ways_with_less_memory(const compile::RunConfig& config, std::int64_t checkpoint);

} // namespace weft::train
