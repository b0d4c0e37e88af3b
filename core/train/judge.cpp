// SPDX-License-Identifier: Apache-2.0
#include "core/train/judge.h"

#include "core/base/text.h"

#include <algorithm>
#include <utility>

namespace weft::train {
namespace {

constexpr std::string_view kTrainPrefix = "train/";

} // namespace

Judge::Judge(const compile::RunConfig& config, Progress& progress)
    : config_(config), goal_(checkpoint::goal_of(config.document)),
      rates_(compile::learning_rates(config)), progress_(progress) {}

bool Judge::counts_training() const {
    const auto& rule = config_.early_stopping;
    return goal_.metric.starts_with(kTrainPrefix) ||
           (rule && rule->metric.starts_with(kTrainPrefix)) ||
           std::any_of(rates_.begin(), rates_.end(), [](const compile::LearningRate& rate) {
               return optim::watched_metric(rate.schedule).starts_with(kTrainPrefix);
           });
}

void Judge::add_step(const UpdateNumbers& numbers) {
    if (!counts_training()) {
        return;
    }
    Metrics one = numbers.metrics;
    one.emplace_back(std::string(kTrainPrefix) + "loss", numbers.loss);
    TrainingSums& sums = progress_.training;
    ++sums.steps;
    if (sums.metrics.size() != one.size()) {
        sums = {std::move(one), 1};
        return;
    }
    for (std::size_t i = 0; i < one.size(); ++i) {
        sums.metrics[i].second += one[i].second;
    }
}

Metrics Judge::take_training_means() {
    TrainingSums sums = std::exchange(progress_.training, {});
    for (auto& [name, value] : sums.metrics) {
        value /= static_cast<double>(sums.steps);
    }
    return std::move(sums.metrics);
}

bool Judge::is_improvement(const Metrics& metrics) {
    const auto score = checkpoint::score_in(metrics, goal_, progress_.step);
    const bool better =
        score && (!progress_.best || checkpoint::is_better(goal_, *score, progress_.best->score));
    if (better) {
        progress_.best = Best{*score, metrics};
    }
    return better;
}

std::string Judge::note_stall(const Metrics& metrics) {
    const auto& rule = config_.early_stopping;
    const auto score = rule ? checkpoint::score_in(metrics, {rule->metric, rule->smaller_is_better},
                                                   progress_.step)
                            : std::nullopt;
    if (!score) {
        return {};
    }
    std::optional<Stall>& stall = progress_.stall;
    const double gain = !stall                    ? 0
                        : rule->smaller_is_better ? stall->best - score->value
                                                  : score->value - stall->best;
    if (!stall || gain > rule->min_delta) {
        stall = Stall{score->value, progress_.step, 0};
        return {};
    }
    ++stall->evaluations;
    if (!has_stalled()) {
        return {};
    }
    return "The run is finished early: " + rule->metric + " has not improved for " +
           std::to_string(rule->patience) + " evaluations, since step " +
           format_thousands(stall->step) + ".";
}

bool Judge::has_stalled() const {
    const auto& rule = config_.early_stopping;
    return rule && progress_.stall && progress_.stall->evaluations >= rule->patience;
}

std::vector<std::string> Judge::note_plateaus(const Metrics& metrics) {
    std::vector<std::string> news;
    for (std::size_t i = 0; i < rates_.size(); ++i) {
        const std::string watched = optim::watched_metric(rates_[i].schedule);
        const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const auto& metric) {
            return metric.first == watched;
        });
        if (found == metrics.end()) {
            continue;
        }
        optim::Plateau& plateau = progress_.plateaus.at(i);
        const double before =
            std::exchange(plateau,
                          optim::after_evaluation(rates_[i].schedule, plateau, found->second))
                .factor;
        if (plateau.factor != before) {
            const std::size_t slash = rates_[i].port.find('/');
            const std::string whose =
                slash == std::string::npos ? "" : " of group " + rates_[i].port.substr(slash + 1);
            news.push_back("From step " + format_thousands(progress_.step + 1) +
                           " on the learning rate" + whose + " is " + format_short(plateau.factor) +
                           " times its base: " + watched + " has not improved.");
        }
    }
    return news;
}

std::vector<double> Judge::rate_factors() const {
    std::vector<double> out;
    for (const optim::Plateau& plateau : progress_.plateaus) {
        out.push_back(plateau.factor);
    }
    return out;
}

} // namespace weft::train
