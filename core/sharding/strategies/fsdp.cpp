// SPDX-License-Identifier: Apache-2.0
// Fully sharded data parallelism: ZeRO stage 3 (Rajbhandari et al. 2020; Zhao et al. 2023).
#include "core/sharding/strategies/strategy_list.h"

namespace weft::sharding {

const StrategyDef kFsdp{
    .name = "fsdp",
    .help = "Data parallel, with parameters, gradients and optimizer state split over the devices.",
    .when = "The model state does not fit on one device, its activations do.",
    .axes = {{"data", -1}},
    .rules = {{"batch", {"data"}}},
    .zero_stage = 3,
    .zero_axes = {"data"}};

} // namespace weft::sharding
