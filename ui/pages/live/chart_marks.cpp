// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/chart_marks.h"

#include "core/compile/config/metric_facts.h"
#include "ui/bridge/convert.h"
#include "widgets/curves/line_chart.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

constexpr int kMostEpochTicks = 200;

class ChartMarksText {
    Q_DECLARE_TR_FUNCTIONS(ChartMarks)
};

QString cadenceWords(const config::Json& value) {
    if (!value.is_object() || value.size() != 1 || !value.begin()->is_number()) {
        return ChartMarksText::tr("never");
    }
    return ChartMarksText::tr("%1 %2").arg(formatMetric(value.begin()->get<double>()),
                                           toQString(value.begin().key()));
}

/// What a setting that was changed is from there on: "rate × 0.5".
QString settingWords(const train::SettingsEvent& changed) {
    const config::Json& value = changed.value;
    if (changed.path == "learning_rate_multiplier" && value.is_number()) {
        return ChartMarksText::tr("rate × %1").arg(formatMetric(value.get<double>()));
    }
    if (changed.path == "frozen" && value.is_array()) {
        return value.empty() ? ChartMarksText::tr("all thawed")
                             : ChartMarksText::tr("%n frozen", nullptr, int(value.size()));
    }
    if (changed.path == "evaluation.every") {
        return ChartMarksText::tr("evaluated every %1").arg(cadenceWords(value));
    }
    if (changed.path == "checkpoint.every") {
        return ChartMarksText::tr("saved every %1").arg(cadenceWords(value));
    }
    if (changed.path == "training.length") {
        return ChartMarksText::tr("length %1").arg(cadenceWords(value));
    }
    return changed.path == "extend" && value.is_number()
               ? ChartMarksText::tr("%1 steps more").arg(formatCount(value.get<qint64>()))
               : toQString(changed.path);
}

/// Where the axis ends that begins at 0. Charts below each other end at one place, though
/// evaluations come before the first step and after the last.
double reach_of(const RunModel& run, XAxis axis, ChartSpan span) {
    const double done = static_cast<double>(run.step());
    const double steps = static_cast<double>(run.totalSteps());
    const bool whole = span == ChartSpan::WholeRun && steps > done;
    switch (axis) {
    case XAxis::Step: return whole ? steps : done;
    case XAxis::RelativeStep: return (whole ? steps : done) - baseStep(run);
    case XAxis::Epoch: {
        const double epoch = run.lastStep().epoch;
        return whole && done > 0 ? epoch * steps / done : epoch;
    }
    case XAxis::Seconds: {
        const double seconds = run.secondsTrained();
        return span == ChartSpan::WholeRun ? std::max(run.totalSeconds(), seconds) : seconds;
    }
    case XAxis::Wall: break;
    }
    return 0;
}

} // namespace

void show_marks(widgets::LineChart& chart, const RunModel& run, const CurveMetric& metric,
                XAxis axis, ChartSpan span) {
    auto best = metric.evaluation_metric.empty()
                    ? std::nullopt
                    : run.bestMetric({metric.evaluation_metric,
                                      !compile::higher_is_better(metric.evaluation_metric)});
    if (best && best->step <= 0) {
        best.reset(); // nothing was learnt by then
    }
    const auto best_x = best ? xOfEvaluation(run, axis, best->step) : std::nullopt;
    chart.setBest(best_x, best ? best->value : 0,
                  best ? ChartMarksText::tr("best %1 %2")
                             .arg(metricWords(metric.evaluation_metric), formatMetric(best->value))
                       : QString());
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
    for (const train::SettingsEvent& changed : run.settings()) {
        if (const auto at = xOfStep(run, axis, static_cast<double>(changed.step))) {
            events.push_back({*at, settingWords(changed)});
        }
    }
    if (run.origin() && axis == XAxis::Step) {
        events.push_back({run.origin()->step,
                          ChartMarksText::tr("forked from %1").arg(runTitle(run.origin()->run))});
    }
    chart.setEvents(std::move(events));
    const double reach = reach_of(run, axis, span);
    chart.setPlannedRange(reach > 0 ? std::optional(widgets::ChartRange{0, reach}) : std::nullopt);
}

void hide_marks(widgets::LineChart& chart) {
    chart.setBest(std::nullopt);
    chart.setFlags({});
    chart.setEvents({});
    chart.setPlannedRange(std::nullopt);
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
