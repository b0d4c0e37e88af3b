// SPDX-License-Identifier: Apache-2.0
// weft runs list|diff|explain; media and layers have files of their own
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/checkpoint/pointer.h"
#include "core/compare/explain.h"
#include "core/compare/run_value.h"
#include "core/train/record/run_filter.h"

#include <cmath>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using config::Json;

struct RunsOptions {
    std::string root;
    std::string filter;
    std::string a;
    std::string b;
    std::string columns;
    std::string metric;
    bool csv = false;
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

train::RunNames run_names_of(const std::vector<train::RunSummary>& runs) {
    train::RunNames names;
    for (const train::RunSummary& run : runs) {
        names.add(run);
    }
    return names;
}

train::RunFilter filter_of(const std::string& text, const train::RunNames& names) {
    train::RunFilter filter(text, names);
    if (!filter.problem().empty()) {
        throw Error(ErrorKind::usage, "--filter", filter.problem());
    }
    return filter;
}

struct Listed {
    fs::path root;
    std::vector<train::RunSummary> runs; // that fit
    train::RunNames names;               // of all
    bool none = false;                   // there are no runs at all
};

Listed listed_runs(const RunsOptions& options, const Context& context) {
    Listed out;
    const fs::path root = options.root.empty() ? context.runs_root : fs::path(options.root);
    out.root = root;
    std::error_code problem;
    const fs::directory_iterator listed(root, problem);
    // Before the first run there is no folder of runs.
    if (problem && !(options.root.empty() && problem == std::errc::no_such_file_or_directory)) {
        throw Error(ErrorKind::usage, root.string(), "cannot list the folder: " + problem.message(),
                    "Name a folder of runs that may be read.");
    }
    out.runs = train::list_runs(root);
    out.none = out.runs.empty();
    out.names = run_names_of(out.runs);
    if (!out.none && !options.filter.empty()) {
        const train::RunFilter filter = filter_of(options.filter, out.names);
        std::erase_if(out.runs, [&](const train::RunSummary& run) { return !filter.matches(run); });
    }
    return out;
}

std::vector<compare::RunColumn> columns_of(const std::string& text, const train::RunNames& names) {
    std::vector<compare::RunColumn> columns;
    for (const std::string& name : split(text, ',')) {
        columns.push_back(compare::find_column(trim(name), names));
    }
    return columns;
}

// Those that every run has, where none are named.
constexpr const char* kUsualColumns =
    "run,state,step,total_steps,loss,best_metric,best,best_step,time,size,tags,notes,parent,model,"
    "data,written";

void print_csv(const Listed& listed, const std::vector<compare::RunColumn>& columns) {
    std::vector<const train::RunSummary*> runs;
    for (const train::RunSummary& run : listed.runs) {
        runs.push_back(&run);
    }
    const std::string text = compare::to_csv(runs, columns);
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_run_columns(const Listed& listed, const std::vector<compare::RunColumn>& columns) {
    std::vector<std::vector<std::string>> rows(1);
    for (const compare::RunColumn& column : columns) {
        rows[0].push_back(column.text());
    }
    for (const train::RunSummary& run : listed.runs) {
        std::vector<std::string>& row = rows.emplace_back();
        for (const compare::RunColumn& column : columns) {
            const Json value = compare::value_of(run, column);
            row.push_back(value.is_null() ? "-" : shown(compare::value_text(value)));
        }
    }
    for (const std::vector<std::string>& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            std::size_t width = 0;
            for (const std::vector<std::string>& other : rows) {
                width = std::max(width, other[i].size());
            }
            line += row[i] + std::string(i + 1 < row.size() ? width - row[i].size() + 2 : 0, ' ');
        }
        std::printf("%s\n", line.c_str());
    }
}

Json columns_json(const Listed& listed, const std::vector<compare::RunColumn>& columns) {
    Json out = Json::array();
    for (const train::RunSummary& run : listed.runs) {
        Json& row = out.emplace_back(Json::object());
        for (const compare::RunColumn& column : columns) {
            row[column.text()] = compare::value_of(run, column);
        }
    }
    return out;
}

/// By columns that were asked for; false: none were.
bool print_chosen(const RunsOptions& options, const Listed& listed) {
    if (options.columns.empty() && !options.csv) {
        return false;
    }
    const auto columns =
        columns_of(options.columns.empty() ? kUsualColumns : options.columns, listed.names);
    if (options.csv) {
        print_csv(listed, columns);
    } else if (options.json) {
        print_json(columns_json(listed, columns));
    } else {
        print_run_columns(listed, columns);
    }
    return true;
}

int print_runs(const RunsOptions& options, const Context& context) {
    if (options.csv && options.json) {
        throw Error(ErrorKind::usage, "--csv", "cannot be combined with --json");
    }
    const Listed listed = listed_runs(options, context);
    if (!listed.runs.empty() && print_chosen(options, listed)) {
        return 0;
    }
    Json out = Json::array();
    for (const train::RunSummary& run : listed.runs) {
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
    } else if (listed.runs.empty()) {
        std::fprintf(options.csv ? stderr : stdout,
                     listed.none ? "There are no runs in %s.\n" : "No run in %s fits the filter.\n",
                     listed.root.c_str());
    }
    return 0;
}

Json measured_json(const std::optional<compare::Measured>& measured) {
    return measured ? Json{{"value", measured->value}, {"runs", measured->runs}} : Json(nullptr);
}

std::string measured_text(const std::optional<compare::Measured>& measured) {
    return measured ? format_short(measured->value, 3) : "-";
}

Json explained_json(const std::vector<compare::Explained>& found) {
    Json out = Json::array();
    for (const compare::Explained& one : found) {
        out.push_back({{"setting", one.path},
                       {"variance_share", measured_json(one.share)},
                       {"rank_correlation", measured_json(one.correlation)},
                       {"best_at", one.best},
                       {"best_mean", one.best_mean}});
    }
    return out;
}

void print_explained(const std::string& metric, const std::vector<compare::Explained>& found) {
    std::printf(
        "What goes with %s. Share: of its variance that lies between values of the setting,\n"
        "less chance (epsilon squared). Rank: Spearman's correlation.\n\n"
        "%-44s %8s %8s %6s  %s\n",
        metric.c_str(), "setting", "share", "rank", "runs", "best at");
    for (const compare::Explained& one : found) {
        const std::size_t runs = one.share         ? one.share->runs
                                 : one.correlation ? one.correlation->runs
                                                   : 0;
        std::printf("%-44s %8s %8s %6zu  %s\n", one.path.c_str(), measured_text(one.share).c_str(),
                    measured_text(one.correlation).c_str(), runs, shown(one.best).c_str());
    }
}

int explain_runs(const RunsOptions& options, const Context& context) {
    const Listed listed = listed_runs(options, context);
    const compare::RunColumn column = compare::find_column(options.metric, listed.names);
    if (column.kind != compare::RunColumn::Kind::metric) {
        throw Error(ErrorKind::usage, "METRIC", "'" + column.name + "' is no metric",
                    "Name a metric such as validation/loss:best or validation/accuracy.");
    }
    std::vector<const Json*> configs;
    std::vector<double> results;
    bool smaller = train::smaller_is_better(column.name);
    for (const train::RunSummary& run : listed.runs) {
        configs.push_back(&run.config);
        results.push_back(compare::number_of(run, column));
        const train::MetricSummary* metric = run.metric(column.name);
        smaller = metric != nullptr ? metric->smaller_is_better : smaller;
    }
    const auto settings = compare::varying_settings(configs);
    const auto found = compare::explain(settings, results, smaller);
    if (options.json) {
        print_json(explained_json(found));
    } else if (found.empty()) {
        std::printf("The %zu runs differ in no setting.\n", listed.runs.size());
    } else {
        print_explained(column.text(), found);
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
    const Command command = app.subcommand("runs", "list runs, compare two, explain what mattered");
    command.needs_subcommand();
    const Command list_command = command.subcommand("list", "every run, newest first");
    list_command.positional("ROOT", &options->root,
                            "folder of runs (default: $WEFT_RUNS or ~/WeftRuns)");
    list_command.option("--filter", &options->filter,
                        "only runs that fit, as on the Runs page: \"learning_rate > 1e-3 tag:best "
                        "-state:failed\"; without it archived runs are listed, too");
    list_command.option(
        "--columns", &options->columns,
        "what to print of each: facts (run, state, step, best, notes, ...), settings "
        "and metrics, e.g. run,learning_rate,validation/loss:best");
    list_command.flag("--csv", &options->csv, "print CSV");
    const Command explain_command = command.subcommand(
        "explain", "which settings go with a metric: share of its variance, rank correlation");
    explain_command.positional("METRIC", &options->metric, "e.g. validation/loss:best").required();
    explain_command.positional("ROOT", &options->root, "folder of runs");
    explain_command.option("--filter", &options->filter,
                           "only runs that fit, as in weft runs list");
    const Command diff_command = command.subcommand("diff", "settings and results of two runs");
    diff_command.positional("A", &options->a, "run folder or its name").required();
    diff_command.positional("B", &options->b, "run folder or its name").required();
    add_media(command, context);
    add_layers(command, context);
    for (const Command& with_json : {list_command, diff_command, explain_command}) {
        with_json.flag("--json", &options->json, "print JSON");
    }
    list_command.callback(
        [options, &context] { context.exit_code = print_runs(*options, context); });
    explain_command.callback(
        [options, &context] { context.exit_code = explain_runs(*options, context); });
    diff_command.callback(
        [options, &context] { context.exit_code = diff_runs(*options, context); });
}

} // namespace weft::cli
