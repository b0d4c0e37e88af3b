// SPDX-License-Identifier: Apache-2.0
// THE order of work from programs to an execution plan, readable top to bottom in pipeline.cpp.
#pragma once

#include "core/compile/choose_recompute.h"
#include "core/compile/mesh/stage_programs.h"
#include "core/cost/cost_model.h"
#include "core/ir/operands.h"
#include "core/passes/chunk_head.h"
#include "core/plan/plan.h"
#include "core/sharding/annotate.h"
#include "kernels/weft_kernels.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace weft::compile {

/// The programs of a run over one set of state slots, as core/compile/programs/programs.h builds
/// them.
struct ProgramSet {
    std::vector<plan::StateSlot> state_slots;
    std::vector<ir::Program> programs;
    std::optional<ir::Program> forward; // of a microstep: what layers cost; with a pipeline only
};

struct PipelineOptions {
    ir::DType compute_dtype = ir::DType::f32;  // bf16: f32 master weights, bf16 activations
    ir::Operands operands = ir::Operands::as_stored;
    std::vector<const weft_backend*> backends; // best first; empty: no kernels are chosen
    passes::RecomputeOptions recompute;        // of the training step
    std::optional<MemoryBudget> budget;        // with it, `recompute` is chosen to meet it
    passes::ChunkOptions chunks;               // of the classifier head
    std::string device = "cpu";                // kind that is planned for, as in the plan
    plan::HostMemory host;                     // goes into the plan; on a CPU the budget covers it
    plan::DeviceMemory beside;                 // likewise; the budget covers it elsewhere
    const cost::CostModel* cost = nullptr;     // null: nothing is predicted
    sharding::Placement placement;             // without axes: one device
    std::optional<StageChoice> stages;         // of a pipeline along one axis of the mesh
    int threads =
        0; // OpenMP team that will run the plan; 0 = all cores; of each simulated device: 1
    int device_threads = 1; // of each device of a mesh; more where it has a process of its own
    bool device_processes = false; // each device of the mesh has one, on the host
    int workers = 1; // threads that make the plan; it is the same with any
    std::vector<std::string> disabled_passes;
    bool verify = true;    // check legality after every pass
    bool described = true; // with activations; comparing needs none
    bool texts = true;     // with the final text of every program
    std::stop_token stop;
    /// Called after each pass with the program's name, the pass's name and the program.
    std::function<void(const std::string&, const std::string&, const ir::Program&)> dump;
};

/// Runs every pass over every program and lays out memory. Throws weft::Error on user faults, e.g.
/// an op that no back end supports; stops with weft::Error{runtime} when `stop` is requested. A
/// budget that cannot be met is missed by as little as can be: the caller judges the plan.
plan::ExecutionPlan build_plan(ProgramSet programs, const PipelineOptions& options);

/// Where the state slots lie, and which stage has which layers: a plan without programs, whose
/// arenas hold the state alone. A fraction of the time of build_plan.
plan::ExecutionPlan build_layout(ProgramSet programs, const PipelineOptions& options);

/// The plan of all programs, out of that of the training step alone and that of the others: what a
/// run needs and costs follows from the training step.
plan::ExecutionPlan complete_plan(const plan::ExecutionPlan& step, plan::ExecutionPlan rest);

} // namespace weft::compile
