// SPDX-License-Identifier: Apache-2.0
// weft profile RUN: where the time of recorded steps went, and why
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/checkpoint/pointer.h"
#include "core/profile/time_table.h"
#include "core/profile/trace.h"
#include "core/profile/verdict.h"
#include "core/train/record/run_folder.h"

#include <cstdio>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using config::Json;
using profile::StepParts;

constexpr std::size_t kShownRows = 25;

struct ProfileOptions {
    std::string run;
    std::string against;
    std::string by = "op";
    std::string trace;
    std::optional<std::int64_t> step;
    bool all = false;
    bool json = false;
};

/// The newest recording of a run, or the one that begins with a step; or the file that is named.
fs::path recording_file(const std::string& text, std::optional<std::int64_t> step,
                        const Context& context) {
    std::error_code absent;
    if (fs::is_regular_file(text, absent) && fs::path(text).extension() == ".json") {
        if (step) {
            throw Error(ErrorKind::usage, text, "is one recording already",
                        "Leave --step out, or name the run.");
        }
        return text;
    }
    fs::path folder = checkpoint::follow_pointer(text);
    folder = train::is_run_folder(folder) ? folder : context.runs_root / text;
    if (!train::is_run_folder(folder)) {
        throw Error(ErrorKind::usage, text, "is no run and no recording",
                    "Name a run's folder, its name, or a file of its profile folder.");
    }
    const auto files = profile::list_recordings(folder);
    if (files.empty()) {
        throw Error(ErrorKind::usage, folder.string(), "has no recording",
                    "Record steps while it trains: weft train ... --profile 20.");
    }
    if (!step) {
        return files.back();
    }
    std::vector<std::string> known;
    for (const fs::path& file : files) {
        if (file.stem().string().ends_with(std::to_string(*step)) &&
            profile::read_recording(file).steps.front().step == *step) {
            return file;
        }
        known.push_back(file.filename().string());
    }
    throw Error(ErrorKind::usage, folder.string(),
                "has no recording that begins with step " + format_thousands(*step),
                "There are " + join(known, ", ") + ".");
}

Json parts_json(const StepParts& parts) {
    return {{"wall_us", parts.wall_us},       {"loader_us", parts.loader_us},
            {"compute_us", parts.compute_us}, {"exchange_us", parts.exchange_us},
            {"waited_us", parts.waited_us},   {"between_us", parts.between_us},
            {"host_us", parts.host_us}};
}

Json table_json(const profile::Recording& recording, const profile::TimeTable& table,
                const std::vector<profile::Cause>& causes) {
    Json out{{"run", recording.run},
             {"first_step", recording.steps.front().step},
             {"steps", recording.steps.size()},
             {"basis", recording.basis},
             {"asked_steps", recording.asked_steps},
             {"cut_short", recording.cut_short},
             {"dropped", recording.dropped},
             {"verdict", profile::verdict_of(causes)},
             {"step", parts_json(table.mean)}};
    for (std::size_t device = 0; device < table.devices.size(); ++device) {
        Json one = parts_json(table.devices[device]);
        one["name"] = recording.devices[device].name;
        out["devices"].push_back(std::move(one));
    }
    out["causes"] = Json::array();
    for (const profile::Cause& cause : causes) {
        out["causes"].push_back({{"cause", profile::cause_name(cause.kind)},
                                 {"share", cause.share},
                                 {"sentence", cause.sentence},
                                 {"fix", cause.fix},
                                 {"setting", cause.setting}});
    }
    for (const profile::Row& row : table.rows) {
        out["rows"].push_back({{"name", row.name},
                               {"calls", row.calls},
                               {"us", row.us},
                               {"waited_us", row.waited_us},
                               {"predicted_us", row.predicted_us},
                               {"best_us", row.best_us},
                               {"flops", row.flops},
                               {"bytes", row.bytes},
                               {"bound", row.bound}});
    }
    return out;
}

void print_parts(const profile::Recording& recording, const profile::TimeTable& table) {
    std::printf("%-10s %9s %9s %9s %9s %9s %9s %9s   ms of a step\n", "", "step", "loader",
                "compute", "exchange", "waiting", "between", "host");
    for (std::size_t device = 0; device < table.devices.size(); ++device) {
        const StepParts& parts = table.devices[device];
        std::printf("%-10s %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f\n",
                    recording.devices[device].name.c_str(), parts.wall_us / 1e3,
                    parts.loader_us / 1e3, parts.compute_us / 1e3, parts.exchange_us / 1e3,
                    parts.waited_us / 1e3, parts.between_us / 1e3, parts.host_us / 1e3);
    }
}

/// "12.3", or "-" for what is not known.
std::string known(double value, const char* format) {
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return value > 0 ? text : "-";
}

void print_rows(const profile::TimeTable& table, const std::string& by, bool all) {
    std::printf("\n%-36s %8s %7s %9s %9s %7s  %s\n", by.c_str(), "calls", "% step", "ms",
                "predicted", "x best", "bound by");
    const std::size_t shown = all ? table.rows.size() : std::min(kShownRows, table.rows.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const profile::Row& row = table.rows[i];
        std::printf("%-36s %8.4g %7.1f %9.3f %9s %7s  %s\n", row.name.c_str(), row.calls,
                    100 * row.us / std::max(table.mean.wall_us, 1e-9), row.us / 1e3,
                    known(row.predicted_us / 1e3, "%.3f").c_str(),
                    known(row.times_best(), "%.1f").c_str(), row.bound.c_str());
    }
    if (shown < table.rows.size()) {
        std::printf("... and %zu more (--all)\n", table.rows.size() - shown);
    }
}

void print_causes(const std::vector<profile::Cause>& causes) {
    std::printf("\n%s\n", profile::verdict_of(causes).c_str());
    for (std::size_t i = 0; i < causes.size(); ++i) {
        if (i > 0) {
            std::printf("%s\n", causes[i].sentence.c_str());
        }
        if (!causes[i].fix.empty()) {
            std::printf("  %s%s\n", causes[i].fix.c_str(),
                        causes[i].setting.empty() ? "" : (" [" + causes[i].setting + "]").c_str());
        }
    }
}

void print_changes(const profile::TimeTable& before, const profile::TimeTable& after,
                   const std::string& by, bool all) {
    std::printf("\n%-36s %9s %9s %9s   ms\n", by.c_str(), "before", "after", "change");
    const auto line = [](const std::string& name, double before_us, double after_us) {
        std::printf("%-36s %9.3f %9.3f %+9.3f\n", name.c_str(), before_us / 1e3, after_us / 1e3,
                    (after_us - before_us) / 1e3);
    };
    line("step", before.mean.wall_us, after.mean.wall_us);
    const auto rows = profile::compare(before, after);
    for (std::size_t i = 0; i < (all ? rows.size() : std::min(kShownRows, rows.size())); ++i) {
        line(rows[i].name, rows[i].before_us, rows[i].after_us);
    }
}

int profile_run(const ProfileOptions& options, const Context& context) {
    const profile::Grouping grouping = *profile::grouping_of(options.by);
    const fs::path file = recording_file(options.run, options.step, context);
    const profile::Recording recording = profile::read_recording(file);
    if (!options.trace.empty()) {
        write_file_atomically(options.trace, profile::to_trace(recording));
    }
    const profile::TimeTable table = profile::time_table(recording, grouping);
    const auto causes = profile::causes_of(recording);
    std::optional<profile::TimeTable> other;
    if (!options.against.empty()) {
        other = profile::time_table(
            profile::read_recording(recording_file(options.against, std::nullopt, context)),
            grouping);
    }
    if (options.json) {
        Json out = table_json(recording, table, causes);
        for (const auto& row :
             other ? profile::compare(*other, table) : std::vector<profile::ChangedRow>()) {
            out["changes"].push_back(
                {{"name", row.name}, {"before_us", row.before_us}, {"after_us", row.after_us}});
        }
        print_json(out);
        return 0;
    }
    const std::int64_t first = recording.steps.front().step;
    std::printf("%s, steps %s to %s\n", recording.run.c_str(), format_thousands(first).c_str(),
                format_thousands(recording.steps.back().step).c_str());
    if (!recording.cut_short.empty()) {
        std::printf("%zu of %s steps: %s.\n", recording.steps.size(),
                    format_thousands(recording.asked_steps).c_str(), recording.cut_short.c_str());
    }
    std::printf("Predictions and best times: %s\n\n", recording.basis.c_str());
    if (recording.dropped > 0) {
        std::printf("%s calls found no room in the recording: times are too short.\n",
                    format_thousands(recording.dropped).c_str());
    }
    print_parts(recording, table);
    print_rows(table, options.by, options.all);
    print_causes(causes);
    if (other) {
        print_changes(*other, table, options.by, options.all);
    }
    if (!options.trace.empty()) {
        std::printf("\nTrace for Perfetto: %s\n", options.trace.c_str());
    }
    return 0;
}

} // namespace

void add_profile(Command app, Context& context) {
    auto options = std::make_shared<ProfileOptions>();
    const Command command =
        app.subcommand("profile", "where the time of recorded steps went, and why it is slow");
    command.positional("RUN", &options->run, "run folder, its name, or a recording of it")
        .required();
    command.option("--step", &options->step,
                   "the recording that begins with this step (default: the newest)");
    command.option("--by", &options->by, "what the rows of the table are")
        .one_of({"op", "layer", "kernel", "phase"})
        .show_default();
    command.option("--against", &options->against,
                   "another run or recording, as it was before: what changed since");
    command.option("--trace", &options->trace,
                   "write the recording to this file, for Perfetto or chrome://tracing");
    command.flag("--all", &options->all, "every row of the table");
    command.flag("--json", &options->json, "print JSON");
    command.callback([options, &context] { context.exit_code = profile_run(*options, context); });
}

} // namespace weft::cli
