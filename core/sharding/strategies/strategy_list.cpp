// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/strategies/strategy_list.h"

#include <algorithm>

namespace weft::sharding {
namespace {

constexpr const StrategyDef* kStrategies[] = {
    &kReplicated,      &kDataParallel,   &kFsdp,     &kHybridFsdp,
    &kTensorParallel,  &kTwoDimensional, &kPipeline, &kThreeDimensional,
    &kContextParallel, &kExpertParallel, &kCustom,
};

} // namespace

std::span<const StrategyDef* const> all_strategies() {
    return kStrategies;
}

const StrategyDef* find_strategy(std::string_view name) {
    const auto found = std::find_if(std::begin(kStrategies), std::end(kStrategies),
                                    [&](const StrategyDef* def) { return def->name == name; });
    return found == std::end(kStrategies) ? nullptr : *found;
}

} // namespace weft::sharding
