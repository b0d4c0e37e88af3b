// SPDX-License-Identifier: Apache-2.0
#include "core/train/verify_mesh.h"

#include "core/advise/alternatives.h"
#include "core/base/error.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/compile/mesh/shard_programs.h"
#include "core/exec/reference_mode.h"
#include "core/exec/routing.h"
#include "core/train/engine.h"
#include "core/train/planning.h"
#include "core/train/program_io.h"
#include "core/train/update.h"

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>

namespace weft::train {
namespace {

// Reference kernels do some hundred million operations a second: about a minute.
constexpr double kMostReferenceFlops = 1e10;

// Losses are means of many terms: what is left of f32 sums in another order after a few updates,
// and of activations rounded to 8 or 11 bits.
constexpr double kLossToleranceF32 = 1e-4;
constexpr double kLossToleranceNarrow = 2e-2;

data::Loader loader_of(const compile::RunConfig& config, const data::DataSet& data) {
    const BatchOrder order = training_order(config, {});
    data::LoaderOptions options = loader_options(config, *data.train, order);
    options.prefetch = 0;
    return {data.train, sampler_of(config, *data.train, order), options, {}};
}

std::int64_t schedule_steps(const compile::RunConfig& config) {
    const bool counted = config.length.unit == compile::Cadence::Unit::steps;
    return counted ? static_cast<std::int64_t>(config.length.amount) : 100;
}

exec::Tensor tensor_of(const ir::Type& type, std::span<const std::byte> bytes) {
    exec::Tensor out(type);
    WEFT_CHECK(bytes.size() == out.data.size(), "an argument has the size of its type");
    std::memcpy(out.data.data(), bytes.data(), bytes.size());
    return out;
}

exec::Tensor scalar_of(const ir::Type& type, double value) {
    exec::Tensor out(type);
    if (type.dtype == ir::DType::i64) {
        out.span<std::int64_t>()[0] = static_cast<std::int64_t>(value);
    } else {
        out.span<float>()[0] = static_cast<float>(value);
    }
    return out;
}

void refuse(const compile::RunConfig& config) {
    const auto devices = config.section("mesh").at("devices").get<std::string>();
    if (compile::is_planned_hardware(devices)) {
        throw Error(ErrorKind::usage, "--verify",
                    "'" + devices + "' is hardware to plan for: it cannot run here",
                    "Verify the same mesh on simulated devices: --devices cpu:N.");
    }
    if (names_gpus(config)) {
        throw Error(ErrorKind::usage, "--verify",
                    "'" + devices + "': GPUs have no f64 to compare in",
                    "Verify the same mesh on simulated devices: --devices cpu:N.");
    }
    const sharding::Mesh mesh = compile::placement_of(config.section("mesh")).mesh;
    if (mesh.single()) {
        throw Error(ErrorKind::usage, "--verify", "the run has one device: nothing to compare with",
                    "Name several: --devices cpu:4, and a strategy with --set mesh.strategy=...");
    }
}

using SlotTensors = std::map<std::string, exec::Tensor, std::less<>>;

SlotTensors state_of(exec::Executor& executor) {
    SlotTensors out;
    for (const plan::StateSlot& slot : executor.plan().state_slots) {
        out[slot.name] = tensor_of(slot.whole, executor.read_slot(slot.name));
    }
    return out;
}

/// One tensor per argument of the program on whole arrays, for the update behind `done` others.
std::vector<exec::Tensor> step_arguments(const ir::Program& whole, const SlotTensors& state,
                                         const compile::RunConfig& config, const data::Batch& batch,
                                         std::int64_t done) {
    const auto scalars = UpdateScalars(config, schedule_steps(config)).of(batch, done, 1.0);
    const std::array<std::int64_t, 3> key{static_cast<std::int64_t>(config.seed), done,
                                          batch.first_sample};
    std::vector<exec::Tensor> out;
    for (const ir::Port& port : whole.arguments) {
        ir::Type type = whole.type(port.value);
        // A widened program takes what the host has in f32.
        type.dtype = type.dtype == ir::DType::f64 ? ir::DType::f32 : type.dtype;
        if (port.role == ir::Role::state) {
            out.push_back(state.at(port.name));
        } else if (port.name == "inputs" || port.name == "targets") {
            out.push_back(tensor_of(type, port.name == "inputs" ? batch.inputs : batch.targets));
        } else if (port.name == "weights") {
            out.push_back(tensor_of(type, std::as_bytes(std::span(batch.weights))));
        } else if (port.name == "others") {
            out.push_back(tensor_of(type, std::as_bytes(std::span(batch.others))));
        } else if (port.name == "shares") {
            out.push_back(tensor_of(type, std::as_bytes(std::span(batch.shares))));
        } else if (port.name == "random") {
            out.push_back(tensor_of(type, std::as_bytes(std::span(key))));
        } else {
            const auto found =
                std::find_if(scalars.begin(), scalars.end(),
                             [&](const auto& scalar) { return scalar.first == port.name; });
            WEFT_CHECK(found != scalars.end(), "a scalar that is known: " + port.name);
            out.push_back(scalar_of(type, found->second));
        }
        if (whole.type(port.value).dtype == ir::DType::f64) {
            out.back() = exec::widened(out.back());
        }
    }
    return out;
}

/// Called with the state before each step, and behind the last one.
using Watch = std::function<void(exec::Executor&, const data::Batch&, int step)>;

std::vector<double> losses_of(const compile::RunConfig& config, const data::DataSet& data,
                              int steps, int threads, const std::stop_token& stop,
                              const Watch& watch = {}) {
    const auto plan = shared_plan(config, {.threads = threads}, stop);
    exec::Executor executor(plan, backends(), {.threads = thread_count(threads)});
    initialise(executor, config);
    data::Loader loader = loader_of(config, data);
    Update update(executor, config, schedule_steps(config));
    std::vector<double> losses;
    for (int step = 0; step < steps && !stop.stop_requested(); ++step) {
        const auto batch = loader.next();
        if (watch) {
            watch(executor, *batch, step);
        }
        update.start(*batch, step, 1.0, stop);
        losses.push_back(update.numbers().loss);
    }
    if (watch && !stop.stop_requested()) {
        watch(executor, *loader.next(), steps);
    }
    return losses;
}

/// Relative; infinite where one alone is no number.
double loss_distance(double one, double other) {
    if (one == other || (std::isnan(one) && std::isnan(other))) {
        return 0;
    }
    const double off = std::abs(other - one) / std::abs(one);
    return std::isfinite(off) ? off : std::numeric_limits<double>::infinity();
}

void compare_losses(const std::vector<double>& one, const std::vector<double>& mesh,
                    MeshVerdict& verdict) {
    for (std::size_t i = 0; i < one.size() && i < mesh.size(); ++i) {
        const double relative = loss_distance(one[i], mesh[i]);
        if (relative > verdict.loss_difference) {
            verdict.loss_difference = relative;
            verdict.loss_step = static_cast<int>(i) + 1;
        }
    }
}

/// Experts choose by comparing numbers, so two runs that differ by roundings choose alike until two
/// numbers lie that near to each other; from there on they are two different runs.
void compare_routing(const compile::RunConfig& config, const data::DataSet& data, int threads,
                     const std::stop_token& stop, MeshVerdict& verdict) {
    const compile::RunConfig single = without_mesh(config);
    const compile::BatchPlan batch = compile::plan_batch(single);
    const ir::Program whole =
        compile::build_programs(single, data.train->info(), compile::Scope::step).programs.front();
    if (!exec::makes_choices(whole)) {
        return;
    }
    exec::Interpreter interpreter(whole, {.backends = backends()});
    using Choices = std::vector<std::vector<std::int32_t>>; // [step]
    const auto watched = [&](const compile::RunConfig& run, Choices& choices) {
        return losses_of(
            run, data, verdict.steps, threads, stop,
            [&](exec::Executor& executor, const data::Batch& next, int step) {
                choices.push_back(exec::choices_of(
                    interpreter, step_arguments(whole, state_of(executor), single, next, step)));
            });
    };
    Choices of_one, of_mesh;
    const std::vector<double> one = watched(single, of_one);
    const std::vector<double> mesh = watched(config, of_mesh);
    RoutingChange out;
    for (std::size_t i = 0; i < of_one.size() && i < of_mesh.size() && out.step == 0; ++i) {
        for (std::size_t k = 0; k < of_one[i].size(); ++k) {
            out.changed += of_one[i][k] != of_mesh[i][k] ? 1 : 0;
        }
        out.choices = std::ssize(of_one[i]);
        out.step = out.changed > 0 ? static_cast<int>(i) + 1 : 0;
    }
    if (out.step == 0) {
        return;
    }
    int parted = 0; // the first step whose losses differ
    for (std::size_t i = 0; i < one.size() && i < mesh.size() && parted == 0; ++i) {
        const bool differ = loss_distance(one[i], mesh[i]) > verdict.loss_tolerance;
        parted = differ ? static_cast<int>(i) + 1 : 0;
    }
    out.rows = batch.rows > 1 ? (batch.rows + 1) / 2 : 2;
    const auto other =
        compile::with_overrides(single, {"training.micro_batch_size=" + std::to_string(out.rows)});
    if (other) {
        const std::vector<double> regrouped = losses_of(*other, data, verdict.steps, threads, stop);
        for (std::size_t i = 0; i < one.size() && i < regrouped.size(); ++i) {
            out.loss_difference =
                std::max(out.loss_difference, loss_distance(one[i], regrouped[i]));
        }
    }
    // A flip within a step shows in the weights of the next one.
    out.explains = out.step <= parted + 1 && out.loss_difference > verdict.loss_tolerance;
    verdict.routing = out;
}

} // namespace

MeshStep mesh_step(const compile::RunConfig& config, const data::SampleInfo& sample) {
    compile::ProgramSet programs = compile::build_programs(config, sample, compile::Scope::step);
    const sharding::Placement placement = compile::placement_of(config.section("mesh"));
    MeshStep out;
    for (plan::StateSlot& slot : programs.state_slots) {
        slot.whole = slot.type;
    }
    out.mesh = placement.mesh;
    out.local = compile::shard_program(programs, programs.programs.front(), placement);
    out.whole = std::move(programs.programs.front());
    return out;
}

compile::RunConfig without_mesh(const compile::RunConfig& config) {
    const compile::BatchPlan batch = compile::plan_batch(config);
    std::vector<std::string> changes = {R"(mesh={"devices":"cpu"})"};
    if (config.micro_batch_size) {
        changes.push_back("training.micro_batch_size=" + std::to_string(batch.rows));
    }
    auto changed = compile::with_overrides(config, changes);
    WEFT_CHECK(changed.has_value(), "a run on a mesh is a run on one device");
    return *std::move(changed);
}

struct StepArguments::Impl {
    const compile::RunConfig& config;
    data::Loader loader;
    SlotTensors state;
    std::int64_t done = 0;
};

StepArguments::StepArguments(const compile::RunConfig& config, const data::DataSet& data,
                             int threads)
    : impl_(new Impl{config, loader_of(config, data), {}, 0}) {
    const compile::RunConfig single = without_mesh(config);
    const auto plan = shared_plan(single, {.threads = threads});
    exec::Executor executor(plan, backends(), {.threads = thread_count(threads)});
    initialise(executor, single);
    impl_->state = state_of(executor);
}

StepArguments::~StepArguments() = default;
StepArguments::StepArguments(StepArguments&&) noexcept = default;

std::vector<exec::Tensor> StepArguments::next(const ir::Program& whole) {
    const auto batch = impl_->loader.next();
    return step_arguments(whole, impl_->state, impl_->config, *batch, impl_->done++);
}

void StepArguments::take(const ir::Program& whole, const std::vector<exec::Tensor>& results) {
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (whole.results[i].role == ir::Role::state) {
            impl_->state.at(whole.results[i].name) = results[i];
        }
    }
}

void compare_steps(const MeshStep& step, StepArguments arguments, MeshVerdict& verdict,
                   const std::stop_token& stop) {
    exec::InterpretOptions options;
    if (!verdict.in_f64) {
        options.backends = backends();
    }
    verdict.agreement = verdict.in_f64 ? exec::kAgreeInF64 : exec::kAgreeInF32;
    exec::MeshComparer comparer(step.whole, step.local, step.mesh, options, verdict.agreement);
    for (int i = 0; i < verdict.steps && !verdict.first && !stop.stop_requested(); ++i) {
        exec::MeshComparison found = comparer.run(arguments.next(step.whole));
        verdict.values += found.values;
        verdict.largest_difference = std::max(verdict.largest_difference, found.largest);
        verdict.first = std::move(found.first);
        verdict.first_step = i + 1;
        arguments.take(step.whole, found.results);
    }
}

MeshVerdict verify_mesh(const compile::RunConfig& config, int steps, int threads,
                        const std::stop_token& stop) {
    refuse(config);
    const data::DataSet data = open_run_data(config);
    const compile::RunConfig single = without_mesh(config);
    MeshVerdict out;
    out.steps = steps;
    out.precision = config.precision;
    out.loss_tolerance =
        config.compute_dtype() == ir::DType::f32 ? kLossToleranceF32 : kLossToleranceNarrow;
    MeshStep step = mesh_step(config, data.train->info());
    out.mesh = step.mesh;
    double flops = 0;
    for (const ir::Op& op : step.whole.body.ops) {
        flops += ops::cost_of({step.whole, op}).flops;
    }
    // On one device and, together, on those of the mesh.
    out.in_f64 = 2 * flops * steps <= kMostReferenceFlops;
    if (out.in_f64) {
        exec::widen(step.whole);
        exec::widen(step.local.program);
    }
    compare_steps(step, StepArguments(config, data, threads), out, stop);
    compare_losses(losses_of(single, data, steps, threads, stop),
                   losses_of(config, data, steps, threads, stop), out);
    if (!out.losses_agree() && out.values_agree()) {
        compare_routing(config, data, threads, stop, out);
    }
    return out;
}

} // namespace weft::train
