// SPDX-License-Identifier: GPL-3.0-or-later
// A planned pipeline, or the one that a plan could have, as rows of cells for the chart. Pure
// functions; any thread.
#pragma once

#include "core/pipeline/simulate.h"
#include "core/plan/plan.h"
#include "core/train/record/event.h"
#include "ui/bridge/plan/step_clock.h"
#include "widgets/mesh/gantt_view.h"

#include <optional>

namespace weft::ui {

/// What the halves of a backward cost in forwards, for stages that are all alike.
struct EvenCost {
    int forward = 1;
    int input_grad = 1;
    int weight_grad = 1;
    friend bool operator==(const EvenCost&, const EvenCost&) = default;
};

struct PipelineChart {
    widgets::GanttData data;
    double bubbles = 0; // of all the time, 0 to 1
};

/// The schedule of a plan's pipeline.
pipeline::Schedule scheduleOf(const plan::Pipeline& pipeline);
/// As the actions of its schedule are predicted to run, in ms; `pipeline.times` is not empty.
PipelineChart predictedChart(const plan::Pipeline& pipeline, const pipeline::Schedule& schedule);
/// As the actions of the schedule ran in a step of a run, in ms, with the plan's times below them.
/// None: that run has another pipeline.
std::optional<PipelineChart> measuredChart(const train::DevicesEvent& told,
                                           const plan::Pipeline& pipeline,
                                           const pipeline::Schedule& schedule);
/// Of stages that are all alike; times in forwards of a stage.
PipelineChart evenChart(const pipeline::Schedule& schedule, const EvenCost& cost);
/// The 1f1b pipeline that a plan without one could have: as many stages as its layers and devices
/// allow, at most four, and eight microbatches. None: there are not two layers to part.
std::optional<pipeline::Schedule> possibleSchedule(const plan::ExecutionPlan& plan);

/// Where a place in the plan's schedule lies on a chart of it, whatever its times.
double chartTime(const widgets::GanttData& chart, const SchedulePlace& place);

} // namespace weft::ui
