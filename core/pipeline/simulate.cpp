// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/simulate.h"

#include "core/base/check.h"

#include <algorithm>
#include <optional>

namespace weft::pipeline {
namespace {

/// The end of every action by what it is: a backward counts as both of its halves.
class Ends {
public:
    explicit Ends(const Schedule& schedule)
        : parts_(schedule.parts()), microbatches_(schedule.microbatches),
          ends_(std::size_t{3} * static_cast<std::size_t>(parts_) *
                static_cast<std::size_t>(microbatches_)) {}

    const std::optional<double>& at(ActionKind kind, int part, int microbatch) const {
        return ends_[index(kind, part, microbatch)];
    }
    void set(ActionKind kind, int part, int microbatch, double end_ms) {
        if (kind == ActionKind::backward) {
            set(ActionKind::weight_grad, part, microbatch, end_ms);
            kind = ActionKind::input_grad;
        }
        ends_[index(kind, part, microbatch)] = end_ms;
    }

private:
    std::size_t index(ActionKind kind, int part, int microbatch) const {
        WEFT_CHECK(part >= 0 && part < parts_ && microbatch >= 0 && microbatch < microbatches_,
                   "an action of the schedule's chunks and microbatches");
        const int row = kind == ActionKind::forward ? 0 : kind == ActionKind::input_grad ? 1 : 2;
        return static_cast<std::size_t>((std::int64_t{row} * parts_ + part) * microbatches_ +
                                        microbatch);
    }

    int parts_;
    int microbatches_;
    std::vector<std::optional<double>> ends_;
};

/// What an action needs from elsewhere.
struct Need {
    ActionKind kind;
    int part;
    bool sent; // by another stage
};

std::vector<Need> needs_of(const Schedule& schedule, int stage, const Action& action) {
    const int part = schedule.part(stage, action.chunk);
    const bool crosses = schedule.stages > 1;
    std::vector<Need> out;
    if (action.kind == ActionKind::forward) {
        if (part > 0) {
            out.push_back({ActionKind::forward, part - 1, crosses});
        }
        return out;
    }
    if (action.kind == ActionKind::weight_grad) {
        return {{ActionKind::input_grad, part, false}};
    }
    out.push_back({ActionKind::forward, part, false});
    if (part + 1 < schedule.parts()) {
        out.push_back({ActionKind::input_grad, part + 1, crosses});
    }
    return out;
}

double cost_of(const PartCost& cost, ActionKind kind) {
    switch (kind) {
    case ActionKind::forward: return cost.forward_ms;
    case ActionKind::backward: return cost.input_grad_ms + cost.weight_grad_ms;
    case ActionKind::input_grad: return cost.input_grad_ms;
    case ActionKind::weight_grad: return cost.weight_grad_ms;
    }
    return 0.0;
}

/// Goes round the stages, each as far as it can, until none gets any further.
class Run {
public:
    Run(const Schedule& schedule, const Costs& costs)
        : schedule_(schedule), costs_(costs), ends_(schedule),
          next_(schedule.stage_actions.size()) {
        out_.stages.resize(schedule.stage_actions.size());
    }

    Timeline play() {
        for (bool any = true; any;) {
            any = false;
            for (int stage = 0; stage < schedule_.stages; ++stage) {
                while (step(stage)) {
                    any = true;
                }
            }
        }
        for (int stage = 0; stage < schedule_.stages; ++stage) {
            report_wait(stage);
        }
        return std::move(out_);
    }

private:
    const Action* next_action(int stage) const {
        const auto& actions = schedule_.stage_actions[static_cast<std::size_t>(stage)];
        const std::size_t next = next_[static_cast<std::size_t>(stage)];
        return next < actions.size() ? &actions[next] : nullptr;
    }

    /// Runs the stage's next action, if it has one and its inputs come.
    bool step(int stage) {
        const Action* action = next_action(stage);
        if (action == nullptr) {
            return false;
        }
        std::vector<Cell>& cells = out_.stages[static_cast<std::size_t>(stage)];
        double start_ms = cells.empty() ? 0.0 : cells.back().end_ms;
        for (const Need& need : needs_of(schedule_, stage, *action)) {
            const auto& end_ms = ends_.at(need.kind, need.part, action->microbatch);
            if (!end_ms) {
                return false;
            }
            start_ms = std::max(start_ms, *end_ms + (need.sent ? costs_.send_ms : 0.0));
        }
        const int part = schedule_.part(stage, action->chunk);
        const double end_ms =
            start_ms + cost_of(costs_.parts[static_cast<std::size_t>(part)], action->kind);
        cells.push_back({*action, start_ms, end_ms});
        ends_.set(action->kind, part, action->microbatch, end_ms);
        ++next_[static_cast<std::size_t>(stage)];
        return true;
    }

    /// The whole backward where a stage does not split it.
    Action as_planned(int stage, const Action& action) const {
        const Action whole{ActionKind::backward, action.microbatch, action.chunk};
        const auto& actions = schedule_.stage_actions[static_cast<std::size_t>(stage)];
        const bool split = std::ranges::find(actions, whole) == actions.end();
        return action.kind == ActionKind::forward || split ? action : whole;
    }

    void report_wait(int stage) {
        const Action* action = next_action(stage);
        if (action == nullptr) {
            return;
        }
        for (const Need& need : needs_of(schedule_, stage, *action)) {
            if (!ends_.at(need.kind, need.part, action->microbatch)) {
                const int other = need.part % schedule_.stages;
                const Action missing = as_planned(
                    other, {need.kind, action->microbatch, need.part / schedule_.stages});
                out_.deadlock.push_back("stage " + std::to_string(stage) + " waits with " +
                                        to_text(*action, schedule_.chunks) + " for " +
                                        to_text(missing, schedule_.chunks) + " of stage " +
                                        std::to_string(other) + ", which never comes");
            }
        }
    }

    const Schedule& schedule_;
    const Costs& costs_;
    Ends ends_;
    std::vector<std::size_t> next_; // action of each stage
    Timeline out_;
};

/// Most chunk activations that one stage holds at once. What ends when another starts is gone:
/// stages do one thing at a time, in the order of the cells.
int most_in_flight(const std::vector<Cell>& cells) {
    int now = 0;
    int most = 0;
    for (const Cell& cell : cells) {
        if (cell.action.kind == ActionKind::forward) {
            most = std::max(most, ++now);
        } else if (cell.action.kind != ActionKind::input_grad) {
            --now;
        }
    }
    return most;
}

} // namespace

Costs Costs::even(const Schedule& schedule, const PartCost& stage, double send_ms) {
    const double chunks = schedule.chunks;
    const PartCost part{stage.forward_ms / chunks, stage.input_grad_ms / chunks,
                        stage.weight_grad_ms / chunks};
    return {std::vector<PartCost>(static_cast<std::size_t>(schedule.parts()), part), send_ms};
}

Timeline simulate(const Schedule& schedule, const Costs& costs) {
    WEFT_CHECK(static_cast<int>(costs.parts.size()) == schedule.parts(), "one cost per part");
    WEFT_CHECK(static_cast<int>(schedule.stage_actions.size()) == schedule.stages,
               "actions of every stage");
    Timeline out = Run(schedule, costs).play();
    for (const std::vector<Cell>& cells : out.stages) {
        double busy_ms = 0.0;
        for (const Cell& cell : cells) {
            busy_ms += cell.end_ms - cell.start_ms;
            out.makespan_ms = std::max(out.makespan_ms, cell.end_ms);
        }
        out.busy_ms.push_back(busy_ms);
        out.ideal_ms = std::max(out.ideal_ms, busy_ms);
        out.in_flight.push_back(static_cast<double>(most_in_flight(cells)) / schedule.chunks);
    }
    if (out.ideal_ms > 0.0) {
        out.bubble_of_total = (out.makespan_ms - out.ideal_ms) / out.makespan_ms;
        out.bubble_of_ideal = (out.makespan_ms - out.ideal_ms) / out.ideal_ms;
    }
    return out;
}

} // namespace weft::pipeline
