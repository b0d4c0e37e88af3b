// SPDX-License-Identifier: Apache-2.0
// Tensor parallelism (Shoeybi et al. 2019). With the further rule ["sequence", "model"] norms, dropout
// and residual sums are split along the sequence (Korthikanti et al. 2023): each all-reduce becomes a
// reduce-scatter and an all-gather, and inputs of layers are gathered again for backward.
#include "core/sharding/strategies/strategy_list.h"

namespace weft::sharding {

std::vector<Rule> tensor_rules(const std::string& axis) {
    return {{"heads", {axis}}, {"kv_heads", {axis}}, {"mlp", {axis}}, {"vocab", {axis}}};
}

const StrategyDef kTensorParallel{
    .name = "tensor_parallel",
    .help = "Every layer is split over the devices: heads, inner widths, vocabulary.",
    .when = "One layer is too large for a device, and the devices are near each other.",
    .axes = {{"model", -1}},
    .rules = tensor_rules("model")};

} // namespace weft::sharding
