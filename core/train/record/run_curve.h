// SPDX-License-Identifier: Apache-2.0
// One metric of one run over its steps, whoever wrote the run.
#pragma once

#include "core/train/logging/metrics_store.h"
#include "core/train/record/run_summary.h"

#include <map>
#include <string>
#include <vector>

namespace weft::train {

/// In what epoch each step was: told by the events of a run alone.
inline const std::string kEpochCurve = "train/epoch";

/// Every point, by step; empty when the run has no such metric. Reads the whole of the run's
/// numbers where they lie in one file: not for the GUI thread. Throws weft::Error.
std::vector<MetricPoint> read_curve(const std::filesystem::path& run, const std::string& metric);
/// Several of them, each file of the run read once.
std::map<std::string, std::vector<MetricPoint>>
read_curves(const std::filesystem::path& run, const std::vector<std::string>& metrics);
/// The value at the last step that is not after `step`; none before the first.
std::optional<double> value_at(const std::vector<MetricPoint>& curve, std::int64_t step);

} // namespace weft::train
