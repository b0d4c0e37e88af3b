// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/train/curve_panel.h"

#include "ui/bridge/convert.h"
#include "widgets/card.h"
#include "widgets/controls.h"
#include "widgets/icon.h"
#include "widgets/line_chart.h"
#include "widgets/style.h"
#include "widgets/text_label.h"

#include <QAction>
#include <QFileDialog>
#include <QMenu>
#include <QPushButton>
#include <QSlider>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

constexpr double kDefaultSmoothing = 0.9;
constexpr int kSmallChartHeight = 104;
constexpr int kSmallestChartHeight = 52;
constexpr int kSmallChartShare = 5; // each takes a fifth of the height
constexpr int kLeftMargin = 56;     // a learning rate such as 2.5e-4

} // namespace

CurvePanel::CurvePanel(RunModel& run, QWidget* parent) : QWidget(parent), run_(run) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createHeader());
    createCharts();
    column->addWidget(loss_, 1);
    column->addWidget(new widgets::Hairline);
    column->addWidget(rate_);
    column->addWidget(new widgets::Hairline);
    column->addWidget(norm_);

    connect(&run_, &RunModel::reset, this, &CurvePanel::rebuild);
    connect(&run_, &RunModel::stepsRewound, this, &CurvePanel::rebuild);
    connect(&run_, &RunModel::stepsAppended, this,
            [this] { feed_.extendTo(run_.steps().step.size()); });
    connect(&feed_, &SliceFeed::slice, this, &CurvePanel::appendSteps);
    connect(&run_, &RunModel::evaluationAdded, this, &CurvePanel::rebuildMarks);
    connect(&run_, &RunModel::checkpointsChanged, this, &CurvePanel::rebuildMarks);
    connect(&run_, &RunModel::stateChanged, this, &CurvePanel::rebuildMarks);
    rebuild();
}

QWidget* CurvePanel::createHeader() {
    header_ = new widgets::SectionHeader(tr("Loss"));
    header_->setSubtitle(tr("train line, raw faint · validation rings"));
    header_->addControl(
        new widgets::TextLabel(tr("Smoothing"), widgets::TextStyle::Caption, widgets::Role::Muted));
    smoothing_ = new QSlider(Qt::Horizontal);
    smoothing_->setObjectName("smoothing");
    smoothing_->setAccessibleName(tr("Smoothing"));
    smoothing_->setRange(0, 99);
    smoothing_->setValue(static_cast<int>(kDefaultSmoothing * 100));
    smoothing_->setFixedWidth(88);
    header_->addControl(smoothing_);
    smoothing_text_ = new widgets::TextLabel(QString::number(kDefaultSmoothing, 'f', 2),
                                             widgets::TextStyle::MonoSmall);
    header_->addControl(smoothing_text_);
    scale_ = new widgets::SegmentedControl({tr("Linear"), tr("Log")});
    scale_->setCompact(true);
    scale_->setAccessibleName(tr("Scale of the loss axis"));
    header_->addControl(scale_);
    auto* axis = new widgets::SegmentedControl({tr("Step"), tr("Epoch"), tr("Time")});
    axis->setCompact(true);
    axis->setObjectName("xAxis");
    axis->setAccessibleName(tr("What the x axis counts"));
    header_->addControl(axis);
    header_->addControl(createViewButton());
    auto* save = new QPushButton(widgets::icon("export"), {});
    save->setToolTip(tr("Export the loss chart as PNG, SVG or CSV"));
    save->setAccessibleName(tr("Export"));
    widgets::setButtonKind(save, widgets::ButtonKind::Flat);
    widgets::setCompact(save);
    header_->addControl(save);

    connect(axis, &widgets::SegmentedControl::currentIndexChanged, this, &CurvePanel::setXAxis);
    connect(save, &QPushButton::clicked, this, &CurvePanel::exportChart);
    return header_;
}

// What is off unless asked for; an entry that would change nothing is disabled.
QWidget* CurvePanel::createViewButton() {
    auto* button = new QPushButton(widgets::icon("eye"), {});
    button->setObjectName("lossView");
    button->setToolTip(tr("What the loss chart shows"));
    button->setAccessibleName(tr("What the loss chart shows"));
    widgets::setButtonKind(button, widgets::ButtonKind::Flat);
    widgets::setCompact(button);
    auto* menu = new QMenu(button);
    clip_ = menu->addAction(tr("Clip outliers"));
    clip_->setObjectName("clipOutliers");
    clip_->setCheckable(true);
    clip_->setEnabled(false);
    show_abandoned_ = menu->addAction(tr("Steps that a resume took back"));
    show_abandoned_->setObjectName("showAbandoned");
    show_abandoned_->setCheckable(true);
    show_abandoned_->setEnabled(false);
    connect(button, &QPushButton::clicked, menu, [button, menu] {
        menu->popup(button->mapToGlobal(QPoint(0, button->height() + widgets::space::kTight)));
    });
    return button;
}

void CurvePanel::createCharts() {
    loss_ = new widgets::LineChart;
    loss_->setObjectName("lossChart");
    loss_->setMinimumHeight(120);
    loss_->setSmoothing(kDefaultSmoothing);
    rate_ = new widgets::LineChart;
    rate_->setObjectName("rateChart");
    rate_->setTitle(tr("Learning rate"));
    rate_->setFixedHeight(kSmallChartHeight);
    rate_->setXAxisVisible(false);
    rate_->setCompactCrosshair(true);
    norm_ = new widgets::LineChart;
    norm_->setObjectName("normChart");
    norm_->setTitle(tr("Gradient norm"));
    norm_->setFixedHeight(kSmallChartHeight);
    norm_->setXAxisVisible(false);
    norm_->setCompactCrosshair(true);
    norm_->setSmoothing(kDefaultSmoothing);
    link_ = new widgets::ChartLink(this);
    for (widgets::LineChart* chart : {loss_, rate_, norm_}) {
        chart->setLeftMargin(kLeftMargin);
        link_->add(chart);
    }
    connect(smoothing_, &QSlider::valueChanged, this, [this](int value) {
        const double weight = value / 100.0;
        smoothing_text_->setText(QString::number(weight, 'f', 2));
        loss_->setSmoothing(weight);
        norm_->setSmoothing(weight);
        smoothed_points_ = 0;
        updateSmoothedLoss();
    });
    connect(scale_, &widgets::SegmentedControl::currentIndexChanged, this,
            [this](int index) { loss_->setLogScale(index == 1); });
    connect(loss_, &widgets::LineChart::logScaleChanged, this,
            [this](bool log) { scale_->setCurrentIndex(log ? 1 : 0); });
    connect(clip_, &QAction::toggled, loss_, &widgets::LineChart::setOutliersClipped);
    connect(loss_, &widgets::LineChart::outliersClippedChanged, clip_, &QAction::setChecked);
    connect(loss_, &widgets::LineChart::hasOutliersChanged, clip_,
            [this](bool any) { clip_->setEnabled(any || clip_->isChecked()); });
    connect(show_abandoned_, &QAction::toggled, this, [this](bool shown) {
        for (const int id : abandoned_series_) {
            loss_->setSeriesVisible(id, shown);
        }
    });
    connect(loss_, &widgets::LineChart::exportRequested, this, &CurvePanel::exportChart);
    connect(loss_, &widgets::LineChart::smoothingFocusRequested, smoothing_,
            qOverload<>(&QWidget::setFocus));
}

// The loss keeps most of the room in a low window.
void CurvePanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const int small = std::clamp((height() - widgets::size::kPanelHeaderHeight) / kSmallChartShare,
                                 kSmallestChartHeight, kSmallChartHeight);
    rate_->setFixedHeight(small);
    norm_->setFixedHeight(small);
}

const std::vector<double>& CurvePanel::xColumn(const StepSeries& steps) const {
    return x_axis_ == XAxis::Step    ? steps.step
           : x_axis_ == XAxis::Epoch ? steps.epoch
                                     : steps.seconds;
}

double CurvePanel::xOf(const EvaluationPoint& point) const {
    return x_axis_ == XAxis::Step    ? point.step
           : x_axis_ == XAxis::Epoch ? point.epoch
                                     : point.seconds;
}

std::optional<double> CurvePanel::xOfStep(double step) const {
    const std::vector<double>& steps = run_.steps().step;
    if (x_axis_ == XAxis::Step || step <= 0) {
        return step;
    }
    const auto found = std::lower_bound(steps.begin(), steps.end(), step);
    if (found == steps.end()) {
        return std::nullopt;
    }
    return xColumn(run_.steps())[static_cast<std::size_t>(found - steps.begin())];
}

void CurvePanel::rebuild() {
    for (widgets::LineChart* chart : {loss_, rate_, norm_}) {
        chart->clearAll();
        chart->setTimeAxis(x_axis_ == XAxis::Seconds);
    }
    const QString x_names[] = {tr("step"), tr("epoch"), tr("seconds")};
    const QString x_name = x_names[static_cast<int>(x_axis_)];
    loss_->setAxisNames(x_name, tr("loss"));
    rate_->setAxisNames(x_name, tr("learning rate"));
    norm_->setAxisNames(x_name, tr("gradient norm"));
    const QString group = run_.name();
    train_series_ = loss_->addSeries({tr("train/loss"), group, 0, widgets::SeriesForm::Smoothed});
    validation_series_ =
        loss_->addSeries({tr("validation/loss"), group, 0, widgets::SeriesForm::Markers});
    rate_series_ = rate_->addSeries({tr("learning_rate"), group, 0, widgets::SeriesForm::Plain});
    norm_series_ = norm_->addSeries({tr("grad_norm"), group, 0, widgets::SeriesForm::Smoothed});
    addAbandoned();
    const auto clip = run_.config().max_grad_norm;
    norm_->setThreshold(clip, clip ? tr("clipped above %1").arg(*clip) : QString());
    smoothed_points_ = 0;
    smoothed_loss_ = 0;
    feed_.restart();
    feed_.extendTo(run_.steps().step.size());
    rebuildMarks();
}

void CurvePanel::addAbandoned() {
    abandoned_series_.clear();
    for (const StepSeries& lost : run_.abandoned()) {
        const int id = loss_->addSeries({tr("train/loss, taken back"), tr("taken back"), 0,
                                         widgets::SeriesForm::Abandoned, Qt::SolidLine,
                                         show_abandoned_->isChecked()});
        loss_->append(id, xColumn(lost), lost.loss);
        abandoned_series_.push_back(id);
    }
    show_abandoned_->setEnabled(!abandoned_series_.empty());
}

void CurvePanel::appendSteps(std::size_t first, std::size_t count) {
    const StepSeries& steps = run_.steps();
    const auto part = [first, count](const std::vector<double>& column) {
        return std::span(column).subspan(first, count);
    };
    loss_->append(train_series_, part(xColumn(steps)), part(steps.loss));
    rate_->append(rate_series_, part(xColumn(steps)), part(steps.learning_rate));
    norm_->append(norm_series_, part(xColumn(steps)), part(steps.grad_norm));
    updateSmoothedLoss();
}

// The same debiased exponential mean as the chart's, for the number above it.
void CurvePanel::updateSmoothedLoss() {
    const StepSeries& steps = run_.steps();
    if (smoothed_points_ == 0 || smoothed_points_ > steps.loss.size()) {
        smoothed_points_ = 0;
        smoothing_state_ = smoothing_weight_sum_ = 0;
    }
    const double weight = loss_->smoothing();
    for (; smoothed_points_ < steps.loss.size(); ++smoothed_points_) {
        const double value = steps.loss[smoothed_points_];
        if (std::isfinite(value)) {
            smoothing_state_ = weight * smoothing_state_ + (1 - weight) * value;
            smoothing_weight_sum_ = weight * smoothing_weight_sum_ + (1 - weight);
        }
    }
    smoothed_loss_ = smoothing_weight_sum_ > 0 ? smoothing_state_ / smoothing_weight_sum_ : 0;
}

void CurvePanel::rebuildMarks() {
    std::vector<double> x;
    std::vector<double> y;
    for (const EvaluationPoint& point : run_.evaluations()) {
        for (const auto& [name, value] : point.metrics) {
            if (name == "validation/loss") {
                x.push_back(xOf(point));
                y.push_back(value);
            }
        }
    }
    loss_->clearSeries(validation_series_);
    loss_->append(validation_series_, x, y);
    const auto best = run_.bestMetric("validation/loss", true);
    const auto best_x = best ? xOfStep(best->step) : std::nullopt;
    loss_->setBest(best_x, best ? best->value : 0,
                   best ? tr("best %1").arg(formatMetric(best->value)) : QString());
    std::vector<widgets::ChartFlag> flags;
    for (const train::CheckpointEvent& saved : run_.checkpoints()) {
        if (const auto at = xOfStep(static_cast<double>(saved.step))) {
            const bool is_best = best && best->step == static_cast<double>(saved.step);
            flags.push_back({*at, true, is_best, tr("checkpoint at step %1").arg(saved.step)});
        }
    }
    loss_->setFlags(std::move(flags));
    std::vector<widgets::ChartEvent> events;
    for (const std::int64_t step : run_.resumes()) {
        if (const auto at = xOfStep(static_cast<double>(step))) {
            events.push_back({*at, tr("resumed")});
        }
    }
    loss_->setEvents(std::move(events));
    const double planned = x_axis_ == XAxis::Step      ? static_cast<double>(run_.totalSteps())
                           : x_axis_ == XAxis::Seconds ? run_.totalSeconds()
                                                       : 0;
    for (widgets::LineChart* chart : {loss_, rate_, norm_}) {
        chart->setPlannedRange(planned > 0 ? std::optional(widgets::ChartRange{0, planned})
                                           : std::nullopt);
    }
}

void CurvePanel::setXAxis(int index) {
    x_axis_ = static_cast<XAxis>(index);
    rebuild();
}

void CurvePanel::exportChart() {
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Export loss chart"), run_.name() + "-loss.png",
        tr("Picture (*.png);;Vector drawing (*.svg);;Every point (*.csv)"));
    if (path.isEmpty()) {
        return;
    }
    const bool written = path.endsWith(".svg")   ? loss_->exportSvg(path)
                         : path.endsWith(".csv") ? loss_->exportCsv(path)
                                                 : loss_->exportPng(path);
    if (!written) {
        emit failed(tr("%1 could not be written. Choose another folder.").arg(path));
    }
}

} // namespace weft::ui
