// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/axes.h"

#include "ui/bridge/convert.h"
#include "ui/pages/runs/compare_panel.h"

#include <algorithm>
#include <limits>
#include <map>

namespace weft::ui {

widgets::ParallelAxis settingAxis(const QString& name, const std::vector<QString>& texts,
                                  const std::vector<std::optional<double>>& numbers) {
    widgets::ParallelAxis axis;
    axis.name = name;
    axis.texts = texts;
    if (!numbers.empty()) {
        axis.values.assign(numbers.begin(), numbers.end());
        return axis;
    }
    for (const QString& value : texts) {
        if (!value.isEmpty() && !axis.categories.contains(value)) {
            axis.categories << value;
        }
    }
    axis.categories.sort();
    for (const QString& value : texts) {
        axis.values.push_back(
            value.isEmpty() ? std::nullopt : std::optional<double>(axis.categories.indexOf(value)));
    }
    return axis;
}

QString RunResults::title(const std::string& metric) const {
    // In full: lupdate looks for it in the namespace of what is returned.
    return best ? weft::ui::ComparePanel::tr("%1, best").arg(toQString(metric))
                : weft::ui::ComparePanel::tr("%1, last").arg(toQString(metric));
}

std::vector<double> RunResults::numbers() const {
    std::vector<double> out;
    for (const std::optional<double>& value : values) {
        out.push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    return out;
}

RunResults resultsOf(const std::vector<train::RunSummary>& runs, const std::string& metric) {
    RunResults out;
    out.smaller_is_better = train::smaller_is_better(metric);
    out.best = std::all_of(runs.begin(), runs.end(), [&](const auto& run) {
        const train::MetricSummary* known = run.metric(metric);
        return known == nullptr || known->best;
    });
    for (const train::RunSummary& run : runs) {
        const train::MetricSummary* known = run.metric(metric);
        out.values.push_back(known == nullptr ? std::nullopt
                             : out.best       ? known->best
                                              : std::optional(known->last));
        out.smaller_is_better = known == nullptr ? out.smaller_is_better : known->smaller_is_better;
    }
    return out;
}

widgets::ParallelAxis resultAxis(const std::vector<train::RunSummary>& runs,
                                 const std::string& metric) {
    const RunResults results = resultsOf(runs, metric);
    widgets::ParallelAxis axis;
    axis.name = results.title(metric);
    axis.result = true;
    axis.values = results.values;
    for (const std::optional<double>& value : results.values) {
        axis.texts.push_back(value ? formatMetric(*value) : QString());
    }
    return axis;
}

std::vector<std::string> metricsByUse(const std::vector<train::RunSummary>& runs) {
    std::map<std::string, int> count;
    for (const train::RunSummary& run : runs) {
        for (const auto& [name, value] : run.metrics) {
            ++count[name];
        }
    }
    std::vector<std::string> names;
    for (const auto& [name, runs_with] : count) {
        names.push_back(name);
    }
    const auto rank = [&](const std::string& name) {
        return std::pair(count[name], name == "train/loss" ? 2 : name == "validation/loss" ? 1 : 0);
    };
    std::stable_sort(names.begin(), names.end(),
                     [&](const auto& a, const auto& b) { return rank(a) > rank(b); });
    return names;
}

} // namespace weft::ui
