// SPDX-License-Identifier: Apache-2.0
// One metric of one run over its steps, whoever wrote the run.
#pragma once

#include "core/train/logging/metrics_store.h"
#include "core/train/record/run_summary.h"

namespace weft::train {

/// Every point, by step; empty when the run has no such metric. Reads the whole of the run's
/// numbers where they lie in one file: not for the GUI thread. Throws weft::Error.
std::vector<MetricPoint> read_curve(const std::filesystem::path& run, const std::string& metric);
/// The value at the last step that is not after `step`; none before the first.
std::optional<double> value_at(const std::vector<MetricPoint>& curve, std::int64_t step);

} // namespace weft::train
