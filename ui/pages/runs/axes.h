// SPDX-License-Identifier: GPL-3.0-or-later
// Settings and results of runs as axes of the pictures that compare them.
#pragma once

#include "core/train/record/run_summary.h"
#include "widgets/views/parallel_view.h"

namespace weft::ui {

/// `numbers` is empty where not all values are numbers: then each text has a place of its own.
widgets::ParallelAxis settingAxis(const QString& name, const std::vector<QString>& texts,
                                  const std::vector<std::optional<double>>& numbers);

/// A metric of each run: its best where that is known of all that have it, else its last.
struct RunResults {
    bool best = false;
    bool smaller_is_better = true;
    std::vector<std::optional<double>> values;

    /// "validation loss, best"
    QString title(const std::string& metric) const;
    /// NaN where a run has none.
    std::vector<double> numbers() const;
};
RunResults resultsOf(const std::vector<train::RunSummary>& runs, const std::string& metric);
widgets::ParallelAxis resultAxis(const std::vector<train::RunSummary>& runs,
                                 const std::string& metric);

/// What most of the runs have stands first.
std::vector<std::string> metricsByUse(const std::vector<train::RunSummary>& runs);

} // namespace weft::ui
