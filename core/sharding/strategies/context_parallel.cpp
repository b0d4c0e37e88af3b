// SPDX-License-Identifier: Apache-2.0
// Context parallelism: the positions of every sample are split. Keys and values go around the ring
// of devices (Liu et al. 2023; core/ops/attention.cpp), so that none holds more than its part of
// them.
#include "core/sharding/strategies/strategy_list.h"

namespace weft::sharding {

const StrategyDef kContextParallel{
    .name = "context_parallel",
    .help = "Every device takes a stretch of each sequence; attention passes keys and values on.",
    .when = "Sequences are so long that one sample is too large for a device.",
    .axes = {{"context", -1}},
    .rules = {{"batch", {"data"}}, {"sequence", {"context"}}},
    .zero_axes = {"data", "context"}};

} // namespace weft::sharding
