// SPDX-License-Identifier: GPL-3.0-or-later
// The loss of a run and, below it on the same steps, the checkpoints that it wrote: kept, pruned,
// best and the chosen one.
#pragma once

#include "ui/bridge/slice_feed.h"

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

signals:
    void rowChosen(int row);

private:
    void updateEnd();
    void append(std::size_t first, std::size_t count);

    const CheckpointModel& model_;
    const RunModel* run_ = nullptr;
    SliceFeed feed_;
    widgets::LineChart* chart_;
    widgets::CheckpointTimeline* files_;
    int train_series_ = -1;
    int validation_series_ = -1;
};

} // namespace weft::ui
