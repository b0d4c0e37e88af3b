// SPDX-License-Identifier: Apache-2.0
// What a run will need, before anything is allocated: the plan, host memory beside the arena, the
// verdict, and what else could be done. Looks at names, sizes and headers of the data only.
#pragma once

#include "core/advise/alternatives.h"
#include "core/base/error.h"
#include "core/cost/hardware.h"
#include "core/train/record/event.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace weft::train {

/// A GPU of this machine as somebody found it, in this process or another.
struct FoundGpu {
    std::string name;
    std::optional<std::int64_t> free_bytes; // none: not known
    std::optional<bool> passed{};           // its self-test; none: not known
};
/// In a process that has loaded their back end. Throws weft::Error{device}.
FoundGpu found_gpu(int number);

/// Where a run shall be planned to run.
struct PlanTarget {
    const cost::Hardware* hardware = nullptr;  // null: this machine and the back ends of this build
    const cost::CostModel* cost = nullptr;     // null: nothing is predicted
    int threads = 0;                           // OpenMP team; 0: all that this process may use
    int device_threads = 1; // of each device of a mesh; more where it has a process of its own
    int processes = 1;      // that read the data of the run
    std::optional<std::int64_t> limit_bytes{}; // memory that the run may take; none: no verdict
    std::string limit_basis{};                 // what sets it, for people
    bool limit_is_of_gpus = false;             // somebody asked those that the run names
    /// By their numbers; none: nobody looked.
    std::optional<std::vector<FoundGpu>> gpus{};
    std::string devices_note{}; // why it runs there; empty: it says so itself
};
/// This machine with the memory that it can give now. `cost` must outlive the target.
PlanTarget this_machine(int threads, const cost::CostModel* cost);
/// One device that need not be here.
PlanTarget planned_hardware(const cost::Hardware& hardware, const cost::CostModel* cost);

/// Memory that the run may take there; training.memory_budget lowers it. None: no verdict.
std::optional<std::int64_t> limit_of(const compile::RunConfig& config, const PlanTarget& target);

/// What the data of a run will be. Throws weft::Error{data}; `stop` ends it by weft::Error{runtime}.
data::DataOutline outline_run_data(const compile::RunConfig& config, const PlanTarget& target,
                                   const std::stop_token& stop = {},
                                   const data::OnOpening& on_opening = {});

/// The plan with host memory and verdict; `fixes` stay empty. training.memory_budget lowers the
/// limit. compile::complete_plan makes that for Scope::run out of those for step and rest, which
/// are not verified between passes: a run that begins is planned anew. Throws weft::Error; stops
/// with weft::Error{runtime}.
plan::ExecutionPlan plan_run(const compile::RunConfig& config, const data::DataOutline& data,
                             const PlanTarget& target, const std::stop_token& stop,
                             compile::Scope scope = compile::Scope::run);

/// Outline and plan in one, as an executor takes it.
std::shared_ptr<const plan::ExecutionPlan> shared_plan(const compile::RunConfig& config,
                                                       const PlanTarget& target,
                                                       const std::stop_token& stop = {},
                                                       compile::Scope scope = compile::Scope::run);

/// The plan with what was measured in place of the estimates: what libraries keep on the host, and,
/// of a plan for GPUs, what they hold beside arenas.
plan::ExecutionPlan with_measured(plan::ExecutionPlan plan, std::int64_t library_bytes,
                                  const std::optional<plan::DeviceMemory>& beside);

/// Plans the training step alone, as alternatives are compared. Keeps copies of what it is given,
/// but for what the target points to.
advise::Planner step_planner(data::DataOutline data, PlanTarget target, std::stop_token stop);

/// At most three changes with which a run does fit that does not, each planned completely; cheapest
/// first.
std::vector<plan::Alternative> find_fixes(const compile::RunConfig& config,
                                          const data::DataOutline& data, const PlanTarget& target,
                                          const std::stop_token& stop);

/// The run does not fit; carries what to tell.
class DoesNotFit : public Error {
public:
    explicit DoesNotFit(ErrorEvent event)
        : Error(ErrorKind::memory, event.where, event.message, event.hint),
          event_(std::move(event)) {}
    const ErrorEvent& event() const { return event_; }

private:
    ErrorEvent event_;
};
/// plan_run for a run that is about to begin: DoesNotFit with need, limit, peak op and fixes
/// instead of a plan that does not fit. The fixes are offered as forks from `step`.
plan::ExecutionPlan plan_to_run(const compile::RunConfig& config, const data::DataOutline& data,
                                const PlanTarget& target, std::int64_t step,
                                const std::stop_token& stop);

} // namespace weft::train
