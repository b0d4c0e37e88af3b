// SPDX-License-Identifier: Apache-2.0
// Every device does the same: the baseline that others are compared with.
#include "core/sharding/strategies/strategy_list.h"

namespace weft::sharding {

const StrategyDef kReplicated{.name = "replicated",
                              .help = "Every device holds everything and does all of the work.",
                              .when = "To check that devices agree; it makes nothing faster.",
                              .axes = {{"data", -1}},
                              .rules = {}};

} // namespace weft::sharding
