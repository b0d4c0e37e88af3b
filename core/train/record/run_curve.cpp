// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/run_curve.h"

#include "core/train/logging/tensorboard_reader.h"

#include <algorithm>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAtOnce = 1 << 18;

using Curves = std::map<std::string, std::vector<MetricPoint>>;

std::vector<MetricPoint> points_of(const ScalarSeries& series) {
    std::vector<MetricPoint> out;
    for (std::size_t i = 0; i < series.step.size(); ++i) {
        out.push_back({static_cast<std::int64_t>(series.step[i]), series.time[i], series.value[i]});
    }
    return out;
}

/// Of the curves that stand in `out`.
void fill_from_event_files(const fs::path& run, Curves& out) {
    std::vector<ScalarSeries> series;
    TensorboardReader reader(run);
    for (bool more = true; more;) {
        const ScalarBatch batch = reader.read(kAtOnce);
        append(series, batch);
        more = batch.more;
    }
    for (const ScalarSeries& one : series) {
        const auto wanted = out.find(one.tag);
        if (wanted != out.end()) {
            wanted->second = points_of(one);
        }
    }
}

void fill_from_event_log(const fs::path& run, Curves& out) {
    std::map<std::string, ScalarSeries> found;
    EventReader reader(run);
    for (std::vector<Event> events; !(events = reader.read(kAtOnce)).empty();) {
        for (const Event& event : events) {
            const auto* step = std::get_if<StepEvent>(&event.payload);
            const auto* evaluation = std::get_if<EvaluationEvent>(&event.payload);
            if (step != nullptr && out.contains(kEpochCurve)) {
                found[kEpochCurve].add(static_cast<double>(step->step), event.time, step->epoch);
            }
            for (const auto& [name, value] : scalars(event.payload)) {
                if (out.contains(name)) {
                    found[name].add(
                        static_cast<double>(step != nullptr ? step->step : evaluation->step),
                        event.time, value);
                }
            }
        }
    }
    for (const auto& [name, series] : found) {
        out[name] = points_of(series);
    }
}

} // namespace

Curves read_curves(const fs::path& run, const std::vector<std::string>& metrics) {
    Curves out;
    for (const std::string& metric : metrics) {
        out[metric];
    }
    if (!is_run_folder(run)) {
        fill_from_event_files(run, out);
        return out;
    }
    Curves unknown;
    for (auto& [metric, curve] : out) {
        curve = read_series(run / "metrics", metric);
        if (curve.empty()) {
            unknown[metric];
        }
    }
    if (!unknown.empty()) {
        fill_from_event_log(run, unknown);
        unknown.merge(out);
        out = std::move(unknown);
    }
    return out;
}

std::vector<MetricPoint> read_curve(const fs::path& run, const std::string& metric) {
    return std::move(read_curves(run, {metric})[metric]);
}

std::optional<double> value_at(const std::vector<MetricPoint>& curve, std::int64_t step) {
    const auto after =
        std::upper_bound(curve.begin(), curve.end(), step,
                         [](std::int64_t at, const MetricPoint& point) { return at < point.step; });
    return after == curve.begin() ? std::nullopt : std::optional(std::prev(after)->value);
}

} // namespace weft::train
