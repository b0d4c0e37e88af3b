// SPDX-License-Identifier: Apache-2.0
// weft plan CONFIG: what a run will hold and cost, before it starts, on this machine or on hardware
// that is not here.
#include "app/cli/commands/commands.h"
#include "app/cli/commands/verify.h"
#include "app/cli/json_output.h"
#include "app/cli/run_file.h"
#include "core/advise/alternatives.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/compile/mesh/mesh_recipe.h"
#include "core/compile/programs/model_sketch.h"
#include "core/train/compute.h"
#include "core/train/find_meshes.h"
#include "core/train/measure/machine_cost.h"
#include "core/train/planning.h"
#include "core/train/self_test/choose_devices.h"

#include <algorithm>
#include <future>

namespace weft::cli {
namespace {

/// The recompute curve takes some twenty plans of the training step: unasked only where that is
/// quick.
constexpr double kQuickMs = 300;
constexpr int kMostVerifiedSteps = 1000;

struct PlanOptions {
    std::string config;
    std::string devices;
    std::string hardware;
    std::vector<std::string> overrides;
    std::string tensor;
    std::string copy_as; // a name of kMeshFormats
    int verify = 0; // steps; 0: plans only
    std::string specs = "jax"; // a dialect of sharding/spec_text.h
    bool advise = false;
    bool curve = false;
    bool model_text = false;
    bool json = false;
};

/// "--set" assignments, and the devices that the command line names.
std::vector<std::string> overrides_of(const PlanOptions& options) {
    std::vector<std::string> out = options.overrides;
    if (!options.hardware.empty()) {
        cost::parse_hardware(options.hardware); // says what is wrong with it
        out.push_back("mesh.devices=\"" + options.hardware + "\"");
    } else if (!options.devices.empty()) {
        out.push_back("mesh.devices=\"" + options.devices + "\"");
    }
    return out;
}

/// The hardware to plan for; null: this machine.
const cost::Hardware* hardware_of(const compile::RunConfig& config) {
    const auto devices = config.section("mesh").at("devices").get<std::string>();
    return compile::is_planned_hardware(devices) ? cost::parse_hardware(devices).hardware : nullptr;
}

int print_invalid(const config::Diagnostics& diagnostics, bool json) {
    if (json) {
        print_json({{"diagnostics", diagnostics_json(diagnostics)}});
    } else {
        print_diagnostics(diagnostics);
    }
    return kExitUsage;
}

/// The configuration's diagnostics before the plan's own.
void print_document(const plan::ExecutionPlan& plan, const config::Diagnostics& diagnostics,
                    const std::vector<plan::Alternative>* advice) {
    config::Json out = plan::to_json(plan);
    config::Json all = diagnostics_json(diagnostics);
    for (auto& own : out["diagnostics"]) {
        all.push_back(std::move(own));
    }
    out["diagnostics"] = std::move(all);
    if (advice != nullptr) {
        out["advice"] = plan::to_json(*advice);
    }
    std::printf("%s\n", out.dump(2).c_str());
}

int print_tensor(const plan::ExecutionPlan& plan, const PlanOptions& options,
                 const plan::PageStyle& style) {
    const std::optional<plan::Tensor> tensor = plan::find_tensor(plan, options.tensor);
    if (!tensor) {
        std::vector<std::string> names;
        for (const plan::StateSlot& one : plan.state_slots) {
            names.push_back(one.name);
        }
        for (const plan::Activation& one : plan.activations) {
            names.push_back(one.name);
        }
        throw Error(ErrorKind::usage, "--tensor " + shown(options.tensor),
                    "the run has no tensor '" + shown(options.tensor) + "'",
                    name_hint(options.tensor, names));
    }
    if (options.json) {
        std::printf("%s\n", plan::tensor_json(plan, *tensor).dump(2).c_str());
    } else {
        std::printf("%s", plan::tensor_text(plan, *tensor, style).c_str());
    }
    return 0;
}

/// The mesh in another program's words.
int print_mesh_as(const plan::ExecutionPlan& plan, const compile::RunConfig& config,
                  const std::string& name) {
    const auto def = std::ranges::find(plan::kMeshFormats, name, &plan::MeshFormatDef::name);
    std::printf("%s", plan::write_mesh_as(def->format, plan, compile::mesh_recipe(config)).c_str());
    return 0;
}

/// Prints the meshes that are best; 4 when none fits.
int print_mesh_advice(const plan::ExecutionPlan& plan, const advise::MeshAdvice& found,
                      const PlanOptions& options, const plan::PageStyle& style) {
    if (options.json) {
        config::Json others = config::Json::array();
        for (const auto& [reason, count] : found.others) {
            others.push_back({{"reason", reason}, {"count", count}});
        }
        const config::Json out{{"advice", plan::to_json(found.ways)},
                               {"candidates", found.candidates},
                               {"others", std::move(others)}};
        std::printf("%s\n", out.dump(2).c_str());
    } else {
        std::printf("%s", plan::mesh_advice_text(plan, found.ways, found.others, style).c_str());
        if (std::any_of(found.ways.begin(), found.ways.end(), [](const plan::Alternative& way) {
                return way.change.find("pipeline=") != std::string::npos;
            })) {
            std::printf("\nPipelines were planned with one microbatch more than stages; the others "
                        "follow from it.\n");
        }
    }
    return found.ways.empty() ? exit_code(ErrorKind::memory) : 0;
}

/// Searches for the meshes that are best, and plans the run as it is meanwhile. What is advised is
/// judged by the training step.
int advise_on_mesh(const compile::RunConfig& config, const data::DataOutline& data,
                   const train::PlanTarget& target, const PlanOptions& options,
                   const plan::PageStyle& style) {
    // Back ends of this machine are asked by one thread at a time.
    const bool here = target.hardware == nullptr;
    const std::shared_future<plan::ExecutionPlan> own =
        std::async(here ? std::launch::deferred : std::launch::async,
                   [&] { return train::plan_run(config, data, target, {}, compile::Scope::step); });
    const advise::MeshAdvice found = train::find_meshes(
        config, data, target,
        here ? train::limit_of_device(own.get()) : train::limit_of(config, target), {});
    return print_mesh_advice(own.get(), found, options, style);
}

/// Prints the plan with its verdict; 4 when the run does not fit.
int print_plan(const compile::CheckedRun& checked, train::PlanTarget target,
               const PlanOptions& options, const plan::PageStyle& style) {
    const data::DataOutline data = train::outline_run_data(checked.config, target);
    if (target.hardware == nullptr && train::leaves_devices_open(checked.config)) {
        target.gpus = train::gpus_here();
    }
    const compile::RunConfig config = train::on_planned_devices(checked.config, data, target, {});
    const bool on_mesh = !compile::placement_of(config.section("mesh")).mesh.single();
    if (options.advise && on_mesh && target.cost->available() && options.tensor.empty()) {
        return advise_on_mesh(config, data, target, options, style);
    }
    plan::ExecutionPlan plan = train::plan_run(
        config, data, target, {},
        options.advise || !options.copy_as.empty() ? compile::Scope::step : compile::Scope::run);
    if (!options.tensor.empty()) {
        return print_tensor(plan, options, style);
    }
    if (!options.copy_as.empty()) {
        return print_mesh_as(plan, config, options.copy_as);
    }
    const advise::Planner planner = train::step_planner(data, target, {});
    if (!plan.fits() && (!options.advise || plan.mesh.single())) {
        plan.fixes = train::find_fixes(config, data, target, {});
    }
    std::vector<plan::Alternative> advice;
    if (options.advise) {
        advice = advise::alternatives(config, planner, {});
    } else if (options.curve || plan.compile_ms <= kQuickMs) {
        plan.recompute_curve = advise::recompute_curve(config, planner, {});
    }
    config::Diagnostics found = checked.diagnostics;
    for (const std::string& warning : data.warnings) {
        found.push_back({"/data/train", config::Severity::warning, warning, ""});
    }
    if (options.json) {
        print_document(plan, found, options.advise ? &advice : nullptr);
    } else {
        print_diagnostics(found);
        std::printf("%s", options.advise ? plan::advice_text(plan, advice, style).c_str()
                                         : plan::to_text(plan, style).c_str());
    }
    return plan.fits() ? 0 : exit_code(ErrorKind::memory);
}

/// Runs the mesh beside one device; 1 when they differ.
int print_verdict(const compile::RunConfig& config, const PlanOptions& options,
                  const Context& context) {
    const train::MeshVerdict verdict = train::verify_mesh(config, options.verify, context.threads);
    if (options.json) {
        std::printf("%s\n", config::Json{{"verify", verdict_json(verdict)}}.dump(2).c_str());
    } else {
        std::printf("%s", verdict_text(verdict).c_str());
    }
    return verdict.values_agree() && verdict.losses_agree() ? 0 : kExitDiffers;
}

int plan_config(const PlanOptions& options, const Context& context) {
    const compile::CheckedRun checked =
        read_run_file(options.config, overrides_of(options), MadeUpData::allowed);
    if (!checked.ok()) {
        return print_invalid(checked.diagnostics, options.json);
    }
    if (options.model_text) {
        const train::PlanTarget here{.threads = context.threads};
        std::printf("%s", compile::text_of_model(
                              checked.config, train::outline_run_data(checked.config, here).sample)
                              .c_str());
        return 0;
    }
    if (options.verify > 0) {
        return print_verdict(checked.config, options, context);
    }
    const cost::Hardware* hardware = hardware_of(checked.config);
    const cost::CostModel cost =
        hardware != nullptr ? cost::CostModel(*hardware)
                            : train::machine_cost_model(context.calibration_file, context.threads);
    const train::PlanTarget target = hardware != nullptr
                                         ? train::planned_hardware(*hardware, &cost)
                                         : train::this_machine(context.threads, &cost);
    const auto specs =
        options.specs == "jax" ? sharding::SpecDialect::jax : sharding::SpecDialect::dtensor;
    return print_plan(checked, target, options, {context.colour, context.columns, specs});
}

} // namespace

void add_plan(Command app, Context& context) {
    auto options = std::make_shared<PlanOptions>();
    const Command command = app.subcommand(
        "plan", "show whether a run fits and what it costs; exits with 4 when it does not fit");
    command.positional("CONFIG", &options->config, kRunFileHelp).required();
    const Option devices =
        command.option("--devices", &options->devices,
                       "where to compute: auto, cpu, cpu:N, cuda, cuda:N or cuda:0,2");
    command
        .option("--hardware", &options->hardware,
                "plan for devices that need not be here, e.g. h200 or h200:8")
        .excludes(devices);
    command.option("--set", &options->overrides, "change a setting: key.path=value").one_value();
    command.option("--tensor", &options->tensor,
                   "show which device holds which part of this tensor");
    command
        .option("--specs", &options->specs,
                "write how arrays are split as JAX does, or as placements of PyTorch's DTensor")
        .one_of({"jax", "dtensor"});
    std::vector<std::string> formats;
    for (const plan::MeshFormatDef& def : plan::kMeshFormats) {
        formats.emplace_back(def.name);
    }
    command
        .option("--copy-as", &options->copy_as,
                "print the mesh in the words of another program, or as text or JSON")
        .value_name("FORMAT")
        .one_of(formats);
    command
        .option("--verify", &options->verify,
                "run so many training steps on the simulated devices and on one, and name the "
                "first op that differs; exits with 1 when one does")
        .value_name("STEPS")
        .between(1, kMostVerifiedSteps);
    command.flag(
        "--advise", &options->advise,
        "compare memory and step time over precision, recompute and micro batch; on several "
        "devices, search for the best mesh");
    command.flag("--curve", &options->curve,
                 "also show memory against step time over recompute where that takes long");
    command.flag("--model-text", &options->model_text,
                 "print the model op by op, as the text that the model 'graph' reads");
    command.flag("--json", &options->json, "print JSON");
    command.callback([options, &context] { context.exit_code = plan_config(*options, context); });
}

} // namespace weft::cli
