// SPDX-License-Identifier: Apache-2.0
// Hybrid sharding (Zhao et al. 2023): state is split within a group and repeated between groups. A
// gradient is reduced and scattered within the group in each microstep; groups add up their parts
// once an update.
#include "core/sharding/strategies/strategy_list.h"

namespace weft::sharding {

const StrategyDef kHybridFsdp{
    .name = "hybrid_fsdp",
    .help = "As fsdp within groups of near devices; the groups repeat each other.",
    .when = "Devices of one host are near each other, hosts are far apart.",
    .axes = {{"replica", 2}, {"data", -1}},
    .rules = {{"batch", {"replica", "data"}}},
    .zero_stage = 3,
    .zero_axes = {"data"}};

} // namespace weft::sharding
