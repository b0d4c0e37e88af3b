// SPDX-License-Identifier: Apache-2.0
// weft train CONFIG
#include "app/cli/commands/commands.h"
#include "app/cli/run_driver.h"
#include "app/cli/run_file.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/train/compute.h"
#include "core/train/record/run_folder.h"
#include "core/train/self_test/choose_devices.h"

namespace weft::cli {
namespace {

struct TrainOptions {
    std::string config;
    std::string base_dir;
    std::string run_dir;
    std::string devices;
    DriveOptions drive;
};

compile::CheckedRun read_config(const TrainOptions& options,
                                const std::vector<std::string>& overrides) {
    if (options.base_dir.empty()) {
        return read_run_file(options.config, overrides, MadeUpData::refused);
    }
    const std::string text = read_file(options.config, 16 << 20, ErrorKind::usage);
    return compile::read_run_config(std::string_view(text),
                                    std::filesystem::absolute(options.base_dir), overrides);
}

int train_run(const TrainOptions& options, const Context& context) {
    if (serves(context)) {
        return serve(context);
    }
    const auto team = open_team(context);
    std::vector<std::string> overrides = options.drive.overrides;
    if (!options.devices.empty()) {
        overrides.push_back("mesh.devices=\"" + options.devices + "\"");
    }
    compile::CheckedRun checked = read_config(options, overrides);
    print_diagnostics(checked.diagnostics);
    if (!checked.ok()) {
        return kExitUsage;
    }
    train::SessionOptions session;
    if (context.place && train::leaves_devices_open(checked.config)) {
        overrides.push_back("mesh.devices=\"cpu:" + std::to_string(context.place->size) + "\"");
        checked = read_config(options, overrides);
        print_diagnostics(checked.diagnostics);
        if (!checked.ok()) {
            return kExitUsage;
        }
    }
    if (train::leaves_devices_open(checked.config)) {
        const train::ChosenDevices chosen = train::choose_devices(
            checked.config, train::this_machine(context.threads, nullptr), tell_test);
        overrides.push_back("mesh.devices=\"" + chosen.devices + "\"");
        checked = read_config(options, overrides);
        session.devices_note = chosen.why;
    }
    require_ranks(checked.config, context);
    // GPUs that are not here, or compute wrongly, end it before there is a folder.
    train::require_passed(train::compute_of(checked.config), tell_test);
    if (options.run_dir.empty()) {
        session.run_folder = train::create_run_folder(context.runs_root, checked.config.name);
    } else {
        session.run_folder = std::filesystem::absolute(options.run_dir);
        train::create_run_folder_at(session.run_folder, options.config);
    }
    session.config = std::move(checked.config);
    session.team = team.get();
    return drive(std::move(session), options.drive, context);
}

} // namespace

void add_train(Command app, Context& context) {
    auto options = std::make_shared<TrainOptions>();
    const Command command = app.subcommand("train", "train a model as a configuration says");
    command.positional("CONFIG", &options->config, kRunFileHelp).required();
    command.option("--base-dir", &options->base_dir,
                   "relative paths of CONFIG count from here (default: its folder)");
    command.option("--run-dir", &options->run_dir,
                   "use exactly this new or empty folder (default: a numbered one in ~/WeftRuns)");
    command.option("--devices", &options->devices,
                   "where to compute: auto, cpu, cpu:N, cuda, cuda:N or cuda:0,2");
    add_drive_options(command, options->drive);
    command.callback([options, &context] { context.exit_code = train_run(*options, context); });
}

} // namespace weft::cli
