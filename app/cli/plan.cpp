// SPDX-License-Identifier: Apache-2.0
// weft plan CONFIG: what a run will hold and cost, before it starts, on this machine or on hardware
// that is not here.
#include "app/cli/commands.h"
#include "app/cli/json_output.h"
#include "core/base/error.h"
#include "core/compile/alternatives.h"
#include "core/train/machine_cost.h"
#include "core/train/planning.h"

namespace weft::cli {
namespace {

/// The recompute curve takes some twenty plans of the training step: unasked only where that is
/// quick.
constexpr double kQuickMs = 300;

struct Options {
    std::string config;
    std::string devices;
    std::string hardware;
    std::vector<std::string> overrides;
    bool advise = false;
    bool curve = false;
    bool json = false;
};

/// The device that --hardware names; null without it.
const cost::Hardware* hardware_of(const Options& options) {
    if (options.hardware.empty()) {
        return nullptr;
    }
    const cost::HardwareCount wanted = cost::parse_hardware(options.hardware);
    if (wanted.count > 1) {
        throw Error(ErrorKind::usage, "--hardware " + options.hardware,
                    "this version plans one device and cannot spread a run over " +
                        std::to_string(wanted.count),
                    "Plan what one of them holds: --hardware " +
                        std::string(wanted.hardware->name));
    }
    return wanted.hardware;
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
    nlohmann::ordered_json out = plan::to_json(plan);
    nlohmann::ordered_json all = diagnostics_json(diagnostics);
    for (auto& own : out["diagnostics"]) {
        all.push_back(std::move(own));
    }
    out["diagnostics"] = std::move(all);
    if (advice != nullptr) {
        out["advice"] = plan::to_json(*advice);
    }
    std::printf("%s\n", out.dump(2).c_str());
}

/// Prints the plan with its verdict; 4 when the run does not fit.
int print_plan(const compile::CheckedRun& checked, const train::PlanTarget& target,
               const Options& options, const plan::PageStyle& style) {
    const compile::RunConfig& config = checked.config;
    const data::DataOutline data = train::outline_run_data(config, target);
    plan::ExecutionPlan plan = train::plan_run(config, data, target, {});
    const compile::Planner planner = train::step_planner(data, target, {});
    if (!plan.fits()) {
        plan.fixes = train::find_fixes(config, data, target, {});
    }
    std::vector<plan::Alternative> advice;
    if (options.advise) {
        advice = compile::advise(config, planner, {});
    } else if (options.curve || plan.compile_ms <= kQuickMs) {
        plan.recompute_curve = compile::recompute_curve(config, planner, {});
    }
    if (options.json) {
        print_document(plan, checked.diagnostics, options.advise ? &advice : nullptr);
    } else {
        print_diagnostics(checked.diagnostics);
        std::printf("%s", options.advise ? plan::advice_text(plan, advice, style).c_str()
                                         : plan::to_text(plan, style).c_str());
    }
    return plan.fits() ? 0 : exit_code(ErrorKind::memory);
}

int plan_config(const Options& options, const Context& context) {
    const cost::Hardware* hardware = hardware_of(options);
    std::vector<std::string> overrides = options.overrides;
    if (!options.devices.empty()) {
        overrides.push_back("mesh.devices=\"" + options.devices + "\"");
    }
    const compile::CheckedRun checked = compile::read_run_config_file(options.config, overrides);
    if (!checked.ok()) {
        return print_invalid(checked.diagnostics, options.json);
    }
    const cost::CostModel cost =
        hardware != nullptr ? cost::CostModel(*hardware)
                            : train::machine_cost_model(context.calibration_file, context.threads);
    const train::PlanTarget target = hardware != nullptr
                                         ? train::planned_hardware(*hardware, &cost)
                                         : train::this_machine(context.threads, &cost);
    return print_plan(checked, target, options, {context.colour, context.columns});
}

} // namespace

void add_plan(CLI::App& app, Context& context) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "plan", "show whether a run fits and what it costs; exits with 4 when it does not fit");
    command->add_option("CONFIG", options->config, "configuration file (JSON)")->required();
    auto* devices =
        command->add_option("--devices", options->devices, "where to compute: auto or cpu");
    command
        ->add_option("--hardware", options->hardware,
                     "plan for a device that need not be here, e.g. h200")
        ->excludes(devices);
    command->add_option("--set", options->overrides, "change a setting: key.path=value")
        ->allow_extra_args(false);
    command->add_flag("--advise", options->advise,
                      "compare memory and step time over precision, recompute and micro batch");
    command->add_flag("--curve", options->curve,
                      "also show memory against step time over recompute where that takes long");
    command->add_flag("--json", options->json, "print JSON");
    command->callback([options, &context] { context.exit_code = plan_config(*options, context); });
}

} // namespace weft::cli
