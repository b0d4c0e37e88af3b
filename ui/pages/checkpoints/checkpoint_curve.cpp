// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/checkpoint_curve.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_model.h"
#include "ui/models/checkpoint_model.h"
#include "ui/pages/drawings.h"
#include "widgets/curves/checkpoint_timeline.h"
#include "widgets/curves/line_chart.h"
#include "widgets/curves/series_store.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

constexpr int kCheckpointCurveHeight = 220;
constexpr int kCheckpointCurveLeftMargin = 56; // "100,000"
constexpr int kRightMargin = 16;

} // namespace

CheckpointCurve::CheckpointCurve(const CheckpointModel& model, QWidget* parent)
    : QWidget(parent), model_(model) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    chart_ = new widgets::LineChart;
    chart_->setObjectName("checkpointCurve");
    chart_->setFixedHeight(kCheckpointCurveHeight);
    chart_->setAccessibleName(tr("Curve of the run"));
    chart_->setSmoothing(widgets::SeriesStore::kUsualSmoothing);
    chart_->setLeftMargin(kCheckpointCurveLeftMargin);
    column->addWidget(chart_);
    offerExport(
        *chart_,
        [this] {
            return (run_ == nullptr ? QString() : run_->name()) + QLatin1Char('-') + metric_.id;
        },
        [this](bool well, const QString& text) { emit exported(well, text); });
    files_ = new widgets::CheckpointTimeline;
    files_->setObjectName("timeline");
    files_->setCaptions(tr("files"), tr("dashed: pruned by retention"));
    files_->setMargins(kCheckpointCurveLeftMargin, kRightMargin);
    column->addWidget(files_);
    connect(chart_, &widgets::LineChart::xRangeChanged, files_,
            &widgets::CheckpointTimeline::setRange);
    // The table is newest first.
    connect(files_, &widgets::CheckpointTimeline::selectionChanged, this,
            [this](int index) { emit rowChosen(model_.rowCount() - 1 - index); });
    connect(&feed_, &SliceFeed::slice, this, &CheckpointCurve::append);
}

// That by which the run says which checkpoint is the best; the loss where it does not say.
void CheckpointCurve::takeMetric() {
    const std::string& name = run_->config().checkpoint_metric;
    const std::string wanted = name.empty() ? "validation/loss" : name;
    metric_ = curveMetric(*run_, toQString(wanted.substr(wanted.find('/') + 1)));
    metric_.evaluation_metric = wanted;
}

void CheckpointCurve::restart(const RunModel& run) {
    run_ = &run;
    takeMetric();
    chart_->clearAll();
    chart_->setAxisNames(tr("step"), metric_.title.toLower());
    train_series_ =
        chart_->addSeries({toQString(metric_.step_metric), {}, 0, widgets::SeriesForm::Smoothed});
    evaluation_series_ = chart_->addSeries(
        {toQString(metric_.evaluation_metric), {}, 0, widgets::SeriesForm::Markers});
    feed_.restart();
    extend();
}

void CheckpointCurve::extend() {
    if (run_ != nullptr) {
        feed_.extendTo(pointCount(run_->steps(), metric_));
        updateEnd();
    }
}

void CheckpointCurve::append(std::size_t first, std::size_t count) {
    readPoints(run_->steps(), metric_, XAxis::Step, 0.0, first, count, INFINITY, x_, y_);
    chart_->append(train_series_, x_, y_);
}

void CheckpointCurve::updateMarks() {
    if (run_ == nullptr) {
        return;
    }
    readEvaluations(*run_, metric_, XAxis::Step, INFINITY, x_, y_);
    chart_->clearSeries(evaluation_series_);
    chart_->append(evaluation_series_, x_, y_);
    chart_->setBest(std::nullopt);
    for (int i = 0; i < model_.rowCount(); ++i) { // the one that the table calls the best
        if (const CheckpointRow& row = model_.row(i); row.best) {
            chart_->setBest(
                static_cast<double>(row.step), *row.metric,
                tr("best %1 %2")
                    .arg(metricWords(run_->config().checkpoint_metric), formatMetric(*row.metric)));
        }
    }
    updateEnd();
    std::vector<widgets::TimelineCheckpoint> marks;
    for (int i = model_.rowCount() - 1; i >= 0; --i) {
        const CheckpointRow& row = model_.row(i);
        marks.push_back({row.step, row.on_disk, row.best, row.pinned,
                         row.on_disk ? formatFileSize(row.bytes) : tr("pruned")});
    }
    files_->setCheckpoints(std::move(marks));
}

void CheckpointCurve::setWholeRunShown(bool shown) {
    whole_run_ = shown;
    if (run_ != nullptr) {
        updateEnd();
    }
}

void CheckpointCurve::updateEnd() {
    const std::int64_t newest = model_.rowCount() > 0 ? model_.row(0).step : 0;
    const std::int64_t done = std::max({run_->step(), newest, std::int64_t{1}});
    const bool future = whole_run_ && done < run_->totalSteps();
    chart_->setPlannedRange(
        widgets::ChartRange{0, static_cast<double>(future ? run_->totalSteps() : done)},
        future ? std::optional(static_cast<double>(done)) : std::nullopt,
        future ? tr("not trained yet") : QString());
}

void CheckpointCurve::select(int row) {
    const CheckpointRow& chosen = model_.row(row);
    files_->setSelected(model_.rowCount() - 1 - row);
    chart_->setSelection(static_cast<double>(chosen.step),
                         tr("selected %1").arg(formatCount(chosen.step)));
}

} // namespace weft::ui
