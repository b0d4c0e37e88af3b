// SPDX-License-Identifier: Apache-2.0
// The file that `train`, `check` and `plan` are given: a run's configuration, or a model of Hugging
// Face's, which becomes a run that starts with its weights.
#pragma once

#include "core/compile/config/run_config.h"

#include <string>
#include <vector>

namespace weft::cli {

inline constexpr const char* kRunFileHelp =
    "configuration file (JSON), or a model of Hugging Face's: its folder or config.json";

enum class MadeUpData : std::uint8_t { allowed, refused };

/// `path`: a configuration; or a config.json of Hugging Face's, the folder that holds it, or a file
/// of weights beside it. Of such a model paths count from the working folder, and samples of its
/// shape are made up where no override names data. Never throws: what is wrong is among the
/// diagnostics.
compile::CheckedRun read_run_file(const std::string& path,
                                  const std::vector<std::string>& overrides, MadeUpData made_up);

} // namespace weft::cli
