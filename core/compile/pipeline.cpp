// SPDX-License-Identifier: Apache-2.0
#include "core/compile/pipeline.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/exec/kernel_call.h"
#include "core/memory/share_storage.h"
#include "core/ops/op_def.h"
#include "core/ops/verify.h"
#include "core/passes/apply_precision.h"
#include "core/passes/fuse_elementwise.h"
#include "core/passes/run_passes.h"
#include "core/passes/shorten_lifetimes.h"
#include "core/passes/simplify.h"
#include "core/plan/lower.h"

#include <algorithm>

namespace weft::compile {
namespace {

// Below this a slow kernel costs less than reading about it.
constexpr double kHeavyFlops = 1e6;

std::vector<passes::Pass> pass_list(ir::DType compute_dtype) {
    return {
        {"simplify", passes::simplify},
        {"precision",
         [compute_dtype](ir::Program& p) { passes::apply_precision(p, compute_dtype); }},
        {"simplify again", passes::simplify},
        {"fuse", passes::fuse_elementwise},
        {"shorten lifetimes", passes::shorten_lifetimes},
        {"renumber", passes::renumber_values},
    };
}

class KernelSelector {
public:
    KernelSelector(const PipelineOptions& options, std::vector<std::string>& fallbacks)
        : options_(options), fallbacks_(fallbacks) {}

    /// One choice per step position.
    std::vector<plan::KernelChoice> select(const ir::Program& program) {
        std::vector<plan::KernelChoice> choices;
        visit(program, program.body, choices);
        return choices;
    }

private:
    void visit(const ir::Program& program, const ir::Block& block,
               std::vector<plan::KernelChoice>& choices) {
        for (const ir::Op& op : block.ops) {
            if (options_.stop.stop_requested()) {
                throw Error(ErrorKind::runtime, "program " + program.name,
                            "compilation was stopped while choosing kernels");
            }
            if (!memory::is_step(op)) {
                continue;
            }
            if (op.kind == "repeat") {
                choices.emplace_back();
                visit(program, op.body.front(), choices);
            } else {
                choices.push_back(choose(program, op));
            }
        }
    }

    plan::KernelChoice choose(const ir::Program& program, const ir::Op& op) {
        if (options_.backends.empty()) {
            return {};
        }
        const exec::KernelDesc desc(program, op);
        const exec::Candidate best = exec::choose_backend(desc, options_.backends);
        if (best.backend != options_.backends.front() &&
            ops::cost_of({program, op}).flops >= kHeavyFlops) {
            note_fallback(desc, best);
        }
        return {best.kernel_name, best.backend->name, best.workspace_bytes};
    }

    void note_fallback(const exec::KernelDesc& desc, const exec::Candidate& best) {
        std::string line = desc.where() + " runs on '" + best.kernel_name + "': back end '" +
                           options_.backends.front()->name + "' has no kernel for it";
        if (std::find(fallbacks_.begin(), fallbacks_.end(), line) == fallbacks_.end()) {
            fallbacks_.push_back(std::move(line));
        }
    }

    const PipelineOptions& options_;
    std::vector<std::string>& fallbacks_;
};

/// Trainable elements. Tied weights are one slot, so they count once.
std::int64_t count_parameters(const std::vector<plan::StateSlot>& slots) {
    std::int64_t count = 0;
    for (const plan::StateSlot& slot : slots) {
        const bool counts = slot.category == plan::Category::parameters && slot.trainable;
        count += counts ? slot.type.shape.elements() : 0;
    }
    return count;
}

void check_legal(const ir::Program& program) {
    const auto violations = ops::verify(program);
    WEFT_CHECK(violations.empty(),
               "sharing memory broke program " + program.name + ": " + violations.front());
}

} // namespace

plan::ExecutionPlan build_plan(ProgramSet programs, const PipelineOptions& options) {
    const SystemClock clock;
    const double start_s = clock.steady_s();
    plan::ExecutionPlan out;
    out.state_slots = std::move(programs.state_slots);
    out.state_bytes = plan::place_slots(out.state_slots);
    out.arena_bytes = out.state_bytes;
    const auto passes = pass_list(options.compute_dtype);
    const passes::RunPassesOptions run_options{options.disabled_passes, options.verify,
                                               options.stop, options.dump};
    weft_set_threads(options.threads); // kernels size their workspace by the team
    KernelSelector kernels(options, out.fallbacks);
    for (ir::Program& program : programs.programs) {
        // 1. Verify, simplify, precision, simplify, fuse, order.
        for (const auto& timed : passes::run_passes(program, passes, run_options)) {
            out.pass_times.push_back({program.name, timed.name, timed.ms});
        }
        const double memory_start_s = clock.steady_s();
        // 2. Who shares memory with whom; inserts copies where sharing is not legal.
        const memory::Storage storage = memory::share_storage(program);
        if (options.verify) {
            check_legal(program);
        }
        // 3. Kernels and their workspace.
        const double kernels_start_s = clock.steady_s();
        const auto choices = kernels.select(program);
        const double lower_start_s = clock.steady_s();
        // 4. Offsets and steps.
        out.programs.push_back(
            plan::lower(program, storage, choices, out.state_slots, out.state_bytes));
        out.arena_bytes = std::max(out.arena_bytes, out.programs.back().peak_bytes);
        const double end_s = clock.steady_s();
        out.pass_times.push_back(
            {program.name, "share memory", (kernels_start_s - memory_start_s) * 1e3});
        out.pass_times.push_back(
            {program.name, "choose kernels", (lower_start_s - kernels_start_s) * 1e3});
        out.pass_times.push_back({program.name, "lay out", (end_s - lower_start_s) * 1e3});
    }
    out.parameters = count_parameters(out.state_slots);
    if (const plan::PlannedProgram* step = out.find("train_step")) {
        out.flops_per_step = step->flops;
    }
    out.compile_ms = (clock.steady_s() - start_s) * 1e3;
    return out;
}

} // namespace weft::compile
