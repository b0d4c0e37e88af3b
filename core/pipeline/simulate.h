// SPDX-License-Identifier: Apache-2.0
// When each action of a schedule runs, what the pipeline wastes and how much it holds in flight.
// Pure functions; any thread.
#pragma once

#include "core/pipeline/schedule.h"

namespace weft::pipeline {

/// Of one part for one microbatch. A whole backward takes input_grad_ms + weight_grad_ms.
struct PartCost {
    double forward_ms = 0.0;
    double input_grad_ms = 0.0;
    double weight_grad_ms = 0.0;
};

struct Costs {
    std::vector<PartCost> parts; // [stages * chunks], in model order: uneven parts are allowed
    double send_ms = 0.0;        // from the end of an action until another stage has its result

    /// Even parts: `stage` is what a whole stage costs, its chunks share it.
    static Costs even(const Schedule& schedule, const PartCost& stage, double send_ms = 0.0);
};

struct Cell {
    Action action;
    double start_ms = 0.0;
    double end_ms = 0.0;
};

struct Timeline {
    std::vector<std::vector<Cell>> stages; // [stages], in order of time
    double makespan_ms = 0.0;
    double ideal_ms = 0.0;        // work of the busiest stage: what no schedule can beat
    double bubble_of_total = 0.0; // (makespan - ideal) / makespan
    double bubble_of_ideal = 0.0; // (makespan - ideal) / ideal
    std::vector<double> busy_ms;  // [stages]
    /// [stages] Most microbatches whose activations a stage holds at once, from the start of a
    /// forward to the end of the last part of its backward; a chunk's counts 1 / chunks.
    std::vector<double> in_flight;
    /// Stages that wait for ever and for what, one sentence each; empty when the schedule ends. The
    /// cells are then those that could run, the figures those of these.
    std::vector<std::string> deadlock;
};

/// Runs each stage's actions in order, each as early as its inputs and its stage allow. The
/// schedule's indices are in range (programmer fault); an order that cannot end is reported in
/// `deadlock`.
Timeline simulate(const Schedule& schedule, const Costs& costs);

} // namespace weft::pipeline
