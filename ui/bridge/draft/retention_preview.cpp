// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/retention_preview.h"

#include "core/checkpoint/checkpoint.h"

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

constexpr std::int64_t kMostSaves = 1500;
// Steps are looked at one by one, as the engine does.
constexpr std::int64_t kRetentionPreviewMostSteps = 2'000'000;

/// Cadences in minutes as steps of a predicted length.
class Clock {
public:
    Clock(const compile::Cadence& cadence, const train::Pace& pace, double step_ms)
        : cadence_(cadence), pace_(pace), step_s_(step_ms / 1e3) {}

    bool due(std::int64_t step) {
        const double since = static_cast<double>(step - last_) * step_s_;
        const bool is_due = train::is_due(cadence_, pace_, step, since);
        last_ = is_due ? step : last_;
        return is_due;
    }

private:
    compile::Cadence cadence_;
    train::Pace pace_;
    double step_s_;
    std::int64_t last_ = 0;
};

/// Falls to `best`, then rises: only the order counts.
double assumedMetric(std::int64_t step, std::int64_t best, bool smaller_is_better) {
    const double distance = std::abs(static_cast<double>(step - best));
    return smaller_is_better ? distance : -distance;
}

} // namespace

std::vector<std::int64_t> RetentionPreview::at(std::int64_t step) const {
    std::vector<std::int64_t> out;
    for (const CheckpointLife& life : lives) {
        if (life.saved <= step && (life.removed < 0 || step < life.removed)) {
            out.push_back(life.saved);
        }
    }
    return out;
}

RetentionPreview previewRetention(const compile::RunConfig& config, const RunCounts& counts,
                                  std::int64_t steps, std::int64_t best_step, double step_ms) {
    RetentionPreview out;
    out.steps = steps;
    const checkpoint::ManagerOptions options = checkpoint::retention_of(config.document);
    Clock evaluations(config.evaluation_every, counts.pace, step_ms);
    std::optional<Clock> saves;
    if (config.checkpoint_every) {
        saves.emplace(*config.checkpoint_every, counts.pace, step_ms);
    }
    const bool knows_metric =
        counts.has_validation && options.goal.metric.starts_with("validation/");
    std::vector<checkpoint::Entry> present;
    std::optional<double> best;
    if (knows_metric && config.evaluation_at_start) {
        best = assumedMetric(0, best_step, options.goal.smaller_is_better);
    }
    const auto save = [&](std::int64_t step, std::optional<double> metric) {
        checkpoint::Entry entry;
        entry.step = entry.record.step = step;
        if (metric) {
            entry.record.metric_step = step;
            entry.record.metrics[options.goal.metric] = *metric;
        }
        present.push_back(std::move(entry));
        out.lives.push_back({step, -1, false, {}});
        const auto kept = checkpoint::retained(present, options);
        std::erase_if(present, [&](const checkpoint::Entry& one) {
            const bool stays = std::any_of(kept.begin(), kept.end(), [&](const auto& reason) {
                return reason.step == one.step;
            });
            if (!stays) {
                const auto life = std::find_if(out.lives.rbegin(), out.lives.rend(),
                                               [&](const auto& l) { return l.saved == one.step; });
                life->removed = step;
            }
            return !stays;
        });
    };
    const std::int64_t last = std::min(steps, kRetentionPreviewMostSteps);
    for (std::int64_t step = 1; step <= last && !out.cut; ++step) {
        std::optional<double> metric;
        bool improved = false;
        const bool ends = step == steps;
        if (knows_metric && (evaluations.due(step) || ends)) {
            metric = assumedMetric(step, best_step, options.goal.smaller_is_better);
            improved =
                !best || (options.goal.smaller_is_better ? *metric < *best : *metric > *best);
            if (improved) {
                best = metric;
                out.best_step = step;
            }
        }
        const bool due = saves && saves->due(step);
        const bool first = out.lives.empty() && (saves || config.checkpoint_on_improvement) &&
                           static_cast<double>(step) * step_ms >= train::kFirstSaveSeconds * 1e3;
        if (due || ends || first || (improved && config.checkpoint_on_improvement)) {
            save(step, metric);
        }
        out.cut = static_cast<std::int64_t>(out.lives.size()) >= kMostSaves && !ends;
    }
    out.cut = out.cut || steps > kRetentionPreviewMostSteps;
    for (const auto& reason : checkpoint::retained(present, options)) {
        const auto life = std::find_if(out.lives.begin(), out.lives.end(),
                                       [&](const auto& one) { return one.saved == reason.step; });
        life->best = life->best || life->saved == out.best_step;
        life->kept_for += (life->kept_for.empty() ? "" : ", ") + reason.reason;
    }
    return out;
}

std::int64_t checkpointBytes(const plan::ExecutionPlan& plan) {
    std::int64_t bytes = 0;
    for (const plan::StateSlot& slot : plan.state_slots) {
        bytes += slot.saved ? slot.whole.bytes() : 0;
    }
    return bytes;
}

} // namespace weft::ui
