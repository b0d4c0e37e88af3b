// SPDX-License-Identifier: Apache-2.0
#include "core/compare/explain.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace weft::compare {
namespace {

struct Gathered {
    double sum = 0;
    std::size_t runs = 0;
    std::size_t first = 0; // a run of the smallest value in it
    std::size_t last = 0;  // and of the largest
};

/// At least two runs a group on average, or chance decides.
std::size_t most_groups(std::span<const double> results) {
    const auto known = static_cast<std::size_t>(std::count_if(
        results.begin(), results.end(), [](double value) { return std::isfinite(value); }));
    return std::clamp<std::size_t>(known / 2, 2, kMostGroups);
}

std::string range_text(const VaryingSetting& setting, const Gathered& group) {
    const std::string first = value_text(*setting.values[group.first]);
    const std::string last = value_text(*setting.values[group.last]);
    return first == last ? first : first + " to " + last;
}

void find_best(Explained& out, const VaryingSetting& setting,
               const std::vector<std::size_t>& groups, std::span<const double> results,
               bool smaller_is_better) {
    const std::vector<double> numbers = setting.numbers();
    std::map<std::size_t, Gathered> gathered;
    for (std::size_t i = 0; i < groups.size() && i < results.size(); ++i) {
        if (groups[i] == kNoGroup || !std::isfinite(results[i])) {
            continue;
        }
        const auto [found, fresh] = gathered.try_emplace(groups[i], Gathered{0, 0, i, i});
        Gathered& group = found->second;
        group.sum += results[i];
        ++group.runs;
        if (setting.numeric && !fresh) {
            group.first = numbers[i] < numbers[group.first] ? i : group.first;
            group.last = numbers[i] > numbers[group.last] ? i : group.last;
        }
    }
    bool any = false;
    for (const auto& [id, group] : gathered) {
        const double mean = group.sum / static_cast<double>(group.runs);
        if (!any || (smaller_is_better ? mean < out.best_mean : mean > out.best_mean)) {
            any = true;
            out.best_mean = mean;
            out.best = range_text(setting, group);
        }
    }
}

} // namespace

std::vector<Explained> explain(std::span<const VaryingSetting> settings,
                               std::span<const double> results, bool smaller_is_better) {
    std::vector<Explained> out;
    for (const VaryingSetting& setting : settings) {
        Explained& one = out.emplace_back();
        one.path = setting.path;
        const std::vector<std::size_t> groups =
            setting.numeric ? groups_of(setting.numbers(), most_groups(results))
                            : groups_of(setting.texts());
        one.share = variance_share(groups, results);
        if (setting.numeric) {
            one.correlation = rank_correlation(setting.numbers(), results);
        }
        find_best(one, setting, groups, results, smaller_is_better);
    }
    std::stable_sort(out.begin(), out.end(), [](const Explained& a, const Explained& b) {
        const auto rank = [](const Explained& one) { return one.share ? one.share->value : -1; };
        return rank(a) > rank(b);
    });
    return out;
}

} // namespace weft::compare
