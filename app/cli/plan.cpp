// SPDX-License-Identifier: Apache-2.0
// weft plan CONFIG: what a run will hold and compute, before it starts.
#include "app/cli/commands.h"
#include "app/cli/json_output.h"
#include "core/train/engine.h"

namespace weft::cli {
namespace {

struct Options {
    std::string config;
    std::string devices;
    std::vector<std::string> overrides;
    bool json = false;
};

int print_plan(const Options& options) {
    std::vector<std::string> overrides = options.overrides;
    if (!options.devices.empty()) {
        overrides.push_back("mesh.devices=\"" + options.devices + "\"");
    }
    const compile::CheckedRun checked = compile::read_run_config_file(options.config, overrides);
    if (!checked.ok()) {
        if (options.json) {
            print_json({{"diagnostics", diagnostics_json(checked.diagnostics)}});
        } else {
            print_diagnostics(checked.diagnostics);
        }
        return kExitUsage;
    }
    const data::DataSet data = train::open_run_data(checked.config);
    const auto plan = train::compile_plan(checked.config, data, {});
    if (options.json) {
        config::Json out = plan::to_json(*plan);
        out["diagnostics"] = diagnostics_json(checked.diagnostics);
        print_json(out);
    } else {
        print_diagnostics(checked.diagnostics);
        std::printf("%s", plan::to_text(*plan).c_str());
    }
    return 0;
}

} // namespace

void add_plan(CLI::App& app, Context& context) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("plan", "show memory, operations and kernels of a run");
    command->add_option("CONFIG", options->config, "configuration file (JSON)")->required();
    command->add_option("--devices", options->devices, "where to compute: auto or cpu");
    command->add_option("--set", options->overrides, "change a setting: key.path=value")
        ->allow_extra_args(false);
    command->add_flag("--json", options->json, "print JSON");
    command->callback([options, &context] { context.exit_code = print_plan(*options); });
}

} // namespace weft::cli
