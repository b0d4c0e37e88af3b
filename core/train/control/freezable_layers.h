// SPDX-License-Identifier: Apache-2.0
// Which layers of a run can be frozen while it trains.
#pragma once

#include "core/plan/plan.h"

#include <string>
#include <vector>

namespace weft::train {

/// Layers that the training program of a plan can freeze; none where training.freezable is off.
std::vector<std::string> freezable_layers(const plan::ExecutionPlan& plan);

} // namespace weft::train
