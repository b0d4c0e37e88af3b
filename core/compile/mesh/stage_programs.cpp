// SPDX-License-Identifier: Apache-2.0
#include "core/compile/mesh/stage_programs.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/pipeline/simulate.h"
#include "core/stages/separate_sums.h"

#include <algorithm>
#include <numeric>

namespace weft::compile {
namespace {

stages::StageMap make_map(const StageChoice& choice, const ir::Program& forward) {
    const stages::LayerList list = stages::list_layers(forward);
    const auto layers = static_cast<int>(list.layers.size());
    const int parts = choice.schedule.parts();
    const std::string where = "/mesh/pipeline/stages";
    if (layers < parts) {
        throw Error(ErrorKind::usage, where,
                    "the model has " + std::to_string(layers) + " layers for " +
                        std::to_string(parts) + " parts of a pipeline",
                    "Use fewer stages, or fewer chunks of each.");
    }
    if (choice.layers.empty()) {
        return {list, stages::balance(list.layers, parts)};
    }
    const int spread = std::accumulate(choice.layers.begin(), choice.layers.end(), 0);
    if (spread != layers) {
        throw Error(ErrorKind::usage, where,
                    "it spreads " + std::to_string(spread) + " layers, and the model has " +
                        std::to_string(layers) + ", " + list.layers.front().path + " to " +
                        list.layers.back().path,
                    "Give numbers that add up to " + std::to_string(layers) +
                        ", or leave them out.");
    }
    return {list, choice.layers};
}

/// What one part costs per microbatch, from the predicted times of its actions.
class PartCosts {
public:
    PartCosts(const plan::ExecutionPlan& plan, const pipeline::Schedule& schedule)
        : schedule_(schedule), costs_(static_cast<std::size_t>(schedule.parts())) {
        for (const plan::PlannedProgram& program : plan.programs) {
            if (program.name == "train_step") {
                add(program);
            }
        }
    }

    pipeline::Costs costs() const {
        pipeline::Costs out;
        for (const Sums& sums : costs_) {
            const double n = schedule_.microbatches;
            out.parts.push_back({sums.forward / n, sums.input_grad / n, sums.weight_grad / n});
        }
        return out;
    }
    /// Of the slowest stage: what it does before and behind the schedule.
    double around_ms() const { return around_; }

private:
    struct Sums {
        double forward = 0;
        double input_grad = 0; // or the whole backward
        double weight_grad = 0;
    };

    void add(const plan::PlannedProgram& program) {
        double around = 0;
        for (const plan::Step& step : program.steps) {
            const std::string& action = step.op.action;
            if (action.empty()) {
                around += step.predicted_ms;
                continue;
            }
            const std::size_t dot = action.find('.');
            const int chunk = dot == std::string::npos ? 0 : std::stoi(action.substr(dot + 1));
            Sums& sums = costs_[static_cast<std::size_t>(schedule_.part(program.stage, chunk))];
            switch (action.front()) {
            case 'F': sums.forward += step.predicted_ms; break;
            case 'W': sums.weight_grad += step.predicted_ms; break;
            default: sums.input_grad += step.predicted_ms; break;
            }
        }
        around_ = std::max(around_, around);
    }

    const pipeline::Schedule& schedule_;
    std::vector<Sums> costs_; // [part]
    double around_ = 0;
};

} // namespace

StagePrograms::StagePrograms(const StageChoice& choice, const sharding::Mesh& mesh,
                             const ir::Program& forward)
    : choice_(choice), axis_{mesh.axes[static_cast<std::size_t>(choice.axis)].name,
                             mesh.size(choice.axis)},
      map_(make_map(choice, forward)) {
    WEFT_CHECK(axis_.stages == choice.schedule.stages, "the schedule is made for the axis");
}

int StagePrograms::stage_of(std::string_view path) const {
    return std::max(0, map_.part_of(path)) % stages();
}

void StagePrograms::separate_sums(ir::Program& program) const {
    stages::separate_sums(program, map_);
}

std::vector<ir::Program> StagePrograms::split(const ir::Program& program) const {
    return stages::split_stages(program, map_, choice_.schedule, axis_);
}

std::string StagePrograms::layers_of(int stage) const {
    std::vector<std::string> chunks;
    for (int chunk = 0; chunk < choice_.schedule.chunks; ++chunk) {
        chunks.push_back(map_.layers_text(choice_.schedule.part(stage, chunk)));
    }
    return join(chunks, ", ");
}

plan::Pipeline StagePrograms::describe() const {
    const pipeline::Schedule& schedule = choice_.schedule;
    plan::Pipeline out;
    out.schedule = schedule.name;
    out.stages = schedule.stages;
    out.chunks = schedule.chunks;
    out.microbatches = schedule.microbatches;
    for (const auto& actions : schedule.stage_actions) {
        auto& row = out.actions.emplace_back();
        for (const pipeline::Action& action : actions) {
            row.push_back(pipeline::to_text(action, schedule.chunks));
        }
    }
    const auto even =
        pipeline::simulate(schedule, pipeline::Costs::even(schedule, {1.0, 1.0, 1.0}));
    out.even_bubble_fraction = out.bubble_fraction = even.bubble_of_total;
    return out;
}

double predict_pipeline(plan::ExecutionPlan& plan, const pipeline::Schedule& schedule) {
    const PartCosts parts(plan, schedule);
    const pipeline::Timeline timeline = pipeline::simulate(schedule, parts.costs());
    plan::Pipeline& out = *plan.pipeline;
    out.bubble_fraction = timeline.bubble_of_total;
    out.times.clear();
    for (const auto& stage : timeline.stages) {
        auto& row = out.times.emplace_back();
        for (const pipeline::Cell& cell : stage) {
            row.push_back(
                {pipeline::to_text(cell.action, schedule.chunks), cell.start_ms, cell.end_ms});
        }
    }
    return timeline.makespan_ms + parts.around_ms();
}

} // namespace weft::compile
