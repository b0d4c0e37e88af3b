// SPDX-License-Identifier: Apache-2.0
#include "core/train/planning.h"

#include "core/advise/finding_fixes.h"
#include "core/base/machine.h"
#include "core/base/text.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/data/loader.h"
#include "core/plan/device_memory.h"
#include "core/train/engine.h"
#include "core/train/inside/layer_watch.h"
#include "core/train/measure/device_meter.h"
#include "core/train/memory_meter.h"

#include <algorithm>

namespace weft::train {
namespace {

constexpr std::size_t kMostFixes = 3;

/// As data::Loader allocates them, for every row of every buffer.
std::int64_t loader_bytes(std::int64_t row_bytes, std::int64_t rows,
                          const compile::RunConfig& config) {
    const int ahead = config.num_workers > 0 ? config.prefetch : 0;
    return (ahead + 1) * rows * row_bytes;
}

/// Of samples that are read block by block: those of training, and in an evaluation as many again.
std::int64_t windows_bytes(const compile::RunConfig& config, const data::DataOutline& data,
                           bool evaluates) {
    if (data.largest_block == 0) {
        return 0;
    }
    const auto bytes = [&](std::int64_t window_bytes) {
        return data::window_memory_bytes(
            data.sample,
            data::most_window_rows(data.sample, data.samples, data.largest_block, window_bytes));
    };
    return bytes(config.shuffle_window_bytes) + (evaluates ? bytes(data::kShuffleWindowBytes) : 0);
}

/// But for staging, which takes the slots of the programs (compile_run adds it), and libraries.
/// Each process keeps samples and windows of its own; of batches it makes its own rows.
plan::HostMemory host_memory(const compile::RunConfig& config, const data::DataOutline& data,
                             int processes) {
    plan::HostMemory host;
    const compile::BatchPlan batch = compile::plan_batch(config);
    const bool evaluates = data.has_validation || data.has_test;
    host.data_cache_bytes = processes * (data.cache_bytes + data.test_cache_bytes);
    const std::int64_t row = data::row_bytes(data.sample, false);
    const std::int64_t training_row = data::row_bytes(
        data.sample, data::mixes_classes(config.section("data").at("mix"), data.sample));
    host.prefetch_bytes = loader_bytes(training_row, batch.global_batch_size, config) +
                          (evaluates ? loader_bytes(row, batch.rows, config) : 0) +
                          processes * windows_bytes(config, data, evaluates);
    return host;
}

/// The target with its limit lowered to training.memory_budget where that is less.
PlanTarget within_budget(const compile::RunConfig& config, PlanTarget target) {
    if (config.memory_budget &&
        (!target.limit_bytes || *config.memory_budget < *target.limit_bytes)) {
        target.limit_bytes = config.memory_budget;
        target.limit_basis = "training.memory_budget";
    }
    return target;
}

/// A run on this machine cannot have the devices of another.
void refuse_planned_hardware(const compile::RunConfig& config, const PlanTarget& target) {
    const auto devices = config.section("mesh").at("devices").get<std::string>();
    if (target.hardware == nullptr && compile::is_planned_hardware(devices)) {
        throw Error(ErrorKind::usage, "mesh.devices",
                    "'" + devices + "' is hardware to plan for, not devices of this machine",
                    "Plan with --hardware " + devices + ", or set mesh.devices to cpu:N.");
    }
}

std::string library_line(std::int64_t bytes) {
    return "libraries keep about " + format_bytes(bytes) + " for themselves; a run measures it";
}

std::string beside_line(const plan::DeviceMemory& beside) {
    return "on a GPU the driver keeps about " + format_bytes(beside.context_bytes) +
           ", libraries with the code of kernels " + format_bytes(beside.library_bytes) +
           ", groups of GPUs " + format_bytes(beside.exchange_bytes) + "; a run measures it";
}

/// Of a piece of the classifier head: a GPU multiplies some hundred times for each byte it moves.
constexpr std::int64_t kRowsOfGpu = 4096;

/// `target` is within the budget.
compile::PipelineOptions options_of(const compile::RunConfig& config, const data::DataOutline& data,
                                    const PlanTarget& target, const std::stop_token& stop) {
    compile::PipelineOptions options;
    options.stop = stop;
    options.verify = false;
    options.cost = target.cost;
    options.host = host_memory(config, data, target.processes);
    if (target.hardware == nullptr && names_gpus(config)) {
        options.device = "cuda";
        options.threads = 1;
        if (loads_modules()) {
            options.backends = compute_of(config).backends;
        }
        options.host.library_bytes = library_estimate(options.threads);
        const auto& axes = compile::placement_of(config.section("mesh")).mesh.axes;
        options.beside = device_estimate(static_cast<int>(std::count_if(
            axes.begin(), axes.end(), [](const auto& axis) { return axis.size > 1; })));
    } else if (target.hardware == nullptr) {
        options.backends = compute_of(config).backends;
        options.threads = thread_count(target.threads);
        options.device_threads = target.device_threads;
        options.device_processes = target.processes > 1;
        options.host.library_bytes = library_estimate(options.threads);
    } else {
        options.device = target.hardware->kind;
    }
    if (options.device != "cpu") {
        options.chunks.rows = kRowsOfGpu;
    }
    return options;
}

/// The device with the least free memory sets the limit of all.
void limit_to(PlanTarget& target, int number, std::int64_t free_bytes, const std::string& name) {
    if (!target.limit_bytes || free_bytes < *target.limit_bytes) {
        target.limit_bytes = free_bytes;
        target.limit_basis = "the free memory of GPU " + std::to_string(number) + ", " + name;
    }
}

std::vector<int> gpus_of(const compile::RunConfig& config) {
    return compile::gpus_named(config.section("mesh").at("devices").get<std::string>());
}

/// GPUs have their own memory, and the cost model is the host's.
PlanTarget on_gpus(const compile::RunConfig& config, PlanTarget target) {
    target.cost = nullptr;
    if (target.limit_is_of_gpus) {
        return target;
    }
    target.limit_bytes.reset();
    if (!loads_modules()) {
        for (const int number : gpus_of(config)) {
            const auto place = static_cast<std::size_t>(number);
            if (!target.gpus || place >= target.gpus->size() || !(*target.gpus)[place].free_bytes) {
                target.limit_bytes.reset(); // of some only it would promise what is not known
                break;
            }
            limit_to(target, number, *(*target.gpus)[place].free_bytes, (*target.gpus)[place].name);
        }
        return target;
    }
    for (const int number : compute_of(config).devices) {
        const FoundGpu gpu = found_gpu(number);
        limit_to(target, number, *gpu.free_bytes, gpu.name);
    }
    return target;
}

/// What a process that loads no back end of GPUs does not know of them.
void add_unknown(const compile::RunConfig& config, const PlanTarget& target,
                 std::vector<std::string>& lines) {
    for (const int number : gpus_of(config)) {
        if (target.gpus && static_cast<std::size_t>(number) >= target.gpus->size()) {
            lines.push_back("this machine has no GPU " + std::to_string(number) +
                            ", so that its memory is no limit here and the run would not start");
            break;
        }
        if (!target.gpus || !(*target.gpus)[static_cast<std::size_t>(number)].free_bytes) {
            lines.push_back("the free memory of GPU " + std::to_string(number) +
                            " is not known, and is no limit here");
            break;
        }
    }
    lines.emplace_back("the workspace of kernels on the GPU is not known before the run's own "
                       "process asks for it, and counts as 0");
}

void add_assumptions(const compile::RunConfig& config, const data::DataOutline& data,
                     const PlanTarget& target, plan::ExecutionPlan& plan) {
    auto& lines = plan.assumptions;
    lines.insert(lines.end(), data.assumptions.begin(), data.assumptions.end());
    if (target.hardware == nullptr && names_gpus(config)) {
        if (!loads_modules()) {
            add_unknown(config, target, lines);
        }
        lines.push_back(beside_line(plan.beside));
    } else if (target.hardware != nullptr) {
        const std::string title(target.hardware->title);
        lines.push_back("the workspace of kernels on " + title + " is not known and counts as 0");
        lines.push_back("what drivers and libraries keep on " + title +
                        " is not known and counts as 0");
    } else {
        lines.push_back(library_line(plan.host.library_bytes));
    }
    if (!target.devices_note.empty()) {
        lines.push_back(target.devices_note);
    }
}

std::string settings_of(const plan::Alternative& fix) {
    std::string out;
    for (const std::string& assignment : fix.overrides) {
        out += (out.empty() ? "--set " : " --set ") + assignment;
    }
    return out;
}

std::string hint_of(const std::vector<plan::Alternative>& fixes) {
    if (fixes.empty()) {
        return "No change of batch, precision or recompute makes it fit: use a smaller model or a "
               "machine with more memory. `weft plan` shows what takes how much.";
    }
    std::string out = "What fits: ";
    for (std::size_t i = 0; i < fixes.size(); ++i) {
        out += (i == 0 ? "" : "; or ") + settings_of(fixes[i]) + " (" +
               format_bytes(fixes[i].peak_bytes) + ")";
    }
    return out + ". `weft plan` shows what takes how much.";
}

} // namespace

/// Asked without opening the GPU where that can be known: to open it takes memory that the plan
/// counts.
FoundGpu found_gpu(int number) {
    weft_device_health health{};
    if (gpu_health()->look(number, &health) == WEFT_OK && health.memory_used_bytes >= 0) {
        return {health.name, health.memory_bytes - health.memory_used_bytes};
    }
    const weft_platform& platform = *all_gpus().platform;
    weft_device_facts gpu{};
    if (platform.describe(number, &gpu) != WEFT_OK) {
        throw Error(ErrorKind::device, "GPU " + std::to_string(number), platform.last_error(),
                    "`weft doctor` says what this machine offers");
    }
    return {gpu.name, gpu.free_bytes};
}

PlanTarget this_machine(int threads, const cost::CostModel* cost) {
    const Machine machine = read_machine();
    PlanTarget out{nullptr, cost, threads};
    out.limit_bytes = machine.memory_free_bytes;
    out.limit_basis = machine.memory_free_basis;
    return out;
}

PlanTarget planned_hardware(const cost::Hardware& hardware, const cost::CostModel* cost) {
    PlanTarget out{&hardware, cost};
    out.limit_bytes = hardware.memory_bytes;
    out.limit_basis = "the memory of one " + std::string(hardware.title);
    return out;
}

std::optional<std::int64_t> limit_of(const compile::RunConfig& config, const PlanTarget& target) {
    return within_budget(config, target).limit_bytes;
}

data::DataOutline outline_run_data(const compile::RunConfig& config, const PlanTarget& target,
                                   const std::stop_token& stop, const data::OnOpening& on_opening) {
    data::OpenContext context{config.base_dir, config.context(), config.seed};
    context.stop = stop;
    context.on_opening = on_opening;
    return data::outline_data(
        config.section("data"), context,
        target.hardware == nullptr ? data::Files::must_exist : data::Files::may_be_absent);
}

plan::ExecutionPlan plan_run(const compile::RunConfig& config, const data::DataOutline& data,
                             const PlanTarget& given, const std::stop_token& stop,
                             compile::Scope scope) {
    refuse_planned_hardware(config, given);
    const PlanTarget target = within_budget(
        config, given.hardware == nullptr && names_gpus(config) ? on_gpus(config, given) : given);
    compile::PipelineOptions options = options_of(config, data, target, stop);
    // What is only compared with others never runs; the plan that does run is verified.
    options.verify = scope == compile::Scope::run || scope == compile::Scope::use;
    options.described = scope != compile::Scope::compare;
    // By its text a program that ran here before is known again; on other hardware none did.
    options.texts = options.described && target.hardware == nullptr;
    // Back ends of this machine are asked by one thread, and plans are compared on several already.
    if (target.hardware != nullptr && options.described) {
        // The rest is planned beside a step, whose threads it would take.
        options.workers = scope == compile::Scope::rest ? 1 : thread_count(target.threads);
    }
    plan::ExecutionPlan plan =
        compile::compile_run(config, data.sample, options, scope, target.limit_bytes);
    plan.limit_bytes = target.limit_bytes;
    plan.limit_basis = target.limit_basis;
    if (target.hardware == nullptr && plan.device != "cpu") {
        plan.host.prefetch_bytes +=
            plan.mesh.devices() * plan::kArgumentRooms * plan.landing_bytes();
    }
    if (config.section("log").at("inside_every").get<std::int64_t>() > 0) {
        plan.host.inside_bytes = watch_bytes(plan);
    }
    if (target.hardware != nullptr) {
        plan.device_title = target.hardware->title;
    }
    add_assumptions(config, data, target, plan);
    if (scope != compile::Scope::rest && scope != compile::Scope::use) {
        advise::add_finding_fixes(config, plan);
    }
    return plan;
}

std::shared_ptr<const plan::ExecutionPlan> shared_plan(const compile::RunConfig& config,
                                                       const PlanTarget& target,
                                                       const std::stop_token& stop,
                                                       compile::Scope scope) {
    return std::make_shared<const plan::ExecutionPlan>(
        plan_run(config, outline_run_data(config, target), target, stop, scope));
}

plan::ExecutionPlan with_measured(plan::ExecutionPlan plan, std::int64_t library_bytes,
                                  const std::optional<plan::DeviceMemory>& beside) {
    std::erase(plan.assumptions, library_line(plan.host.library_bytes));
    plan.host.library_bytes = library_bytes;
    if (beside) {
        std::erase(plan.assumptions, beside_line(plan.beside));
        plan.beside = *beside;
    }
    return plan;
}

advise::Planner step_planner(data::DataOutline data, PlanTarget target, std::stop_token stop) {
    return [data = std::move(data), target = std::move(target),
            stop = std::move(stop)](const compile::RunConfig& config) {
        return plan_run(config, data, target, stop, compile::Scope::compare);
    };
}

std::vector<plan::Alternative> find_fixes(const compile::RunConfig& config,
                                          const data::DataOutline& data, const PlanTarget& target,
                                          const std::stop_token& stop) {
    // Found by the training step; the other programs must fit as well.
    auto fixes = advise::fixes(config, step_planner(data, target, stop), kMostFixes, stop);
    std::erase_if(fixes, [&](plan::Alternative& fix) {
        const auto changed = compile::with_overrides(config, fix.overrides);
        WEFT_CHECK(changed.has_value(), "a fix is a valid configuration");
        const plan::ExecutionPlan whole = plan_run(*changed, data, target, stop);
        fix.peak_bytes = whole.memory_bytes();
        fix.predicted_step_ms = whole.predicted_step_ms;
        return !whole.fits();
    });
    return fixes;
}

plan::ExecutionPlan plan_to_run(const compile::RunConfig& config, const data::DataOutline& data,
                                const PlanTarget& target, std::int64_t step,
                                const std::stop_token& stop) {
    plan::ExecutionPlan plan = plan_run(config, data, target, stop);
    if (plan.fits()) {
        return plan;
    }
    const plan::PlannedProgram* program = plan::largest_program(plan);
    ErrorEvent event;
    event.where = program->name + ", " + plan::peak_op(*program);
    event.message = "the run needs " + format_bytes(plan.memory_bytes()) +
                    " at its peak, and there are " + format_bytes(*plan.limit_bytes) + " (" +
                    plan.limit_basis + ")";
    const auto fixes = find_fixes(config, data, target, stop);
    event.kind = error_kind_name(ErrorKind::memory);
    event.hint = hint_of(fixes);
    for (const plan::Alternative& fix : fixes) {
        event.ways_on.push_back(
            {fix.change + ": " + format_bytes(fix.peak_bytes), step, fix.overrides});
    }
    throw DoesNotFit(std::move(event));
}

} // namespace weft::train
