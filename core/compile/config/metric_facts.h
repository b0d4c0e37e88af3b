// SPDX-License-Identifier: Apache-2.0
// What is known of metrics and losses by their names, for those who show them.
#pragma once

#include "core/compile/config/run_config.h"

#include <string_view>

namespace weft::compile {

/// Whether larger values of "validation/accuracy" are better; of an unknown metric, unless its name
/// ends like a loss.
bool higher_is_better(std::string_view metric);
/// Whether a run tells classes apart.
bool predicts_classes(const RunConfig& config);

} // namespace weft::compile
