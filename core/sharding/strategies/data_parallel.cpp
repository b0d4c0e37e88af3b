// SPDX-License-Identifier: Apache-2.0
// Data parallelism (Dean et al. 2012): gradients are summed over the devices.
#include "core/sharding/strategies/strategy_list.h"

namespace weft::sharding {

const StrategyDef kDataParallel{
    .name = "data_parallel",
    .help = "Every device holds the model and takes its share of each batch.",
    .when = "The model and its optimizer state fit on one device.",
    .axes = {{"data", -1}},
    .rules = {{"batch", {"data"}}},
    .zero_axes = {"data"}};

} // namespace weft::sharding
