// SPDX-License-Identifier: Apache-2.0
// How long the state of each group of the optimizer has been collected, when a fork brings some of
// it along and begins some of it anew.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/compile/config/run_config.h"
#include "core/exec/executor.h"

#include <set>
#include <string>
#include <vector>

namespace weft::train {

/// Whether the count of skipped updates goes on from the parent's.
bool keeps_skipped(const compile::RunConfig& config, const std::set<std::string>& fresh);

/// Progress::moments_since of a fork, after its arrays were restored but for the slots in `fresh`.
/// A group whose parameters' states began at different steps begins anew as a whole, since one
/// count corrects all of it; `notes` says so.
std::vector<std::int64_t> moments_of_fork(exec::Executor& executor,
                                          const compile::RunConfig& config,
                                          const checkpoint::Manifest& parent,
                                          const std::set<std::string>& fresh,
                                          std::vector<std::string>& notes);

} // namespace weft::train
