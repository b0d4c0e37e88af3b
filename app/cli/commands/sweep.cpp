// SPDX-License-Identifier: Apache-2.0
// weft sweep CONFIG --vary ...: trials of a configuration into the queue; weft sweep
// list|show|stop|remove.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/run_file.h"
#include "core/base/text.h"
#include "core/config/pointer.h"
#include "core/queue/edit.h"
#include "core/queue/plan_sweep.h"
#include "core/queue/scheduler.h"
#include "core/queue/view.h"
#include "core/train/engine.h"

#include <algorithm>
#include <cstdio>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using queue::Book;
using queue::Entry;
using queue::Sweep;

struct SweepOptions {
    std::string config;
    std::vector<std::string> overrides;
    std::string devices;
    std::string method = "random";
    std::optional<std::int64_t> trials, min_steps, max_steps;
    queue::SweepRequest request;
    std::string name; // of an existing sweep
    bool dry_run = false;
    bool json = false;
    bool csv = false;
    bool other_command = false; // one of its subcommands was named
};

queue::Method method_named(const std::string& name) {
    const auto* const found =
        std::find(std::begin(queue::kMethodNames), std::end(queue::kMethodNames), name);
    return static_cast<queue::Method>(found - std::begin(queue::kMethodNames));
}

void print_planned(const queue::PlannedSweep& planned) {
    for (const std::string& note : planned.notes) {
        std::printf("%s\n", note.c_str());
    }
    if (planned.sweep.halves()) {
        std::printf("Rungs at steps %s; one trial in %d goes on.\n",
                    queue::rungs_text(planned.sweep).c_str(), planned.sweep.eta);
    }
    for (std::size_t i = 0; i < planned.trials.size(); ++i) {
        std::printf("%4zu  %s\n", i, queue::settings_text(planned.trials[i].settings).c_str());
    }
}

int make_sweep(SweepOptions& options, const Context& context) {
    if (options.config.empty()) {
        throw Error(ErrorKind::usage, "sweep", "no configuration is named",
                    "weft sweep CONFIG --vary key.path=values, or list, show, stop, remove.");
    }
    queue::SweepRequest& request = options.request;
    request.method = method_named(options.method);
    request.trials = options.trials;
    request.min_steps = options.min_steps;
    request.max_steps = options.max_steps;
    const queue::ReadRun read = [&](const std::vector<std::string>& varied) {
        std::vector<std::string> overrides = options.overrides;
        if (!options.devices.empty()) {
            overrides.push_back("mesh.devices=\"" + options.devices + "\"");
        }
        overrides.insert(overrides.end(), varied.begin(), varied.end());
        return read_run_file(options.config, overrides, MadeUpData::refused);
    };
    const queue::PlannedSweep planned = queue::plan_sweep(request, read, train::steps_of);
    print_diagnostics(planned.diagnostics);
    if (!planned.ok()) {
        return kExitUsage;
    }
    const fs::path folder = queue::folder_under(context.runs_root);
    if (!options.json) {
        print_planned(planned);
    }
    if (options.dry_run) {
        return 0;
    }
    const std::string name = queue::add_sweep(folder, planned, SystemClock().epoch_s());
    if (options.json) {
        const Book book = queue::read_book(folder);
        print_json(queue::to_json(queue::table_of(book, *book.find_sweep(name))));
        return 0;
    }
    std::printf("Queued as %s. Its table: weft sweep show %s\n", name.c_str(), name.c_str());
    if (!queue::is_scheduled(folder)) {
        std::printf("Nothing runs the queue yet: weft queue run\n");
    }
    return 0;
}

std::string best_text(const queue::SweepTable& table) {
    for (const queue::TrialRow& row : table.rows) {
        if (row.best) {
            for (std::size_t i = row.at.size(); i-- > 0;) {
                if (row.at[i]) {
                    return table.sweep->metric + " " + format_short(*row.at[i], 5) + " of trial " +
                           std::to_string(row.entry->trial);
                }
            }
        }
    }
    return "no value yet";
}

int list_sweeps(const SweepOptions& options, const Context& context) {
    const Book book = queue::read_book(queue::folder_under(context.runs_root));
    config::Json out = config::Json::array();
    for (const Sweep& sweep : book.sweeps) {
        const queue::SweepTable table = queue::table_of(book, sweep);
        if (options.json) {
            out.push_back(queue::to_json(table));
            continue;
        }
        std::printf("%-28s %-8s %zu of %zu trials ended, best %s\n", sweep.name.c_str(),
                    queue::kMethodNames[static_cast<std::size_t>(sweep.method)], table.ended,
                    table.rows.size(), best_text(table).c_str());
    }
    if (options.json) {
        print_json(out);
    } else if (book.sweeps.empty()) {
        std::printf("There are no sweeps.\n");
    }
    return 0;
}

/// Columns as wide as they have to be; numbers to the right.
void print_columns(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string fill(widths[i] - row[i].size(), ' ');
            const bool last = i + 1 == row.size();
            line += last ? row[i] : fill + row[i] + "  ";
        }
        std::printf("%s\n", line.c_str());
    }
}

void print_table(const queue::SweepTable& table) {
    const Sweep& sweep = *table.sweep;
    std::vector<std::vector<std::string>> rows(1);
    rows[0] = {"trial", "#"};
    rows[0].insert(rows[0].end(), table.settings.begin(), table.settings.end());
    for (const std::int64_t steps : sweep.rungs) {
        rows[0].push_back(steps > 0 ? "at " + format_thousands(steps) : "at the end");
    }
    rows[0].emplace_back("state");
    for (const queue::TrialRow& row : table.rows) {
        const Entry& entry = *row.entry;
        std::vector<std::string> cells = {std::to_string(entry.trial), std::to_string(entry.id)};
        for (const std::string& path : table.settings) {
            cells.push_back(queue::value_text(entry.settings.value(path, config::Json(nullptr))));
        }
        for (std::size_t i = 0; i < row.at.size(); ++i) {
            const bool reached = i < entry.results.size();
            cells.push_back(row.at[i] ? format_short(*row.at[i], 5) : reached ? "none" : "-");
        }
        cells.push_back((row.best ? "best; " : "") + queue::state_text(entry));
        rows.push_back(std::move(cells));
    }
    std::printf("%s: %s by %s (%s is better), seed %llu\n", sweep.name.c_str(),
                queue::kMethodNames[static_cast<std::size_t>(sweep.method)], sweep.metric.c_str(),
                sweep.smaller_is_better ? "smaller" : "larger",
                static_cast<unsigned long long>(sweep.seed));
    print_columns(rows);
    std::printf("%zu of %zu trials ended; best %s\n", table.ended, table.rows.size(),
                best_text(table).c_str());
}

int show_sweep(const SweepOptions& options, const Context& context) {
    const Book book = queue::read_book(queue::folder_under(context.runs_root));
    const queue::SweepTable table = queue::table_of(book, queue::sweep_of_name(book, options.name));
    if (options.json) {
        print_json(queue::to_json(table));
    } else if (options.csv) {
        const std::string text = queue::to_csv(table);
        std::fwrite(text.data(), 1, text.size(), stdout);
    } else {
        print_table(table);
    }
    return 0;
}

/// Trials that are under way save and stop.
int stop_sweep(const SweepOptions& options, const Context& context) {
    queue::change_book(queue::folder_under(context.runs_root), [&](Book& book) {
        queue::stop_sweep(book, options.name, SystemClock().epoch_s());
    });
    return 0;
}

int remove_sweep(const SweepOptions& options, const Context& context) {
    const fs::path folder = queue::folder_under(context.runs_root);
    std::vector<Entry> removed;
    queue::change_book(folder,
                       [&](Book& book) { removed = queue::remove_sweep(book, options.name); });
    for (const Entry& entry : removed) {
        std::error_code problem;
        fs::remove(queue::config_file(folder, entry.id), problem);
    }
    return 0;
}

void add_making(Command command, const std::shared_ptr<SweepOptions>& options, Context& context) {
    queue::SweepRequest& request = options->request;
    command.positional("CONFIG", &options->config, kRunFileHelp);
    command
        .option("--vary", &request.vary,
                "a setting and its values: key.path=32,64,128 or a range: log:1e-4..1e-2, "
                "uniform:0..0.5, int:1..8, logint:16..256; for a grid with points: "
                "log:1e-4..1e-2:5 (may be repeated)")
        .one_value();
    command
        .option("--method", &options->method,
                "grid: every combination; random: drawn; halving: at each rung the best go on; "
                "asha: without waiting for a rung to be complete")
        .one_of({std::begin(queue::kMethodNames), std::end(queue::kMethodNames)})
        .show_default();
    command.option("--trials", &options->trials, "how many are drawn (default: 12)");
    command.option("--metric", &request.metric,
                   "what trials are judged by (default: checkpoint.metric)");
    command.option("--mode", &request.mode, "which is better (default: by the metric)")
        .one_of({"min", "max"});
    command.option("--seed", &request.seed, "the same seed draws the same trials").show_default();
    command.option("--eta", &request.eta, "of a rung's trials one in so many goes on")
        .show_default();
    command.option("--min-steps", &options->min_steps,
                   "steps of the first rung (default: so that the last has about one trial)");
    command.option("--max-steps", &options->max_steps,
                   "full length of a trial, of its schedules too (default: training.length)");
    command.option("--name", &request.name, "of the sweep (default: that of the configuration)");
    command.option("--set", &options->overrides, "change a setting of all trials: key.path=value")
        .one_value();
    command.option("--devices", &options->devices,
                   "where each trial computes: auto, cpu, cpu:N, cuda, cuda:N or cuda:0,2");
    command.flag("--dry-run", &options->dry_run, "print the trials, queue nothing");
    command.flag("--json", &options->json, "print JSON");
    command.callback([options, &context] {
        if (!options->other_command) {
            context.exit_code = make_sweep(*options, context);
        }
    });
}

} // namespace

void add_sweep(Command app, Context& context) {
    auto options = std::make_shared<SweepOptions>();
    const Command command = app.subcommand(
        "sweep", "queue trials of a configuration that differ in some settings; see them");
    struct Listed {
        const char* name;
        const char* help;
        int (*run)(const SweepOptions&, const Context&);
    };
    constexpr Listed kCommandsOfIt[] = {
        {"list", "every sweep", list_sweeps},
        {"show", "the trials of a sweep as a table", show_sweep},
        {"stop", "end a sweep; trials that are under way save first", stop_sweep},
        {"remove", "take a sweep and its trials out of the queue; their runs stay", remove_sweep},
    };
    for (const Listed& one : kCommandsOfIt) {
        const Command below = command.subcommand(one.name, one.help);
        if (one.run != list_sweeps) {
            below.positional("NAME", &options->name, "of the sweep").required();
        }
        if (one.run == list_sweeps || one.run == show_sweep) {
            below.flag("--json", &options->json, "print JSON");
        }
        if (one.run == show_sweep) {
            below.flag("--csv", &options->csv, "print comma-separated values");
        }
        below.callback([options, run = one.run, &context] {
            options->other_command = true;
            context.exit_code = run(*options, context);
        });
    }
    add_making(command, options, context);
}

} // namespace weft::cli
