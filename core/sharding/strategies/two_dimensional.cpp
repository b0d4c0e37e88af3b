// SPDX-License-Identifier: Apache-2.0
// Data parallelism over one axis, tensor parallelism over the other.
#include "core/sharding/strategies/strategy_list.h"

namespace weft::sharding {
namespace {

std::vector<Rule> with_batch(std::vector<Rule> rules) {
    rules.insert(rules.begin(), {"batch", {"data"}});
    return rules;
}

} // namespace

const StrategyDef kTwoDimensional{
    .name = "2d",
    .help = "Groups of devices share each layer, and the groups share the batch.",
    .when = "The model needs several near devices, and there are many of them.",
    .axes = {{"data", -1}, {"model", 2}},
    .rules = with_batch(tensor_rules("model")),
    .zero_axes = {"data"}};

} // namespace weft::sharding
