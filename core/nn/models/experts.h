// SPDX-License-Identifier: Apache-2.0
// A mixture of experts in place of a feed-forward layer (Shazeer et al. 2017): a router gives each
// token to a few of many feed-forward networks. Shape letters as in core/ops/experts.cpp.
#pragma once

#include "core/nn/layers/layer_def.h"

#include <optional>

namespace weft::nn {

struct ExpertSettings {
    std::int64_t experts = 0; // 0: none, a dense layer
    std::int64_t per_token = 1;
    /// Rows of an expert for a sample, as a multiple of T K / E; none: as many as there are tokens.
    std::optional<double> capacity = {};
    double balance = 0.0; // weight of the balancing loss
};

/// "experts" (null by default), "experts_per_token", "expert_capacity", "expert_balance".
config::FieldTable expert_fields(const char* help_of_experts);
/// `experts` where the field is null.
ExpertSettings expert_settings(const config::Json& settings, std::int64_t experts = 0);
void check_experts(const ExpertSettings& settings, const std::string& pointer,
                   config::Diagnostics& out);

/// Rows that an expert has for each sample of so many tokens: at least 1, at most all.
std::int64_t expert_capacity(const ExpertSettings& settings, std::int64_t tokens);

/// The networks: down(activation(up(x))), or down(activation(gate(x)) * up(x)). Without biases, so
/// that sums over devices may wait until tokens are back in their places.
struct ExpertNetwork {
    std::int64_t inner = 0;
    std::string_view activation; // an op
    bool gated = false;
    Init init = {}, down_init = {};
};

/// x [B, T, C] -> [B, T, C], with "router.weight" [C, E] and "experts.{gate,up,down}.weight"
/// [E, in, out] of the current scope. A token's gates are its router's probabilities, of several
/// choices divided by their sum (Lepikhin et al. 2021). A choice beyond an expert's capacity is
/// dropped: it adds nothing. In training the balancing loss becomes a penalty of the context.
ir::ValueId mixture_of_experts(ModelContext& context, const ExpertSettings& settings,
                               const ExpertNetwork& network, ir::ValueId x);

} // namespace weft::nn
