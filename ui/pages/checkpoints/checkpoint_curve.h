// SPDX-License-Identifier: GPL-3.0-or-later
// The metric by which a run calls a checkpoint its best and, below it on the same steps, the
// checkpoints that it wrote: kept, pruned, best and the chosen one.
#pragma once

#include "ui/bridge/run/curve_metric.h"
#include "ui/bridge/run/slice_feed.h"

#include <QWidget>

namespace weft::widgets {
class CheckpointTimeline;
class LineChart;
} // namespace weft::widgets

namespace weft::ui {

class CheckpointModel;
class RunModel;

class CheckpointCurve : public QWidget {
    Q_OBJECT
public:
    /// The files are the rows of `model`.
    explicit CheckpointCurve(const CheckpointModel& model, QWidget* parent = nullptr);

    /// Draws `run` from its first step; it is read in the turns that follow.
    void restart(const RunModel& run);
    /// The run has more steps.
    void extend();
    /// Evaluations, the end of the run and the files, anew.
    void updateMarks();
    void select(int row);
    /// Also the steps that are planned and not trained yet; usually the axis ends with the data.
    void setWholeRunShown(bool shown);

signals:
    void rowChosen(int row);
    void exported(bool well, const QString& text);

private:
    void takeMetric();
    void updateEnd();
    void append(std::size_t first, std::size_t count);

    const CheckpointModel& model_;
    const RunModel* run_ = nullptr;
    CurveMetric metric_; // of the run's checkpoints
    SliceFeed feed_;
    std::vector<double> x_, y_; // room for slices
    widgets::LineChart* chart_;
    widgets::CheckpointTimeline* files_;
    bool whole_run_ = false;
    int train_series_ = -1;
    int evaluation_series_ = -1;
};

} // namespace weft::ui
