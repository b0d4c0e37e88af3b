// SPDX-License-Identifier: Apache-2.0
// weft runs list|diff
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/checkpoint/pointer.h"
#include "core/train/record/run_filter.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using config::Json;

struct RunsOptions {
    std::string root;
    std::string filter;
    std::string a;
    std::string b;
    bool json = false;
};

Json summary_json(const train::RunSummary& run) {
    return {{"folder", run.folder.string()},
            {"name", run.info.name},
            {"state", run.state},
            {"problem", run.problem},
            {"model", run.info.model},
            {"data", run.info.data},
            {"parameters", run.info.parameters},
            {"step", run.step},
            {"total_steps", run.total_steps},
            {"loss", run.last_loss},
            {"best_metric", run.best_metric},
            {"best_value", run.best_value ? Json(*run.best_value) : Json(nullptr)},
            {"best_step", run.best_step},
            {"checkpoint_step", run.last_checkpoint_step},
            {"seconds", run.seconds},
            {"bytes", run.bytes},
            {"modified", run.modified},
            {"parent", run.info.parent}};
}

train::RunFilter filter_of(const std::string& text, const std::vector<train::RunSummary>& runs) {
    train::RunNames names;
    for (const train::RunSummary& run : runs) {
        names.add(run);
    }
    train::RunFilter filter(text, names);
    if (!filter.problem().empty()) {
        throw Error(ErrorKind::usage, "--filter", filter.problem());
    }
    return filter;
}

int print_runs(const RunsOptions& options, const Context& context) {
    const fs::path root = options.root.empty() ? context.runs_root : fs::path(options.root);
    std::error_code problem;
    const fs::directory_iterator listed(root, problem);
    // Before the first run there is no folder of runs.
    if (problem && !(options.root.empty() && problem == std::errc::no_such_file_or_directory)) {
        throw Error(ErrorKind::usage, root.string(), "cannot list the folder: " + problem.message(),
                    "Name a folder of runs that may be read.");
    }
    auto runs = train::list_runs(root);
    const bool none = runs.empty();
    if (!none && !options.filter.empty()) {
        const train::RunFilter filter = filter_of(options.filter, runs);
        std::erase_if(runs, [&](const train::RunSummary& run) { return !filter.matches(run); });
    }
    Json out = Json::array();
    for (const train::RunSummary& run : runs) {
        if (options.json) {
            out.push_back(summary_json(run));
            continue;
        }
        const std::string steps =
            format_thousands(run.step) + " / " + format_thousands(run.total_steps);
        const std::string best =
            run.best_value ? run.best_metric + " " + Json(*run.best_value).dump() : "";
        std::printf("%-40s %-12s %16s  loss %-10.4g %s%s\n", run.folder.filename().c_str(),
                    run.state.c_str(), steps.c_str(), run.last_loss, best.c_str(),
                    run.problem.c_str());
    }
    if (options.json) {
        print_json(out);
    } else if (runs.empty()) {
        std::printf(none ? "There are no runs in %s.\n" : "No run in %s fits the filter.\n",
                    root.c_str());
    }
    return 0;
}

compile::RunConfig config_of(const std::string& folder) {
    compile::CheckedRun checked = train::read_frozen_config(folder);
    if (!checked.ok()) {
        throw Error(ErrorKind::usage, folder, config::to_text(checked.diagnostics.front()));
    }
    return std::move(checked.config);
}

// A run may be named by its folder's name alone.
std::string folder_of(const std::string& text, const Context& context) {
    const std::string named = checkpoint::follow_pointer(text).string();
    return train::is_run_folder(named) ? named : (context.runs_root / named).string();
}

int diff_runs(const RunsOptions& options, const Context& context) {
    const std::string a = folder_of(options.a, context);
    const std::string b = folder_of(options.b, context);
    const auto changes = compile::compare(config_of(a), config_of(b));
    const train::RunSummary runs[] = {train::summarise_run(a), train::summarise_run(b)};
    if (options.json) {
        Json fields = Json::array();
        for (const compile::FieldChange& change : changes) {
            fields.push_back({{"path", change.path}, {"a", change.before}, {"b", change.after}});
        }
        print_json(
            {{"fields", fields}, {"a", summary_json(runs[0])}, {"b", summary_json(runs[1])}});
        return 0;
    }
    for (const compile::FieldChange& change : changes) {
        std::printf("%-36s %s  ->  %s\n", change.path.c_str(), change.before.dump().c_str(),
                    change.after.dump().c_str());
    }
    if (changes.empty()) {
        std::printf("The configurations are equal.\n");
    }
    for (const train::RunSummary& run : runs) {
        std::printf("%s: %s, step %s, loss %.4g%s\n", run.folder.filename().c_str(),
                    run.state.c_str(), format_thousands(run.step).c_str(), run.last_loss,
                    run.best_value
                        ? (", best " + run.best_metric + " " + Json(*run.best_value).dump()).c_str()
                        : "");
    }
    return 0;
}

} // namespace

void add_runs(Command app, Context& context) {
    auto options = std::make_shared<RunsOptions>();
    const Command command = app.subcommand("runs", "list runs, compare two");
    command.needs_subcommand();
    const Command list_command = command.subcommand("list", "every run, newest first");
    list_command.positional("ROOT", &options->root,
                            "folder of runs (default: $WEFT_RUNS or ~/WeftRuns)");
    list_command.option("--filter", &options->filter,
                        "only runs that fit, as on the Runs page: \"learning_rate > 1e-3 tag:best "
                        "-state:failed\"; without it archived runs are listed, too");
    const Command diff_command = command.subcommand("diff", "settings and results of two runs");
    diff_command.positional("A", &options->a, "run folder or its name").required();
    diff_command.positional("B", &options->b, "run folder or its name").required();
    for (const Command& with_json : {list_command, diff_command}) {
        with_json.flag("--json", &options->json, "print JSON");
    }
    list_command.callback(
        [options, &context] { context.exit_code = print_runs(*options, context); });
    diff_command.callback(
        [options, &context] { context.exit_code = diff_runs(*options, context); });
}

} // namespace weft::cli
