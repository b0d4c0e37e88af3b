// SPDX-License-Identifier: GPL-3.0-or-later
// What the draft comes to before it starts: updates, epochs, samples and tokens as the engine
// counts them, and the plan of its training step. Made anew in the background after every edit,
// while somebody looks.
#pragma once

#include "core/compile/programs/programs.h"
#include "core/data/dataset.h"
#include "core/train/run_length.h"
#include "ui/bridge/draft/draft.h"
#include "ui/bridge/newest_job.h"
#include "ui/bridge/plan/plan_job.h"

#include <QTimer>

#include <optional>

namespace weft::ui {

/// A run in numbers.
struct RunCounts {
    compile::BatchPlan batch;
    train::Pace pace;
    std::int64_t steps = 0; // updates; 0: the length is measured in minutes
    bool has_validation = false;

    double epochs(std::int64_t updates) const;
    std::int64_t tokensOf(std::int64_t updates) const; // 0: samples are not sequences
};

/// None: the data holds no sample, or its samples have no tokens to count.
std::optional<RunCounts> countRun(const compile::RunConfig& config, const data::DataOutline& data);

class RunOutlook : public QObject {
    Q_OBJECT
public:
    RunOutlook(Draft& draft, Planner::Plan step_planner, QObject* parent = nullptr);

    /// Works only while somebody looks.
    void setActive(bool active);

    /// Of the draft as it stands; none while it is invalid, or its data is being looked at.
    const std::optional<RunCounts>& counts() const { return counts_; }
    /// What the data is, by names, sizes and headers; none while it is being looked at.
    const std::optional<data::DataOutline>& data() const { return outline_; }
    /// Why the data cannot be counted.
    QString dataProblem() const { return data_problem_; }
    /// The newest plan that there is; null before the first, and when none can be made.
    std::shared_ptr<const PlanDigest> digest() const { return job_.digest(); }
    /// digest() is of an earlier draft.
    bool isStale() const { return stale_ || job_.isPlanning(); }
    QString planProblem() const { return job_.problem(); }
    /// Updates of the run: counted, or what its minutes come to by the predicted step; 0: unknown.
    std::int64_t expectedSteps() const;
    /// Predicted, of the whole run.
    std::optional<double> seconds() const;

signals:
    void changed();

private:
    void onDraftChanged();
    void work();
    void look();
    void count();

    Draft& draft_;
    PlanJob job_;
    QTimer timer_;
    bool active_ = false;
    bool dirty_ = true; // the draft changed since the last plan was asked for
    bool stale_ = true;
    std::string outlined_; // what of the draft `outline_` depends on
    std::optional<data::DataOutline> outline_;
    NewestJob look_{this}; // at the data
    std::optional<RunCounts> counts_;
    QString data_problem_;
};

} // namespace weft::ui
