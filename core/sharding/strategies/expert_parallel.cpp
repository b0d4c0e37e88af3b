// SPDX-License-Identifier: Apache-2.0
// Expert parallelism (Lepikhin et al. 2021): devices share the batch, and each holds some of the
// experts. Tokens travel to their experts and back by all-to-all; all else is data parallel.
#include "core/sharding/strategies/strategy_list.h"

namespace weft::sharding {
namespace {

std::vector<Rule> expert_rules() {
    std::vector<Rule> out = tensor_rules("model");
    out.insert(out.begin(), {{"batch", {"data", "expert"}}, {"expert", {"expert"}}});
    return out;
}

} // namespace

const StrategyDef kExpertParallel{
    .name = "expert_parallel",
    .help = "Every device takes its share of each batch and holds some of the experts.",
    .when = "The model is a mixture of experts that do not fit on one device together.",
    .axes = {{"expert", -1}},
    .rules = expert_rules(),
    .zero_axes = {"data", "expert"}};

} // namespace weft::sharding
