// SPDX-License-Identifier: Apache-2.0
#include "core/train/logging/tensorboard_summary.h"

#include "core/train/logging/tensorboard_reader.h"

#include <algorithm>
#include <cctype>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

/// The tag that says most about how a run went: a loss of held-out data, else any loss, else the
/// first.
const ScalarSeries* goal_series(const std::vector<ScalarSeries>& series) {
    const auto rank = [](const std::string& tag) {
        std::string name = tag;
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
        const bool held_out = has("val") || has("test") || has("eval");
        return has("loss") && held_out ? 3 : has("loss") ? 2 : held_out ? 1 : 0;
    };
    const ScalarSeries* best = nullptr;
    for (const ScalarSeries& one : series) {
        if (best == nullptr || rank(one.tag) > rank(best->tag)) {
            best = &one;
        }
    }
    return best;
}

void take_curve(RunSummary& summary, const ScalarSeries& series) {
    const std::size_t points = std::min(series.step.size(), RunSummary::kCurvePoints);
    for (std::size_t i = 0; i < points; ++i) {
        const std::size_t at = (i + 1) * series.step.size() / points - 1;
        summary.loss_curve.emplace_back(series.step[at], series.value[at]);
    }
    summary.last_loss = series.value.empty() ? 0 : series.value.back();
}

} // namespace

void summarise_tensorboard(RunSummary& summary) {
    const fs::path& folder = summary.folder;
    constexpr std::size_t kPointsAtOnce = 1 << 20;
    summary.source = RunSource::tensorboard;
    summary.info.name = folder.filename().string();
    std::vector<ScalarSeries> series;
    TensorboardReader reader(folder);
    for (bool more = true; more;) {
        const ScalarBatch batch = reader.read(kPointsAtOnce);
        append(series, batch);
        more = batch.more;
        if (batch.hparams.is_object()) {
            summary.config["hparams"].update(batch.hparams);
        }
        if (!batch.problems.empty()) {
            summary.problem = batch.problems.front();
        }
    }
    double first_time = 0;
    double last_time = 0;
    for (const ScalarSeries& one : series) {
        if (one.step.empty()) {
            continue;
        }
        MetricSummary& metric = summary.entry(one.tag);
        metric.smaller_is_better = smaller_is_better(one.tag);
        for (std::size_t i = 0; i < one.step.size(); ++i) {
            metric.note(static_cast<std::int64_t>(one.step[i]), one.value[i]);
        }
        summary.step = std::max(summary.step, metric.last_step);
        first_time = first_time == 0 ? one.time.front() : std::min(first_time, one.time.front());
        last_time = std::max(last_time, one.time.back());
    }
    summary.seconds = last_time - first_time;
    if (const ScalarSeries* goal = goal_series(series)) {
        summary.best_metric = goal->tag;
        if (const MetricSummary* metric = summary.metric(goal->tag)) {
            summary.best_value = metric->best;
            summary.best_step = metric->best_step;
        }
        take_curve(summary, *goal);
    }
    for (const fs::path& file : tensorboard_files(folder)) {
        std::error_code problem;
        summary.bytes += static_cast<std::int64_t>(fs::file_size(file, problem));
        summary.modified = std::max(summary.modified, written_s(file));
    }
}

} // namespace weft::train
