// SPDX-License-Identifier: GPL-3.0-or-later
// What of a run can be drawn as a curve, and over what: columns of a run model as points of a
// chart.
#pragma once

#include "ui/bridge/run/run_model.h"

#include <QString>

#include <span>
#include <string>
#include <vector>

namespace weft::ui {

/// What the x axis counts.
enum class XAxis : std::uint8_t {
    Step,
    Epoch,
    Seconds,      // trained
    Wall,         // of the clock
    RelativeStep, // since the run began: not its first step where it is a fork
};

/// Something to draw: a number that steps say, one that evaluations say, or both together.
struct CurveMetric {
    QString id;                    // "loss"; also names it in settings
    QString title;                 // "Loss"
    std::string step_metric;       // train::Metrics name, or one of the fixed columns; may be empty
    std::string evaluation_metric; // "validation/loss"; may be empty
    bool noisy = true;             // smoothed, with the raw line under it
};

/// Those that every run says, then every other metric of this run.
std::vector<CurveMetric> curveMetrics(const RunModel& run);
/// The metric of this id, also before the run has said it.
CurveMetric curveMetric(const RunModel& run, const QString& id);

/// The run has a configuration that says what it does: neither none nor another program's.
bool isConfigured(const RunModel& run);
/// Whether the run says this metric, or will.
bool says(const RunModel& run, const CurveMetric& metric);
/// Whether the run tells classes apart, as far as its configuration says it.
bool hasClasses(const RunModel& run);

/// How many points the steps have of a metric.
std::size_t pointCount(const StepSeries& steps, const CurveMetric& metric);
/// Points [first, first + count) with steps up to `until`. `x` and `y` are written anew.
void readPoints(const StepSeries& steps, const CurveMetric& metric, XAxis axis, double base_step,
                std::size_t first, std::size_t count, double until, std::vector<double>& x,
                std::vector<double>& y);
/// Those of evaluations.
void readEvaluations(const RunModel& run, const CurveMetric& metric, XAxis axis, double until,
                     std::vector<double>& x, std::vector<double>& y);

/// The step that relative steps count from.
double baseStep(const RunModel& run);
/// Where a step lies on an axis; nothing where the run has not done it.
std::optional<double> xOfStep(const RunModel& run, XAxis axis, double step);
/// Where the evaluation of a step lies: on axes of time, later than the step.
std::optional<double> xOfEvaluation(const RunModel& run, XAxis axis, double step);

} // namespace weft::ui
