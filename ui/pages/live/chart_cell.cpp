// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/chart_cell.h"

#include "ui/bridge/convert.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/icon.h"
#include "widgets/look/menu_text.h"
#include "widgets/look/style.h"

#include <QMenu>
#include <QPushButton>

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::ui {
namespace {

using widgets::LineChart;
using widgets::SeriesForm;

SeriesForm form_of(const CurveRun& run, const CurveMetric& metric) {
    switch (run.kind) {
    case CurveRun::Kind::Current: return metric.noisy ? SeriesForm::Smoothed : SeriesForm::Plain;
    case CurveRun::Kind::Prefix: return SeriesForm::Inherited;
    case CurveRun::Kind::Overlay: break;
    }
    return SeriesForm::Thin;
}

Qt::PenStyle dash_of(const CurveRun& run) {
    return run.kind == CurveRun::Kind::Overlay ? widgets::seriesDash(run.dash) : Qt::SolidLine;
}

} // namespace

ChartCell::ChartCell(CurveRuns& runs, const QString& metric, QWidget* parent)
    : ChartFrame(parent), runs_(runs), metric_(curveMetric(runs.shown(), metric)) {
    setHead(createTitle());
    close_ = addTool("chartRemove", "close", tr("Remove this chart"));
    connect(close_, &QPushButton::clicked, this, &ChartCell::removeRequested);
    connect(&runs_, &CurveRuns::added, this, &ChartCell::addRun);
    connect(&runs_, &CurveRuns::aboutToBeRemoved, this, &ChartCell::removeRun);
    connect(&runs_, &CurveRuns::looksChanged, this, &ChartCell::updateLooks);
    connect(&runs_, &CurveRuns::reset, this, [this](int id) {
        runs_.find(id)->kind == CurveRun::Kind::Current ? rebuild() : readRun(id);
    });
    connect(&runs_, &CurveRuns::stepsAppended, this, &ChartCell::extendRun);
    connect(&runs_, &CurveRuns::marksChanged, this, [this](int id) {
        const CurveRun& run = *runs_.find(id);
        updateEvaluations(run);
        if (run.kind == CurveRun::Kind::Current) {
            updateMarks();
        }
    });
    connect(chart(), &LineChart::flagClicked, this, [this](int index) {
        emit checkpointRequested(runs_.shown().checkpoints()[static_cast<std::size_t>(index)].step);
    });
    rebuild();
}

QWidget* ChartCell::createTitle() {
    title_ = new QPushButton;
    title_->setObjectName("chartMetric");
    title_->setToolTip(tr("What this chart shows"));
    widgets::setButtonKind(title_, widgets::ButtonKind::Flat);
    widgets::setCompact(title_);
    metric_menu_ = new QMenu(title_);
    connect(metric_menu_, &QMenu::aboutToShow, this, &ChartCell::fillMetricMenu);
    title_->setMenu(metric_menu_);
    return title_;
}

void ChartCell::fillMetricMenu() {
    metric_menu_->clear();
    for (const CurveMetric& metric : curveMetrics(runs_.shown())) {
        QAction* action = metric_menu_->addAction(widgets::menuText(metric.title), this,
                                                  [this, id = metric.id] { setMetric(id); });
        action->setCheckable(true);
        action->setChecked(metric.id == metric_.id);
    }
}

void ChartCell::fillMenu(QMenu* menu) {
    const auto& saved = runs_.shown().checkpoints();
    const auto at = chart()->crosshair();
    if (at && !saved.empty()) {
        const auto distance = [&](const train::CheckpointEvent& checkpoint) {
            const double step = static_cast<double>(checkpoint.step);
            return std::abs(xOfStep(runs_.shown(), axis_, step).value_or(INFINITY) - *at);
        };
        const auto nearest =
            std::min_element(saved.begin(), saved.end(), [&](const auto& a, const auto& b) {
                return distance(a) < distance(b);
            });
        menu->addSeparator();
        menu->addAction(widgets::icon("checkpoint"),
                        tr("Show the checkpoint of step %1").arg(formatCount(nearest->step)), this,
                        [this, step = nearest->step] { emit checkpointRequested(step); });
    }
    ChartFrame::fillMenu(menu);
    if (!isFullScreen()) {
        menu->addAction(widgets::icon("close"), tr("Remove this chart"), this,
                        &ChartCell::removeRequested)
            ->setEnabled(close_->isEnabled());
    }
}

void ChartCell::setMetric(const QString& id) {
    if (id != metric_.id) {
        metric_ = curveMetric(runs_.shown(), id);
        chart()->clearContent();
        fill();
        emit metricChanged();
    }
}

void ChartCell::setXAxis(XAxis axis) {
    if (axis != axis_) {
        axis_ = axis;
        rebuild();
    }
}

void ChartCell::setSpan(ChartSpan span) {
    span_ = span;
    updateMarks();
}

void ChartCell::setTakenBackShown(bool shown) {
    taken_back_shown_ = shown;
    for (const auto& [id, drawn] : drawn_) {
        for (const int series : drawn.taken_back) {
            chart()->setSeriesVisible(series, shown && runs_.find(id)->visible);
        }
    }
}

bool ChartCell::hasTakenBack() const {
    return std::any_of(drawn_.begin(), drawn_.end(),
                       [](const auto& entry) { return !entry.second.taken_back.empty(); });
}

void ChartCell::setAlone(bool alone) {
    close_->setEnabled(!alone);
    close_->setToolTip(alone ? tr("The last chart stays") : tr("Remove this chart"));
}

void ChartCell::setOnTop(bool on_top) {
    if (std::exchange(on_top_, on_top) != on_top) {
        updateTicks();
    }
}

// Before a run began there is no time and no step of its own.
bool ChartCell::isShownOnAxis(const CurveRun& run) const {
    return run.kind != CurveRun::Kind::Prefix ||
           (axis_ != XAxis::Seconds && axis_ != XAxis::RelativeStep);
}

void ChartCell::rebuild() {
    chart()->clearAll();
    fill();
}

void ChartCell::fill() {
    drawn_.clear();
    showAxis(axis_, metric_.title.toLower());
    setExportName(runs_.shown().name() + QLatin1Char('-') + metric_.id);
    title_->setText(metric_.title);
    title_->setAccessibleName(tr("%1: choose what this chart shows").arg(metric_.title));
    chart()->setAccessibleName(metric_.title);
    for (const auto& run : runs_.runs()) {
        addRun(run->id);
    }
    updateMarks();
}

void ChartCell::addRun(int id) {
    const CurveRun& run = *runs_.find(id);
    Drawn& drawn = drawn_[id];
    drawn.feed = std::make_unique<SliceFeed>();
    connect(drawn.feed.get(), &SliceFeed::slice, this,
            [this, id](std::size_t first, std::size_t count) { appendSlice(id, first, count); });
    const bool visible = run.visible && isShownOnAxis(run);
    // A prefix continues into the run on screen, in the same row of the table.
    const QString group =
        run.kind == CurveRun::Kind::Prefix ? runs_.shown().name() : runs_.label(run);
    drawn.steps = chart()->addSeries({toQString(metric_.step_metric), group, run.color,
                                      form_of(run, metric_), dash_of(run), visible, metric_.noisy});
    drawn.evaluations = chart()->addSeries(
        {toQString(metric_.evaluation_metric), group, run.color,
         run.kind == CurveRun::Kind::Overlay ? SeriesForm::Noted : SeriesForm::Markers,
         dash_of(run), visible, false});
    readRun(id);
    updateOverlay();
}

void ChartCell::removeRun(int id) {
    const auto found = drawn_.find(id);
    if (found == drawn_.end()) {
        return;
    }
    chart()->removeSeries(found->second.steps);
    chart()->removeSeries(found->second.evaluations);
    for (const int series : found->second.taken_back) {
        chart()->removeSeries(series);
    }
    drawn_.erase(found);
    updateOverlay();
}

void ChartCell::readRun(int id) {
    const auto found = drawn_.find(id);
    if (found == drawn_.end()) {
        return;
    }
    const CurveRun& run = *runs_.find(id);
    Drawn& drawn = found->second;
    chart()->clearSeries(drawn.steps);
    for (const int series : drawn.taken_back) {
        chart()->removeSeries(series);
    }
    drawn.taken_back.clear();
    addTakenBack(run, drawn);
    drawn.feed->restart();
    extendRun(id);
    updateEvaluations(run);
}

void ChartCell::extendRun(int id) {
    const auto found = drawn_.find(id);
    if (found != drawn_.end()) {
        found->second.feed->extendTo(pointCount(runs_.find(id)->model().steps(), metric_));
    }
}

void ChartCell::appendSlice(int id, std::size_t first, std::size_t count) {
    const CurveRun& run = *runs_.find(id);
    readPoints(run.model().steps(), metric_, axis_, baseStep(run.model()), first, count, run.until,
               x_, y_);
    chart()->append(drawn_.at(id).steps, x_, y_);
}

void ChartCell::updateLooks(int id) {
    const auto found = drawn_.find(id);
    if (found == drawn_.end()) {
        return;
    }
    const CurveRun& run = *runs_.find(id);
    const bool visible = run.visible && isShownOnAxis(run);
    for (const int series : {found->second.steps, found->second.evaluations}) {
        chart()->setSeriesLook(series, run.color, dash_of(run));
        chart()->setSeriesVisible(series, visible);
    }
    for (const int series : found->second.taken_back) {
        chart()->setSeriesVisible(series, taken_back_shown_ && visible);
    }
    if (run.kind == CurveRun::Kind::Current) {
        updateMarks();
    }
    updateOverlay();
}

void ChartCell::updateOverlay() {
    const bool blank = std::none_of(drawn_.begin(), drawn_.end(), [this](const auto& one) {
        const CurveRun& run = *runs_.find(one.first);
        return run.visible && isShownOnAxis(run);
    });
    chart()->setOverlayText(blank ? tr("Every run is hidden") : QString(),
                            blank ? tr("Show one by its eye in the list of runs") : QString());
}

// What steps do not say, evaluations draw: then as the run's own line.
void ChartCell::updateEvaluations(const CurveRun& run) {
    const auto found = drawn_.find(run.id);
    if (found == drawn_.end()) {
        return;
    }
    const int series = found->second.evaluations;
    readEvaluations(run.model(), metric_, axis_, run.until, x_, y_);
    addDivergence(run.model());
    chart()->clearSeries(series);
    chart()->append(series, x_, y_);
    if (run.kind == CurveRun::Kind::Overlay) {
        chart()->setSeriesForm(series, pointCount(run.model().steps(), metric_) > 0
                                           ? SeriesForm::Noted
                                           : SeriesForm::Thin);
    }
}

// The update whose loss was not finite was not done: no step says it.
void ChartCell::addDivergence(const RunModel& run) {
    const bool diverged = run.failure() && run.failure()->kind == "diverged";
    const auto last = xOfStep(run, axis_, static_cast<double>(run.step()));
    if (diverged && last && metric_.id == "loss") {
        x_.push_back(*last);
        y_.push_back(std::nan(""));
    }
}

void ChartCell::addTakenBack(const CurveRun& run, Drawn& drawn) {
    if (run.kind != CurveRun::Kind::Current) {
        return;
    }
    const double base = baseStep(run.model());
    for (const StepSeries& lost : run.model().abandoned()) {
        const int series = chart()->addSeries(
            {tr("%1, taken back").arg(toQString(metric_.step_metric)), tr("taken back"), run.color,
             SeriesForm::Abandoned, Qt::SolidLine, taken_back_shown_, metric_.noisy});
        readPoints(lost, metric_, axis_, base, 0, pointCount(lost, metric_), INFINITY, x_, y_);
        chart()->append(series, x_, y_);
        drawn.taken_back.push_back(series);
    }
    emit takenBackChanged();
}

bool ChartCell::isRunHidden() const {
    const CurveRun* own = runs_.find(runs_.shown().folder());
    return own != nullptr && !own->visible;
}

void ChartCell::updateMarks() {
    const auto clip = runs_.shown().config().max_grad_norm;
    const bool norm = metric_.id == QLatin1String("grad_norm") && clip && !isRunHidden();
    chart()->setThreshold(norm ? clip : std::nullopt,
                          norm ? tr("clipped above %1").arg(*clip) : QString());
    show_marks(*chart(), runs_.shown(), metric_, axis_, span_);
    if (isRunHidden()) {
        hide_marks(*chart());
    }
    updateTicks();
}

void ChartCell::updateTicks() {
    const bool named = hasRoomForTable() && (on_top_ || isFullScreen()) && !isRunHidden();
    show_epochs(*chart(), runs_.shown(), axis_, named);
}

void ChartCell::roomChanged() {
    close_->setVisible(!isFullScreen());
    updateTicks();
}

} // namespace weft::ui
