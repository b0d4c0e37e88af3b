// SPDX-License-Identifier: Apache-2.0
#include "core/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace weft::compare {
namespace {

constexpr std::size_t kFewestToCorrelate = 3;

double mean_of(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Pearson's; none where one side does not vary.
std::optional<double> linear_correlation(std::span<const double> a, std::span<const double> b) {
    const double mean_a = mean_of(a);
    const double mean_b = mean_of(b);
    double ab = 0;
    double aa = 0;
    double bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ab += (a[i] - mean_a) * (b[i] - mean_b);
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
    }
    return aa > 0 && bb > 0 ? std::optional(ab / std::sqrt(aa * bb)) : std::nullopt;
}

struct Group {
    double sum = 0;
    std::size_t count = 0;
};

} // namespace

std::vector<double> ranks(std::span<const double> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> out(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t end = first + 1;
        while (end < order.size() && values[order[end]] == values[order[first]]) {
            ++end;
        }
        const double shared = (static_cast<double>(first + 1) + static_cast<double>(end)) / 2;
        for (; first < end; ++first) {
            out[order[first]] = shared;
        }
    }
    return out;
}

std::optional<Measured> rank_correlation(std::span<const double> a, std::span<const double> b) {
    std::vector<double> left;
    std::vector<double> right;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (std::isfinite(a[i]) && std::isfinite(b[i])) {
            left.push_back(a[i]);
            right.push_back(b[i]);
        }
    }
    if (left.size() < kFewestToCorrelate) {
        return std::nullopt;
    }
    const auto value = linear_correlation(ranks(left), ranks(right));
    return value ? std::optional(Measured{*value, left.size()}) : std::nullopt;
}

std::vector<std::size_t> groups_of(std::span<const double> values, std::size_t most) {
    std::map<double, std::size_t> counts;
    std::size_t finite = 0;
    for (const double value : values) {
        if (std::isfinite(value)) {
            ++counts[value];
            ++finite;
        }
    }
    std::map<double, std::size_t> group;
    const bool each = counts.size() <= most;
    std::size_t before = 0; // runs of smaller values
    for (const auto& [value, count] : counts) {
        // Where the middle of its runs lies in the order of all.
        const double middle = static_cast<double>(before) + static_cast<double>(count) / 2;
        group[value] =
            each ? group.size()
                 : std::min(most - 1, static_cast<std::size_t>(middle * static_cast<double>(most) /
                                                               static_cast<double>(finite)));
        before += count;
    }
    std::vector<std::size_t> out;
    for (const double value : values) {
        out.push_back(std::isfinite(value) ? group[value] : kNoGroup);
    }
    return out;
}

std::vector<std::size_t> groups_of(std::span<const std::string> values) {
    std::map<std::string, std::size_t> group;
    std::vector<std::size_t> out;
    for (const std::string& value : values) {
        out.push_back(value.empty() ? kNoGroup
                                    : group.try_emplace(value, group.size()).first->second);
    }
    return out;
}

std::optional<Measured> variance_share(std::span<const std::size_t> groups,
                                       std::span<const double> results) {
    std::map<std::size_t, Group> by_group;
    std::vector<double> used;
    for (std::size_t i = 0; i < std::min(groups.size(), results.size()); ++i) {
        if (groups[i] != kNoGroup && std::isfinite(results[i])) {
            Group& group = by_group[groups[i]];
            group.sum += results[i];
            ++group.count;
            used.push_back(results[i]);
        }
    }
    if (by_group.size() < 2 || used.size() <= by_group.size()) {
        return std::nullopt;
    }
    const double mean = mean_of(used);
    double total = 0;
    for (const double value : used) {
        total += (value - mean) * (value - mean);
    }
    double between = 0;
    for (const auto& [id, group] : by_group) {
        const double away = group.sum / static_cast<double>(group.count) - mean;
        between += static_cast<double>(group.count) * away * away;
    }
    if (!(total > 0)) {
        return std::nullopt;
    }
    const auto parted = static_cast<double>(by_group.size() - 1);
    const double within =
        (total - between) / static_cast<double>(used.size() - by_group.size()); // a mean square
    return Measured{std::clamp((between - parted * within) / total, 0.0, 1.0), used.size()};
}

} // namespace weft::compare
