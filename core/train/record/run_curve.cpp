// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/run_curve.h"

#include "core/train/logging/tensorboard_reader.h"

#include <algorithm>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAtOnce = 1 << 18;

std::vector<MetricPoint> from_event_files(const fs::path& run, const std::string& metric) {
    std::vector<ScalarSeries> series;
    TensorboardReader reader(run);
    for (bool more = true; more;) {
        const ScalarBatch batch = reader.read(kAtOnce);
        append(series, batch);
        more = batch.more;
    }
    std::vector<MetricPoint> out;
    for (const ScalarSeries& one : series) {
        for (std::size_t i = 0; one.tag == metric && i < one.step.size(); ++i) {
            out.push_back({static_cast<std::int64_t>(one.step[i]), one.time[i], one.value[i]});
        }
    }
    return out;
}

std::vector<MetricPoint> from_event_log(const fs::path& run, const std::string& metric) {
    ScalarSeries series;
    EventReader reader(run);
    for (std::vector<Event> events; !(events = reader.read(kAtOnce)).empty();) {
        for (const Event& event : events) {
            const auto* step = std::get_if<StepEvent>(&event.payload);
            const auto* evaluation = std::get_if<EvaluationEvent>(&event.payload);
            for (const auto& [name, value] : scalars(event.payload)) {
                if (name == metric) {
                    series.add(static_cast<double>(step != nullptr ? step->step : evaluation->step),
                               event.time, value);
                }
            }
        }
    }
    std::vector<MetricPoint> out;
    for (std::size_t i = 0; i < series.step.size(); ++i) {
        out.push_back({static_cast<std::int64_t>(series.step[i]), series.time[i], series.value[i]});
    }
    return out;
}

} // namespace

std::vector<MetricPoint> read_curve(const fs::path& run, const std::string& metric) {
    if (!is_run_folder(run)) {
        return from_event_files(run, metric);
    }
    std::vector<MetricPoint> stored = read_series(run / "metrics", metric);
    return stored.empty() ? from_event_log(run, metric) : stored;
}

std::optional<double> value_at(const std::vector<MetricPoint>& curve, std::int64_t step) {
    const auto after =
        std::upper_bound(curve.begin(), curve.end(), step,
                         [](std::int64_t at, const MetricPoint& point) { return at < point.step; });
    return after == curve.begin() ? std::nullopt : std::optional(std::prev(after)->value);
}

} // namespace weft::train
