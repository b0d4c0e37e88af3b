// SPDX-License-Identifier: Apache-2.0
// The pipeline on the page of `weft plan`: who holds which layers, and who does what when.
#include "core/base/text.h"
#include "core/plan/sections.h"

#include <algorithm>
#include <cmath>

namespace weft::plan {
namespace {

constexpr std::size_t kMostStages = 16;
constexpr std::size_t kIndent = 4;

/// A line of the chart: what the stage does in the middle of each column; the number of a
/// microbatch where its cell has room.
std::string chart_line(const std::vector<ActionTime>& times, double end_ms, std::size_t columns) {
    std::string out(columns, '.');
    const double width_ms = end_ms / static_cast<double>(columns);
    for (const ActionTime& time : times) {
        const auto first =
            static_cast<std::size_t>(std::max(0.0, std::ceil(time.start_ms / width_ms - 0.5)));
        std::size_t last = first; // behind the cell
        while (last < columns && (static_cast<double>(last) + 0.5) * width_ms < time.end_ms) {
            ++last;
        }
        const bool named = time.action.size() < last - first;
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t at = i - first;
            out[i] = !named ? time.action.front() : at < time.action.size() ? time.action[at] : ' ';
        }
    }
    return out;
}

void write_chart(Page& page, const Pipeline& pipeline) {
    double end_ms = 0;
    for (const auto& stage : pipeline.times) {
        end_ms = stage.empty() ? end_ms : std::max(end_ms, stage.back().end_ms);
    }
    const std::size_t shown = std::min(kMostStages, pipeline.times.size());
    for (std::size_t stage = 0; stage < shown && end_ms > 0; ++stage) {
        page.line("  " + right(std::to_string(stage), 3) + " " +
                  chart_line(pipeline.times[stage], end_ms, page.columns() - kIndent - 3));
    }
}

} // namespace

void write_pipeline(Page& page, const ExecutionPlan& plan) {
    if (!plan.pipeline) {
        return;
    }
    const Pipeline& pipeline = *plan.pipeline;
    page.heading(
        "Pipeline",
        pipeline.schedule + " of " + std::to_string(pipeline.stages) + " stages" +
            (pipeline.chunks > 1 ? " x " + std::to_string(pipeline.chunks) + " chunks" : "") +
            " and " + std::to_string(pipeline.microbatches) +
            (pipeline.microbatches == 1 ? " microbatch" : " microbatches"));
    page.row("bubble", fixed(100 * pipeline.bubble_fraction, 1) + " %",
             pipeline.times.empty()
                 ? "of the step, if stages were even and a backward took two forwards"
                 : "of the step as predicted; " + fixed(100 * pipeline.even_bubble_fraction, 1) +
                       " % with even stages");
    for (std::size_t stage = 0; stage < std::min(kMostStages, plan.stages.size()); ++stage) {
        page.row("stage " + std::to_string(stage), format_bytes(plan.stages[stage].arena_bytes),
                 plan.stages[stage].layers);
    }
    if (plan.stages.size() > kMostStages) {
        page.line("  and " + std::to_string(plan.stages.size() - kMostStages) +
                  " more stages: --json");
    }
    write_chart(page, pipeline);
}

} // namespace weft::plan
