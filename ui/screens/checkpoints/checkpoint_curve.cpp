// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/checkpoints/checkpoint_curve.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run_model.h"
#include "ui/models/checkpoint_model.h"
#include "widgets/checkpoint_timeline.h"
#include "widgets/line_chart.h"

#include <QVBoxLayout>

#include <algorithm>
#include <span>

namespace weft::ui {
namespace {

constexpr int kHeight = 220;
constexpr double kSmoothing = 0.9;
constexpr int kLeftMargin = 56; // "100,000"
constexpr int kRightMargin = 16;

} // namespace

CheckpointCurve::CheckpointCurve(const CheckpointModel& model, QWidget* parent)
    : QWidget(parent), model_(model) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    chart_ = new widgets::LineChart;
    chart_->setObjectName("checkpointCurve");
    chart_->setFixedHeight(kHeight);
    chart_->setAxisNames(tr("step"), tr("loss"));
    chart_->setSmoothing(kSmoothing);
    chart_->setLeftMargin(kLeftMargin);
    column->addWidget(chart_);
    files_ = new widgets::CheckpointTimeline;
    files_->setObjectName("timeline");
    files_->setCaptions(tr("files"), tr("dashed: pruned by retention"));
    files_->setMargins(kLeftMargin, kRightMargin);
    column->addWidget(files_);
    connect(chart_, &widgets::LineChart::xRangeChanged, files_,
            &widgets::CheckpointTimeline::setRange);
    // The table is newest first.
    connect(files_, &widgets::CheckpointTimeline::selectionChanged, this,
            [this](int index) { emit rowChosen(model_.rowCount() - 1 - index); });
    connect(&feed_, &SliceFeed::slice, this, &CheckpointCurve::append);
}

void CheckpointCurve::restart(const RunModel& run) {
    run_ = &run;
    chart_->clearAll();
    train_series_ = chart_->addSeries({tr("train/loss"), {}, 0, widgets::SeriesForm::Smoothed});
    validation_series_ =
        chart_->addSeries({tr("validation/loss"), {}, 0, widgets::SeriesForm::Markers});
    feed_.restart();
    extend();
}

void CheckpointCurve::extend() {
    if (run_ != nullptr) {
        feed_.extendTo(run_->steps().step.size());
        updateEnd();
    }
}

void CheckpointCurve::append(std::size_t first, std::size_t count) {
    const StepSeries& steps = run_->steps();
    chart_->append(train_series_, std::span(steps.step).subspan(first, count),
                   std::span(steps.loss).subspan(first, count));
}

void CheckpointCurve::updateMarks() {
    if (run_ == nullptr) {
        return;
    }
    std::vector<double> x;
    std::vector<double> y;
    for (const EvaluationPoint& point : run_->evaluations()) {
        for (const auto& [name, value] : point.metrics) {
            if (name == "validation/loss") {
                x.push_back(point.step);
                y.push_back(value);
            }
        }
    }
    chart_->clearSeries(validation_series_);
    chart_->append(validation_series_, x, y);
    const auto best = run_->bestMetric("validation/loss", true);
    chart_->setBest(best ? std::optional(best->step) : std::nullopt, best ? best->value : 0,
                    best ? tr("best %1").arg(formatMetric(best->value)) : QString());
    updateEnd();
    std::vector<widgets::TimelineCheckpoint> marks;
    for (int i = model_.rowCount() - 1; i >= 0; --i) {
        const CheckpointRow& row = model_.row(i);
        marks.push_back({row.step, row.on_disk, row.best, row.pinned,
                         row.on_disk ? formatFileSize(row.bytes) : tr("pruned")});
    }
    files_->setCheckpoints(std::move(marks));
}

void CheckpointCurve::updateEnd() {
    const double end =
        static_cast<double>(std::max({run_->totalSteps(), run_->step(), std::int64_t{1}}));
    const bool unfinished = run_->step() < run_->totalSteps();
    chart_->setPlannedRange(widgets::ChartRange{0, end},
                            unfinished ? std::optional(static_cast<double>(run_->step()))
                                       : std::nullopt,
                            unfinished ? tr("not trained yet") : QString());
}

void CheckpointCurve::select(int row) {
    const CheckpointRow& chosen = model_.row(row);
    files_->setSelected(model_.rowCount() - 1 - row);
    chart_->setSelection(static_cast<double>(chosen.step),
                         tr("selected %1").arg(formatCount(chosen.step)));
}

} // namespace weft::ui
