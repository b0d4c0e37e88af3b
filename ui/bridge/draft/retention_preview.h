// SPDX-License-Identifier: GPL-3.0-or-later
// Which checkpoints a run will have written at each step, and how long each stays: the engine's own
// cadence and retention, played through ahead of time.
#pragma once

#include "ui/bridge/draft/run_outlook.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace weft::ui {

/// One checkpoint from its save until retention removes it.
struct CheckpointLife {
    std::int64_t saved = 0;
    std::int64_t removed = -1; // with the save at this step; -1: it stays
    bool best = false;         // at the end
    std::string kept_for;      // at the end: "newest", "best", "every 1000"
};

struct RetentionPreview {
    std::vector<CheckpointLife> lives; // by step of saving
    std::int64_t steps = 0;
    std::int64_t best_step = -1; // at which the metric is assumed to be best; -1: never evaluated
    bool cut = false;            // there are more than could be played through

    /// Steps of those that exist right after `step`.
    std::vector<std::int64_t> at(std::int64_t step) const;
};

/// `best_step`: the metric is assumed to improve up to there and to get worse after. Cadences in
/// minutes, and the first save, take `step_ms` (0: they ask for nothing).
RetentionPreview previewRetention(const compile::RunConfig& config, const RunCounts& counts,
                                  std::int64_t steps, std::int64_t best_step, double step_ms);

/// Bytes of the arrays of one checkpoint.
std::int64_t checkpointBytes(const plan::ExecutionPlan& plan);

} // namespace weft::ui
