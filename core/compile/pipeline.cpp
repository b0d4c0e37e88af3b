// SPDX-License-Identifier: Apache-2.0
#include "core/compile/pipeline.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/on_threads.h"
#include "core/compile/kernel_selector.h"
#include "core/compile/mesh/shard_programs.h"
#include "core/compile/predict.h"
#include "core/compile/programs/activations.h"
#include "core/memory/share_storage.h"
#include "core/ops/op_def.h"
#include "core/ops/verify.h"
#include "core/passes/add_up_squares.h"
#include "core/passes/apply_precision.h"
#include "core/passes/bucket_exchanges.h"
#include "core/passes/chunk_head.h"
#include "core/passes/fuse_elementwise.h"
#include "core/passes/fuse_epilogues.h"
#include "core/passes/join_updates.h"
#include "core/passes/narrow_exchanges.h"
#include "core/passes/round_operands.h"
#include "core/passes/run_passes.h"
#include "core/passes/shorten_lifetimes.h"
#include "core/passes/simplify.h"
#include "core/plan/exchange_order.h"
#include "core/plan/lower.h"

#include <algorithm>
#include <iterator>

namespace weft::compile {
namespace {

using passes::Pass;
using passes::RecomputeOptions;

/// Which ops may be joined: those of one part of a pipeline.
std::function<int(const ir::Op&)> group_of(const StagePrograms* stages) {
    return [stages](const ir::Op& op) { return stages == nullptr ? 0 : stages->part_of(op); };
}

// The passes, in order. Everything before recompute is the same for every choice of recompute.
// `stages` null: no pipeline; else ops of different parts are not joined.
std::vector<Pass> first_passes(ir::DType compute_dtype, ir::Operands operands,
                               const passes::ChunkOptions& chunks, const StagePrograms* stages) {
    std::vector<Pass> list = {
        {"simplify", passes::simplify},
        {"precision",
         [compute_dtype](ir::Program& p) { passes::apply_precision(p, compute_dtype); }},
        {"operands", [operands](ir::Program& p) { passes::round_operands(p, operands); }},
        {"narrow exchanges", passes::narrow_exchanges},
        {"simplify again", passes::simplify},
    };
    if (stages != nullptr) {
        list.push_back({"separate sums", [stages](ir::Program& p) { stages->separate_sums(p); }});
    }
    list.push_back({"bucket exchanges",
                    [stages](ir::Program& p) { passes::bucket_exchanges(p, group_of(stages)); }});
    list.push_back({"chunk head", [chunks, stages](ir::Program& p) {
                        passes::chunk_head(p, chunks, group_of(stages));
                    }});
    return list;
}

/// `has_kernel`: which products the back end makes together with what follows them.
std::vector<Pass> last_passes(const RecomputeOptions& recompute,
                              const passes::HasKernel& has_kernel, const StagePrograms* stages) {
    std::vector<Pass> list;
    if (recompute.mode != passes::Recompute::none) {
        list.push_back(
            {"recompute", [recompute](ir::Program& p) { passes::recompute(p, recompute); }});
    }
    list.push_back({"epilogues", [has_kernel, stages](ir::Program& p) {
                        passes::fuse_epilogues(p, group_of(stages), has_kernel);
                    }});
    list.push_back({"add up squares",
                    [stages](ir::Program& p) { passes::add_up_squares(p, group_of(stages)); }});
    list.push_back(
        {"fuse", [stages](ir::Program& p) { passes::fuse_elementwise(p, group_of(stages)); }});
    list.push_back({"shorten lifetimes", passes::shorten_lifetimes});
    list.push_back({"renumber", passes::renumber_values});
    return list;
}

/// Of the program of a stage.
std::vector<Pass> stage_passes() {
    return {{"join updates", passes::join_updates}, {"renumber", passes::renumber_values}};
}

/// Trainable elements, without rows of tables. Tied weights are one slot, so they count once.
std::int64_t count_parameters(const std::vector<plan::StateSlot>& slots) {
    std::int64_t count = 0;
    for (const plan::StateSlot& slot : slots) {
        const bool counts =
            slot.category == plan::Category::parameters && slot.trainable && !slot.by_row;
        count += counts ? slot.whole.shape.elements() : 0;
    }
    return count;
}

/// Before recompute: what the model asks for, whatever is computed again later.
double products_of(const ir::Program& program) {
    double flops = 0;
    for (const ir::Op& op : program.body.ops) {
        flops += ops::cost_of({program, op}).products;
    }
    return flops;
}

void check_legal(const ir::Program& program) {
    const auto violations = ops::verify(program);
    WEFT_CHECK(violations.empty(),
               "sharing memory broke program " + program.name + ": " + violations.front());
}

void add_new(std::vector<std::string> lines, std::vector<std::string>& to) {
    for (std::string& line : lines) {
        if (std::find(to.begin(), to.end(), line) == to.end()) {
            to.push_back(std::move(line));
        }
    }
}

/// The team of this thread while it plans; the caller's own comes back.
class PlannedTeam {
public:
    explicit PlannedTeam(int threads) : before_(weft_threads()) { weft_set_threads(threads); }
    ~PlannedTeam() { weft_set_threads(before_); }
    PlannedTeam(const PlannedTeam&) = delete;
    PlannedTeam& operator=(const PlannedTeam&) = delete;

private:
    const std::int32_t before_;
};

class PlanBuilder {
public:
    explicit PlanBuilder(const PipelineOptions& options)
        : options_(options), kernels_(options.backends, options.stop) {}

    plan::ExecutionPlan layout(ProgramSet programs) {
        place(programs);
        return std::move(out_);
    }

    plan::ExecutionPlan run(ProgramSet programs) {
        const double start_s = clock_.steady_s();
        plan_programs(programs, place(programs));
        for (const plan::PlannedProgram& program : out_.programs) {
            out_.flops_per_step += program.name == "train_step" ? program.flops / stage_count() : 0;
        }
        price();
        out_.compile_ms = (clock_.steady_s() - start_s) * 1e3;
        return std::move(out_);
    }

private:
    void plan_programs(ProgramSet& programs, const ShardedPrograms& sharded) {
        // Kernels size their workspace by the team.
        const PlannedTeam team(out_.mesh.single() ? options_.threads : options_.device_threads);
        for (std::size_t i = 0; i < programs.programs.size(); ++i) {
            ir::Program& program = programs.programs[i];
            // 1. Verify, simplify, precision, simplify.
            run_passes(program, first_passes(options_.compute_dtype, options_.operands,
                                             options_.chunks, stages()));
            // 2. Recompute, fuse, order; memory, kernels, offsets.
            const bool trains = program.name == "train_step";
            out_.model_flops_per_step += trains ? products_of(program) / stage_count() : 0;
            const RecomputeOptions recompute = trains ? recompute_of(program) : RecomputeOptions();
            run_passes(program, last_passes(recompute, has_kernel(), stages()));
            std::vector<ir::Program> parts = split(std::move(program));
            join_updates(parts);
            for (plan::PlannedProgram& made : finish(std::move(parts))) {
                if (out_.mesh.single()) {
                    keep_whole(made.arguments);
                    keep_whole(made.results);
                } else {
                    place_ports(made.arguments, sharded.arguments[i], made.stage);
                    place_ports(made.results, sharded.results[i], made.stage);
                }
                out_.programs.push_back(std::move(made));
            }
        }
    }

    void price() {
        if (options_.cost != nullptr) {
            predict(out_, *options_.cost, options_.stages ? &options_.stages->schedule : nullptr,
                    options_.workers, options_.device_processes);
        }
    }

    /// Everything about devices, state and stages; the programs become those of a device.
    ShardedPrograms place(ProgramSet& programs) {
        ShardedPrograms sharded = shard(programs);
        out_.device = options_.device;
        out_.host = options_.host;
        out_.beside = options_.beside;
        make_stages(programs);
        out_.parameters = count_parameters(out_.state_slots);
        return sharded;
    }

    /// Placement, propagation, partition: from whole arrays to the parts of one device.
    ShardedPrograms shard(ProgramSet& programs) {
        for (plan::StateSlot& slot : programs.state_slots) {
            slot.whole = slot.type;
            slot.placement = sharding::Sharding::replicated(slot.type.shape.rank());
        }
        if (options_.placement.mesh.single()) {
            for (const ir::Program& program : programs.programs) {
                if (program.name == "train_step" && options_.described) {
                    out_.activations =
                        activations_of(program, {}, out_.mesh, options_.compute_dtype);
                }
            }
            return {};
        }
        const double start_s = clock_.steady_s();
        out_.mesh = options_.placement.mesh;
        ShardedPrograms sharded = shard_programs(
            programs, options_.placement,
            options_.described ? std::optional(options_.compute_dtype) : std::nullopt,
            options_.stop);
        out_.rules = options_.placement.rules;
        out_.zero_stage = options_.placement.zero_stage;
        out_.findings = std::move(sharded.findings);
        out_.activations = std::move(sharded.activations);
        for (const ir::Program& program : programs.programs) {
            if (options_.dump) {
                options_.dump(program.name, "shard", program);
            }
        }
        out_.pass_times.push_back({"all programs", "shard", (clock_.steady_s() - start_s) * 1e3});
        return sharded;
    }

    /// Of a GPU its library is known, whether it is there or not.
    passes::HasKernel has_kernel() {
        return [this](const ir::Program& program, const ir::Op& op) {
            return options_.device == "cuda" || kernels_.has_own(program, op);
        };
    }
    const StagePrograms* stages() const { return stages_ ? &*stages_ : nullptr; }
    int stage_count() const { return stages_ ? stages_->stages() : 1; }

    /// Which stage holds what, and where.
    void make_stages(ProgramSet& programs) {
        if (options_.stages) {
            WEFT_CHECK(programs.forward.has_value(), "a pipeline is cut by what its layers cost");
            stages_.emplace(*options_.stages, out_.mesh, *programs.forward);
            out_.pipeline_axis = options_.stages->axis;
            out_.pipeline = stages_->describe();
            for (plan::StateSlot& slot : programs.state_slots) {
                slot.stage = stages_->stage_of(slot.name);
                slot.placement.pin = sharding::Pin{out_.pipeline_axis, slot.stage};
            }
            for (plan::Activation& activation : out_.activations) {
                activation.stage = stages_->stage_of(activation.path);
                activation.placement.pin = sharding::Pin{out_.pipeline_axis, activation.stage};
            }
        }
        out_.state_slots = std::move(programs.state_slots);
        for (int stage = 0; stage < stage_count(); ++stage) {
            const std::int64_t bytes = plan::place_slots(out_.state_slots, stage);
            out_.stages.push_back({stages_ ? stages_->layers_of(stage) : "", bytes, bytes, 0});
            out_.state_bytes = std::max(out_.state_bytes, bytes);
        }
        out_.arena_bytes = out_.state_bytes;
    }

    /// One program per stage; the program itself without a pipeline.
    std::vector<ir::Program> split(ir::Program program) {
        if (!stages_) {
            std::vector<ir::Program> out;
            out.push_back(std::move(program));
            return out;
        }
        const double start_s = clock_.steady_s();
        std::vector<ir::Program> out = stages_->split(program);
        for_each_on(options_.workers, out.size(), [&](std::size_t stage) {
            passes::renumber_values(out[stage]);
            if (options_.verify) {
                check_legal(out[stage]);
            }
        });
        for (std::size_t stage = 0; stage < out.size() && options_.dump; ++stage) {
            options_.dump(out[stage].name + stage_text(stage), "split stages", out[stage]);
        }
        note_time(program.name, "split stages", start_s);
        return out;
    }

    static void keep_whole(std::vector<plan::PlannedPort>& ports) {
        for (plan::PlannedPort& port : ports) {
            port.whole = port.operand.type;
            port.placement = sharding::Sharding::replicated(port.whole.shape.rank());
        }
    }

    void place_ports(std::vector<plan::PlannedPort>& ports, const PortPlaces& places,
                     int stage) const {
        for (plan::PlannedPort& port : ports) {
            const auto& [whole, placement] = places.at(port.name);
            port.whole = whole;
            port.placement = placement;
            if (stages_) {
                port.placement.pin = sharding::Pin{out_.pipeline_axis, stage};
            }
        }
    }

    /// What tells a stage's program from another's; nothing without a pipeline.
    std::string stage_text(std::size_t stage) const {
        return stages_ ? ", stage " + std::to_string(stage) : "";
    }

    /// Of each stage.
    void join_updates(std::vector<ir::Program>& parts) {
        const double start_s = clock_.steady_s();
        for (std::size_t stage = 0; stage < parts.size(); ++stage) {
            passes::RunPassesOptions run_options{options_.disabled_passes, options_.verify,
                                                 options_.stop, options_.dump};
            if (options_.dump) {
                run_options.dump = [&](const std::string& name, const std::string& pass,
                                       const ir::Program& made) {
                    options_.dump(name + stage_text(stage), pass, made);
                };
            }
            passes::run_passes(parts[stage], stage_passes(), run_options);
        }
        note_time(parts.front().name, "join updates", start_s);
    }

    void run_passes(ir::Program& program, const std::vector<Pass>& list) {
        const passes::RunPassesOptions run_options{options_.disabled_passes, options_.verify,
                                                   options_.stop, options_.dump};
        for (const auto& timed : passes::run_passes(program, list, run_options)) {
            out_.pass_times.push_back({program.name, timed.name, timed.ms});
        }
    }

    RecomputeOptions recompute_of(const ir::Program& program) {
        if (!options_.budget) {
            return options_.recompute;
        }
        const double start_s = clock_.steady_s();
        const auto thresholds = passes::recompute_thresholds(program);
        RecomputeChoice choice =
            choose_recompute(thresholds, *options_.budget, [&](const RecomputeOptions& options) {
                return memory(program, options);
            });
        out_.assumptions.push_back(std::move(choice.text));
        note_time(program.name, "choose recompute", start_s);
        return choice.options;
    }

    /// Bytes of the memory that the budget is of, with the arenas as `finish` will find them:
    /// simulated devices and the host share it. Leaves no traces.
    std::int64_t memory(ir::Program program, const RecomputeOptions& recompute) {
        passes::run_passes(program, last_passes(recompute, has_kernel(), stages()),
                           {options_.disabled_passes, false, options_.stop, {}});
        plan::ExecutionPlan sizes;
        sizes.mesh = out_.mesh;
        sizes.device = out_.device;
        sizes.host = out_.host;
        sizes.beside = out_.beside;
        int stage = 0;
        for (ir::Program& part : split(std::move(program))) {
            passes::run_passes(part, stage_passes(),
                               {options_.disabled_passes, false, options_.stop, {}});
            const memory::Storage storage = memory::share_storage(part);
            std::vector<std::string> ignored;
            const auto choices = kernels_.select(part, ignored);
            const std::int64_t bytes =
                plan::arena_bytes(part, storage, choices, out_.state_slots,
                                  out_.stages[static_cast<std::size_t>(stage)].state_bytes);
            sizes.stages.push_back({"", 0, bytes, plan::landing_bytes(part)});
            sizes.arena_bytes = std::max(sizes.arena_bytes, bytes);
            ++stage;
        }
        return sizes.memory_bytes();
    }

    /// One for each stage. Stages have nothing to do with one another, but back ends are asked for
    /// kernels by one thread.
    std::vector<plan::PlannedProgram> finish(std::vector<ir::Program> parts) {
        double start_s = clock_.steady_s();
        const std::string name = parts.front().name;
        std::vector<memory::Storage> storage(parts.size());
        for_each_on(options_.workers, parts.size(), [&](std::size_t i) {
            if (options_.stop.stop_requested()) {
                throw Error(ErrorKind::runtime, "program " + parts[i].name,
                            "compilation was stopped before its memory was laid out");
            }
            // Who shares memory with whom; inserts copies where sharing is not legal.
            storage[i] = memory::share_storage(parts[i]);
            if (options_.verify) {
                check_legal(parts[i]);
            }
        });
        start_s = note_time(name, "share memory", start_s);
        // Kernels and their workspace.
        std::vector<std::vector<plan::KernelChoice>> choices;
        for (const ir::Program& part : parts) {
            choices.push_back(kernels_.select(part, out_.fallbacks));
        }
        start_s = note_time(name, "choose kernels", start_s);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            std::int64_t& landing = out_.stages[i].landing_bytes;
            landing = std::max(landing, plan::landing_bytes(parts[i]));
        }
        // Offsets and steps.
        std::vector<plan::PlannedProgram> out(parts.size());
        for_each_on(options_.workers, parts.size(), [&](std::size_t i) {
            std::string text = options_.texts ? ir::print(parts[i]) : std::string();
            out[i] = plan::lower(std::move(parts[i]), storage[i], choices[i], out_.state_slots,
                                 out_.stages[i].state_bytes);
            out[i].stage = static_cast<int>(i);
            out[i].text = std::move(text);
        });
        for (const plan::PlannedProgram& planned : out) {
            plan::Stage& own = out_.stages[static_cast<std::size_t>(planned.stage)];
            own.arena_bytes = std::max(own.arena_bytes, planned.peak_bytes);
            out_.arena_bytes = std::max(out_.arena_bytes, planned.peak_bytes);
        }
        start_s = note_time(name, "lay out", start_s);
        if (stages_) {
            const std::string wait = plan::endless_wait(
                out, out_.mesh.axes[static_cast<std::size_t>(out_.pipeline_axis)].name);
            WEFT_CHECK(wait.empty(), "the stages of " + name + " never end: " + wait);
            note_time(name, "play exchanges", start_s);
        }
        return out;
    }

    /// Adds the time since `start_s` and returns the time now.
    double note_time(const std::string& program, std::string what, double start_s) {
        const double now_s = clock_.steady_s();
        out_.pass_times.push_back({program, std::move(what), (now_s - start_s) * 1e3});
        return now_s;
    }

    const PipelineOptions& options_;
    const SystemClock clock_;
    KernelSelector kernels_;
    std::optional<StagePrograms> stages_;
    plan::ExecutionPlan out_;
};

} // namespace

plan::ExecutionPlan build_plan(ProgramSet programs, const PipelineOptions& options) {
    return PlanBuilder(options).run(std::move(programs));
}

plan::ExecutionPlan build_layout(ProgramSet programs, const PipelineOptions& options) {
    return PlanBuilder(options).layout(std::move(programs));
}

plan::ExecutionPlan complete_plan(const plan::ExecutionPlan& step, plan::ExecutionPlan rest) {
    plan::ExecutionPlan whole = step;
    whole.arena_bytes = std::max(step.arena_bytes, rest.arena_bytes);
    for (std::size_t i = 0; i < whole.stages.size(); ++i) {
        whole.stages[i].arena_bytes =
            std::max(step.stages[i].arena_bytes, rest.stages[i].arena_bytes);
        whole.stages[i].landing_bytes =
            std::max(step.stages[i].landing_bytes, rest.stages[i].landing_bytes);
    }
    whole.programs = {};
    std::size_t i = 0;
    for (; i < rest.programs.size() && rest.programs[i].name == "init"; ++i) {
        whole.programs.share(rest.programs, i);
    }
    for (std::size_t own = 0; own < step.programs.size(); ++own) {
        whole.programs.share(step.programs, own);
    }
    for (; i < rest.programs.size(); ++i) {
        whole.programs.share(rest.programs, i);
    }
    std::move(rest.pass_times.begin(), rest.pass_times.end(), std::back_inserter(whole.pass_times));
    add_new(std::move(rest.assumptions), whole.assumptions);
    add_new(std::move(rest.fallbacks), whole.fallbacks);
    whole.compile_ms += rest.compile_ms;
    return whole;
}

} // namespace weft::compile
