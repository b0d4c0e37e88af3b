// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/pipeline_chart.h"

#include "core/base/text.h"
#include "core/pipeline/schedule_list.h"
#include "core/pipeline/schedule_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <set>

namespace weft::ui {
namespace {

constexpr int kMostStages = 4;
constexpr int kMicrobatches = 8;

widgets::GanttKind ganttKind(pipeline::ActionKind kind) {
    switch (kind) {
    case pipeline::ActionKind::forward: return widgets::GanttKind::Forward;
    case pipeline::ActionKind::backward: return widgets::GanttKind::Backward;
    case pipeline::ActionKind::input_grad: return widgets::GanttKind::InputGradient;
    case pipeline::ActionKind::weight_grad: return widgets::GanttKind::WeightGradient;
    }
    return widgets::GanttKind::Forward;
}

widgets::GanttCell actionCell(const pipeline::Action& action, double start, double end) {
    return {ganttKind(action.kind), action.microbatch, action.chunk, start, end};
}

/// Layers of the model, as parameters are named: "blocks.3.mlp.up.weight" is of "blocks.3".
int layerCount(const plan::ExecutionPlan& plan) {
    std::set<std::string> layers;
    for (const plan::StateSlot& slot : plan.state_slots) {
        if (slot.category != plan::Category::parameters) {
            continue;
        }
        std::string layer;
        for (const std::string& part : split(slot.name, '.')) {
            layer += part + '.';
            if (!part.empty() && part.find_first_not_of("0123456789") == std::string::npos) {
                layers.insert(layer);
                break;
            }
        }
    }
    return static_cast<int>(layers.size());
}

} // namespace

pipeline::Schedule scheduleOf(const plan::Pipeline& pipeline) {
    std::string text = "schedule " + pipeline.schedule + "\nmicrobatches " +
                       std::to_string(pipeline.microbatches) + "\nchunks " +
                       std::to_string(pipeline.chunks) + "\n";
    for (std::size_t stage = 0; stage < pipeline.actions.size(); ++stage) {
        text += "stage " + std::to_string(stage) + ": " + join(pipeline.actions[stage], " ") + "\n";
    }
    return pipeline::parse_schedule(text, "plan");
}

PipelineChart predictedChart(const plan::Pipeline& pipeline, const pipeline::Schedule& schedule) {
    PipelineChart out;
    out.data.chunks = pipeline.chunks;
    out.data.unit = QCoreApplication::translate("PipelineChart", "ms");
    out.bubbles = pipeline.bubble_fraction;
    for (std::size_t stage = 0; stage < pipeline.times.size(); ++stage) {
        widgets::GanttRow& row = out.data.rows.emplace_back();
        for (std::size_t i = 0; i < pipeline.times[stage].size(); ++i) { // in order, as the actions
            const plan::ActionTime& time = pipeline.times[stage][i];
            row.cells.push_back(
                actionCell(schedule.stage_actions[stage][i], time.start_ms, time.end_ms));
        }
    }
    return out;
}

std::optional<PipelineChart> measuredChart(const train::DevicesEvent& told,
                                           const plan::Pipeline& pipeline,
                                           const pipeline::Schedule& schedule) {
    const auto same = [](const std::vector<train::DevicesEvent::Action>& ran,
                         const std::vector<std::string>& planned) {
        return std::equal(ran.begin(), ran.end(), planned.begin(), planned.end(),
                          [](const auto& one, const auto& name) { return one.action == name; });
    };
    if (!std::equal(told.stages.begin(), told.stages.end(), pipeline.actions.begin(),
                    pipeline.actions.end(), same)) {
        return std::nullopt;
    }
    PipelineChart out;
    out.data.chunks = pipeline.chunks;
    out.data.unit = QCoreApplication::translate("PipelineChart", "ms");
    double busy_ms = 0;
    double end_ms = 0;
    for (std::size_t stage = 0; stage < told.stages.size(); ++stage) {
        widgets::GanttRow& row = out.data.rows.emplace_back();
        for (std::size_t i = 0; i < told.stages[stage].size(); ++i) {
            const train::DevicesEvent::Action& ran = told.stages[stage][i];
            row.cells.push_back(
                actionCell(schedule.stage_actions[stage][i], ran.start_ms, ran.end_ms));
            busy_ms += ran.end_ms - ran.start_ms;
            end_ms = std::max(end_ms, ran.end_ms);
            if (!pipeline.times.empty()) {
                const plan::ActionTime& planned = pipeline.times[stage][i];
                row.planned.emplace_back(planned.start_ms, planned.end_ms);
            }
        }
    }
    out.bubbles = end_ms > 0 ? 1 - busy_ms / (end_ms * static_cast<double>(told.stages.size())) : 0;
    return out;
}

PipelineChart evenChart(const pipeline::Schedule& schedule, const EvenCost& cost) {
    const pipeline::PartCost forwards{1.0, static_cast<double>(cost.input_grad) / cost.forward,
                                      static_cast<double>(cost.weight_grad) / cost.forward};
    const pipeline::Timeline timeline =
        pipeline::simulate(schedule, pipeline::Costs::even(schedule, forwards));
    PipelineChart out;
    out.data.chunks = schedule.chunks;
    out.data.unit = QCoreApplication::translate("PipelineChart", "forwards");
    out.bubbles = timeline.bubble_of_total;
    for (const std::vector<pipeline::Cell>& stage : timeline.stages) {
        widgets::GanttRow& row = out.data.rows.emplace_back();
        for (const pipeline::Cell& one : stage) {
            row.cells.push_back(actionCell(one.action, one.start_ms, one.end_ms));
        }
    }
    return out;
}

std::optional<pipeline::Schedule> possibleSchedule(const plan::ExecutionPlan& plan) {
    const int layers = layerCount(plan);
    const std::int64_t devices = plan.mesh.devices();
    int stages = std::min(kMostStages, layers);
    while (stages > 1 && devices > 1 && devices % stages != 0) {
        --stages;
    }
    if (stages < 2) {
        return std::nullopt;
    }
    return pipeline::make_schedule("1f1b", stages, kMicrobatches);
}

double chartTime(const widgets::GanttData& chart, const SchedulePlace& place) {
    if (place.stage < 0 || place.stage >= static_cast<int>(chart.rows.size())) {
        return 0;
    }
    double makespan = 0;
    for (const widgets::GanttRow& row : chart.rows) {
        makespan = std::max(makespan, row.cells.empty() ? 0 : row.cells.back().end);
    }
    const auto& cells = chart.rows[static_cast<std::size_t>(place.stage)].cells;
    const auto cell = [&](int index) { return cells.begin() + index; };
    const int count = static_cast<int>(cells.size());
    const int action = std::min(place.action, count - 1);
    double from = action < 0 ? 0 : cell(action)->end;
    double to = action + 1 < count ? cell(action + 1)->start : makespan;
    if (place.runs && action >= 0) {
        from = cell(action)->start;
        to = cell(action)->end;
    }
    return from + (to - from) * place.share;
}

} // namespace weft::ui
