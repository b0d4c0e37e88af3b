// SPDX-License-Identifier: Apache-2.0
// The numbers of a run, one file per series: metrics/<name>.f64, e.g. metrics/train/loss.f64. A
// file is a sequence of 24-byte little-endian records {i64 step, f64 time (s, UTC epoch), f64
// value}, appended in the order of measurement; a short last record is not data. When a run goes on
// from an earlier checkpoint, steps come again: of equal steps the last record counts.
#pragma once

#include "core/base/file.h"
#include "core/train/record/event.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace weft::train {

struct MetricPoint {
    std::int64_t step = 0;
    double time = 0;
    double value = 0;
};

/// Writes every number of step and evaluation events. One thread at a time.
class MetricsStore {
public:
    /// `folder` is <run>/metrics.
    /// Makes the folder; throws weft::Error{runtime}.
    explicit MetricsStore(std::filesystem::path folder);
    /// Throws weft::Error{runtime}, e.g. on a full disk.
    void add(const Event& event);

private:
    void append(const std::string& series, std::int64_t step, double time, double value);

    std::filesystem::path folder_;
    std::map<std::string, File> files_;
};

/// One series, e.g. "train/loss"; empty when absent. Equal steps: the last record, in order of
/// steps.
std::vector<MetricPoint> read_series(const std::filesystem::path& metrics_folder,
                                     const std::string& series);

/// The numbers of an event by name: "train/loss", "train/learning_rate", "validation/accuracy", ...
Metrics scalars(const Payload& payload);

} // namespace weft::train
