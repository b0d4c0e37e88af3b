// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/train/chart_marks.h"

#include "ui/bridge/convert.h"
#include "widgets/line_chart.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

constexpr int kMostEpochTicks = 200;

class ChartMarksText {
    Q_DECLARE_TR_FUNCTIONS(ChartMarks)
};

} // namespace

void show_marks(widgets::LineChart& chart, const RunModel& run, const CurveMetric& metric,
                XAxis axis) {
    const bool smaller = metric.evaluation_metric.ends_with("loss");
    const auto best = metric.evaluation_metric.empty()
                          ? std::nullopt
                          : run.bestMetric({metric.evaluation_metric, smaller});
    const auto best_x = best ? xOfEvaluation(run, axis, best->step) : std::nullopt;
    chart.setBest(best_x, best ? best->value : 0,
                  best ? ChartMarksText::tr("best %1").arg(formatMetric(best->value)) : QString());
    const double best_step = best ? best->step : -1;
    std::vector<widgets::ChartFlag> flags;
    for (const train::CheckpointEvent& saved : run.checkpoints()) {
        const double step = static_cast<double>(saved.step);
        const bool kept = run.isKept(saved.step);
        const QString what =
            kept ? ChartMarksText::tr("checkpoint at step %1")
                 : ChartMarksText::tr("the checkpoint at step %1 was removed since");
        flags.push_back({xOfStep(run, axis, step).value_or(-INFINITY), kept,
                         kept && best_step == step, what.arg(formatCount(saved.step))});
    }
    chart.setFlags(std::move(flags));
    std::vector<widgets::ChartEvent> events;
    for (const std::int64_t step : run.resumes()) {
        if (const auto at = xOfStep(run, axis, static_cast<double>(step))) {
            events.push_back({*at, ChartMarksText::tr("resumed")});
        }
    }
    if (run.origin() && axis == XAxis::Step) {
        events.push_back({run.origin()->step,
                          ChartMarksText::tr("forked from %1").arg(runTitle(run.origin()->run))});
    }
    chart.setEvents(std::move(events));
    const double steps = static_cast<double>(run.totalSteps());
    // Where the end is not known, what is done so far: charts below each other begin and end at one
    // place, though evaluations come before the first step and after the last.
    const double planned = axis == XAxis::Step           ? steps
                           : axis == XAxis::RelativeStep ? steps - baseStep(run)
                           : axis == XAxis::Epoch        ? run.lastStep().epoch
                           : axis == XAxis::Seconds
                               ? std::max(run.totalSeconds(), run.secondsTrained())
                               : 0;
    chart.setPlannedRange(planned > 0 ? std::optional(widgets::ChartRange{0, planned})
                                      : std::nullopt);
}

void hide_marks(widgets::LineChart& chart) {
    chart.setBest(std::nullopt);
    chart.setFlags({});
    chart.setEvents({});
}

void show_epochs(widgets::LineChart& chart, const RunModel& run, XAxis axis, bool room) {
    std::vector<widgets::ChartTick> ticks;
    const StepSeries& steps = run.steps();
    if (axis == XAxis::Step && !steps.epoch.empty() && room &&
        steps.epoch.back() < kMostEpochTicks) {
        for (int epoch = static_cast<int>(steps.epoch.front()) + 1; epoch <= steps.epoch.back();
             ++epoch) {
            const auto at = std::lower_bound(steps.epoch.begin(), steps.epoch.end(), epoch);
            ticks.push_back({steps.step[static_cast<std::size_t>(at - steps.epoch.begin())],
                             ChartMarksText::tr("epoch %1").arg(epoch)});
        }
    }
    chart.setTopTicks(std::move(ticks));
}

} // namespace weft::ui
