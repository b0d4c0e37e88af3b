// SPDX-License-Identifier: Apache-2.0
// weft check CONFIG: every diagnostic at once; trains nothing, creates nothing.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "core/base/error.h"
#include "core/compile/programs/model_sketch.h"
#include "core/compile/programs/programs.h"
#include "core/train/engine.h"
#include "core/train/start_check.h"

namespace weft::cli {
namespace {

struct CheckOptions {
    std::string config;
    std::vector<std::string> overrides;
    bool json = false;
};

// A sound configuration may still name data that is not there, or a model that does not fit it.
int check_data_and_model(const compile::RunConfig& config, config::Diagnostics& out) {
    const config::Diagnostics missing = train::missing_files(config);
    if (!missing.empty()) {
        out.insert(out.end(), missing.begin(), missing.end());
        return exit_code(ErrorKind::data);
    }
    try {
        const data::DataSet data = train::open_run_data(config);
        for (const data::Note& note : data.notes) {
            if (!note.is_decision) {
                out.push_back({"/data/train", config::Severity::warning, note, ""});
            }
        }
        compile::build_programs(config, data.train->info());
        return 0;
    } catch (const Error& fault) {
        const std::string pointer = fault.kind() == ErrorKind::data
                                        ? "/data/train"
                                        : compile::pointer_of_layer(fault.where());
        out.push_back(
            {pointer, config::Severity::error, fault.where() + ": " + fault.text(), fault.hint()});
        return exit_code(fault.kind());
    }
}

int check_config(const CheckOptions& options) {
    compile::CheckedRun checked = compile::read_run_config_file(options.config, options.overrides);
    int code =
        checked.ok() ? check_data_and_model(checked.config, checked.diagnostics) : kExitUsage;
    if (options.json) {
        print_json({{"valid", code == 0}, {"diagnostics", diagnostics_json(checked.diagnostics)}});
        return code;
    }
    print_diagnostics(checked.diagnostics);
    if (code == 0) {
        std::printf("%s is valid.\n", options.config.c_str());
    }
    return code;
}

} // namespace

void add_check(Command app, Context& context) {
    auto options = std::make_shared<CheckOptions>();
    const Command command = app.subcommand("check", "find every problem of a configuration");
    command.positional("CONFIG", &options->config, "configuration file (JSON)").required();
    command.option("--set", &options->overrides, "change a setting: key.path=value").one_value();
    command.flag("--json", &options->json, "print JSON");
    command.callback([options, &context] { context.exit_code = check_config(*options); });
}

} // namespace weft::cli
