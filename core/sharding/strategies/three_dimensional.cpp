// SPDX-License-Identifier: Apache-2.0
// Data, pipeline and tensor parallelism, each over an axis of its own (Narayanan et al. 2021).
#include "core/sharding/strategies/strategy_list.h"

namespace weft::sharding {
namespace {

std::vector<Rule> three_rules() {
    std::vector<Rule> rules = tensor_rules("model");
    rules.insert(rules.begin(), {{"batch", {"data"}}, {"layers", {"pipeline"}}});
    return rules;
}

} // namespace

const StrategyDef kThreeDimensional{
    .name = "3d",
    .help = "Groups of near devices share each layer, chains of groups share the layers, and the "
            "chains share the batch.",
    .when = "The model needs more devices than one host has.",
    .axes = {{"data", -1}, {"pipeline", 2}, {"model", 2}},
    .rules = three_rules(),
    .zero_axes = {"data"}};

} // namespace weft::sharding
