// SPDX-License-Identifier: Apache-2.0
// What evaluations say of a run: the best step so far, and whether it still gets better. What it
// remembers is part of Progress, so that a resumed run judges as an uninterrupted one.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/train/progress.h"
#include "core/train/update.h"

#include <string>
#include <vector>

namespace weft::train {

class Judge {
public:
    /// Both must outlive this.
    Judge(const compile::RunConfig& config, Progress& progress);

    const checkpoint::Goal& goal() const { return goal_; }
    /// Whether a training metric decides which step is best, when the run has stalled, or when a
    /// learning rate falls.
    bool counts_training() const;
    /// Sums what a step reported, where training metrics count.
    void add_step(const UpdateNumbers& numbers);
    /// What the steps since the last call reported, on average: one batch alone says little.
    Metrics take_training_means();
    /// True when the metrics are better than ever before.
    bool is_improvement(const Metrics& metrics);
    /// Counts evaluations without a gain for early stopping. What to tell when the patience ends
    /// with this one; else empty.
    std::string note_stall(const Metrics& metrics);
    bool has_stalled() const;
    /// Lets the learning rates that follow evaluations fall. What to tell of each that fell now.
    std::vector<std::string> note_plateaus(const Metrics& metrics);
    /// What evaluations made of each learning rate, in the order of compile::learning_rates.
    std::vector<double> rate_factors() const;

private:
    const compile::RunConfig& config_;
    const checkpoint::Goal goal_;
    const std::vector<compile::LearningRate> rates_;
    Progress& progress_;
};

} // namespace weft::train
