// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/goal.h"

#include <algorithm>
#include <cmath>

namespace weft::checkpoint {
namespace {

using config::Json;

std::optional<double> number_of(const Json& metrics, const std::string& name) {
    const auto found = metrics.find(name);
    return found != metrics.end() && found->is_number() ? std::optional(found->get<double>())
                                                        : std::nullopt;
}

std::optional<double> number_of(const std::vector<std::pair<std::string, double>>& metrics,
                                const std::string& name) {
    const auto found = std::find_if(metrics.begin(), metrics.end(),
                                    [&](const auto& metric) { return metric.first == name; });
    return found != metrics.end() ? std::optional(found->second) : std::nullopt;
}

template <class Metrics>
std::optional<Score> find_score(const Metrics& metrics, const Goal& goal, std::int64_t step) {
    const std::optional<double> value = number_of(metrics, goal.metric);
    if (!value || !std::isfinite(*value)) {
        return std::nullopt;
    }
    Score score{.value = *value, .step = step};
    score.loss = number_of(metrics, loss_beside(goal.metric)).value_or(score.loss);
    return score;
}

} // namespace

Goal goal_of(const Json& config) {
    Goal goal;
    const auto section = config.find("checkpoint");
    if (section == config.end() || !section->is_object()) {
        return goal;
    }
    const auto metric = section->find("metric");
    if (metric != section->end() && metric->is_string()) {
        goal.metric = metric->get<std::string>();
    }
    const auto mode = section->find("mode");
    goal.smaller_is_better = mode == section->end() || *mode != "max";
    return goal;
}

std::string loss_beside(std::string_view metric) {
    return std::string(metric.substr(0, metric.rfind('/') + 1)) + "loss";
}

std::optional<Score> score_in(const Json& metrics, const Goal& goal, std::int64_t step) {
    return find_score(metrics, goal, step);
}

std::optional<Score> score_in(const std::vector<std::pair<std::string, double>>& metrics,
                              const Goal& goal, std::int64_t step) {
    return find_score(metrics, goal, step);
}

bool is_better(const Goal& goal, const Score& a, const Score& b) {
    if (a.value != b.value) {
        return (a.value < b.value) == goal.smaller_is_better;
    }
    if (a.loss < b.loss || b.loss < a.loss) {
        return a.loss < b.loss;
    }
    return a.step > b.step;
}

} // namespace weft::checkpoint
