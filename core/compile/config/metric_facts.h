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

/// Whether its model works on a sample step by step, so that it can be followed.
bool works_in_steps(const RunConfig& config);

/// Whether its model makes samples, rather than saying something of them.
bool makes_samples(const RunConfig& config);
/// Whether they are of a class, where the data have some.
bool makes_samples_of_a_class(const RunConfig& config);

} // namespace weft::compile
