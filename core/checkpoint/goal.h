// SPDX-License-Identifier: Apache-2.0
// What makes one state of a run better than another: checkpoint.metric and checkpoint.mode. Whoever
// speaks of the best step of a run asks here.
#pragma once

#include "core/config/json.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::checkpoint {

struct Goal {
    std::string metric = "validation/loss";
    bool smaller_is_better = true;
};

/// The goal in a run's configuration; the default where it says nothing.
Goal goal_of(const config::Json& config);

/// What is known of a state. Equal values are common where a metric counts few samples.
struct Score {
    double value = 0;                                       // of the metric
    double loss = std::numeric_limits<double>::quiet_NaN(); // of the same split; NaN: not known
    std::int64_t step = 0;
};

/// The name of the loss of a metric's split: "validation/loss" of "validation/accuracy".
std::string loss_beside(std::string_view metric);

/// The score in metrics by name; nullopt where the goal's is not there or not finite.
std::optional<Score> score_in(const std::vector<std::pair<std::string, double>>& metrics,
                              const Goal& goal, std::int64_t step);
/// The same of {"validation/loss": 0.3, ...}.
std::optional<Score> score_in(const config::Json& metrics, const Goal& goal, std::int64_t step);

/// Whether `a` is better than `b`: by the metric, then by the lower loss, then the later step.
bool is_better(const Goal& goal, const Score& a, const Score& b);

} // namespace weft::checkpoint
