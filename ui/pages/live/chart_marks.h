// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in a chart beside the curves: the best evaluation, checkpoints, resumes, the fork,
// what is planned, where epochs begin.
#pragma once

#include "ui/bridge/run/curve_metric.h"

#include <cstdint>

namespace weft::widgets {
class LineChart;
}

namespace weft::ui {

/// What the x axis reaches to.
enum class ChartSpan : std::uint8_t { Trained, WholeRun };

/// Flags stand in the order of RunModel::checkpoints().
void show_marks(widgets::LineChart& chart, const RunModel& run, const CurveMetric& metric,
                XAxis axis, ChartSpan span);
/// For a run whose lines are hidden: nothing of it stays over the others.
void hide_marks(widgets::LineChart& chart);
/// Epochs above the plot, on the axis of steps and where there is `room`.
void show_epochs(widgets::LineChart& chart, const RunModel& run, XAxis axis, bool room);

} // namespace weft::ui
