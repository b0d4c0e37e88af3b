// SPDX-License-Identifier: Apache-2.0
// No rules but those of the configuration.
#include "core/sharding/strategies/strategy_list.h"

namespace weft::sharding {

const StrategyDef kCustom{.name = "custom",
                          .help = "Nothing but the rules and specs that are given.",
                          .when = "None of the others does what you want.",
                          .axes = {{"data", -1}},
                          .rules = {}};

} // namespace weft::sharding
