// SPDX-License-Identifier: Apache-2.0
#include "core/train/audit/label_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::train {
namespace {

constexpr float kLeastProbability = 1e-37F;

double log_of(float probability) {
    return std::log(static_cast<double>(std::max(probability, kLeastProbability)));
}

} // namespace

double margin_of(std::span<const float> probabilities, std::int32_t label) {
    const auto at = static_cast<std::size_t>(label);
    float other = 0;
    for (std::size_t k = 0; k < probabilities.size(); ++k) {
        other = k == at ? other : std::max(other, probabilities[k]);
    }
    return log_of(probabilities[at]) - log_of(other);
}

double loss_of(std::span<const float> probabilities, std::int32_t label) {
    return -log_of(probabilities[static_cast<std::size_t>(label)]);
}

ConfidentLabels confident_labels(std::span<const float> probabilities,
                                 std::span<const std::int32_t> labels, std::int64_t classes) {
    const auto width = static_cast<std::size_t>(classes);
    const auto row = [&](std::size_t i) { return probabilities.subspan(i * width, width); };
    std::vector<double> sums(width);
    std::vector<std::int64_t> counts(width);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] >= 0) {
            const auto at = static_cast<std::size_t>(labels[i]);
            sums[at] += static_cast<double>(row(i)[at]);
            ++counts[at];
        }
    }
    ConfidentLabels out;
    for (std::size_t k = 0; k < width; ++k) {
        out.thresholds.push_back(counts[k] > 0 ? sums[k] / static_cast<double>(counts[k])
                                               : std::numeric_limits<double>::quiet_NaN());
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
        std::int32_t believed = -1;
        for (std::size_t k = 0; labels[i] >= 0 && k < width; ++k) {
            const auto p = static_cast<double>(row(i)[k]); // no class without samples is reached
            const bool likelier =
                believed < 0 || row(i)[k] > row(i)[static_cast<std::size_t>(believed)];
            if (p >= out.thresholds[k] && likelier) {
                believed = static_cast<std::int32_t>(k);
            }
        }
        out.believed.push_back(believed);
    }
    return out;
}

} // namespace weft::train
