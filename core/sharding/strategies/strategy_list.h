// SPDX-License-Identifier: Apache-2.0
// Every strategy, in the order in which they are offered.
#pragma once

#include "core/sharding/strategies/strategy_def.h"

namespace weft::sharding {

extern const StrategyDef kReplicated, kDataParallel, kFsdp, kHybridFsdp, kTensorParallel,
    kTwoDimensional, kPipeline, kThreeDimensional, kContextParallel, kExpertParallel, kCustom;

std::span<const StrategyDef* const> all_strategies();
/// Null when there is none of that name.
const StrategyDef* find_strategy(std::string_view name);

} // namespace weft::sharding
