// SPDX-License-Identifier: Apache-2.0
// weft resume RUN: the newest checkpoint goes on in the same run; an older one, or changed
// settings, is a fork, always.
#include "app/cli/commands/commands.h"
#include "app/cli/run_driver.h"
#include "app/cli/store_paths.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/pointer.h"
#include "core/store/address.h"
#include "core/train/compute.h"
#include "core/train/engine.h"
#include "core/train/record/run_summary.h"
#include "core/train/self_test/gpu_verdict.h"

#include <cstdio>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

struct ResumeOptions {
    std::string run;
    std::string from = "latest";
    std::string fork;
    std::int64_t extend = 0;
    bool elastic = false;
    DriveOptions drive;
};

// Prints what the overrides change. Returns false when one of them cannot be taken over.
bool report_changes(const std::vector<compile::FieldChange>& changes) {
    bool possible = true;
    for (const compile::FieldChange& change : changes) {
        const bool blocked = change.effect == compile::ChangeEffect::blocked;
        std::fprintf(stderr, "%s %s: %s -> %s%s\n", blocked ? "error" : "change",
                     change.path.c_str(), change.before.dump().c_str(), change.after.dump().c_str(),
                     blocked ? " (the saved weights would not fit)" : "");
        possible = possible && !blocked;
    }
    return possible;
}

fs::path make_fork_folder(const ResumeOptions& options, const fs::path& run,
                          const std::string& name) {
    if (options.fork.empty()) {
        return train::create_run_folder(run.parent_path(), name);
    }
    train::create_run_folder_at(options.fork);
    return fs::absolute(options.fork);
}

// Also when none of them can be used: then the run does not begin anew, as if there were nothing.
bool has_saved(const fs::path& run) {
    for (const auto& entry : checkpoint::list_checkpoints(run / "checkpoints")) {
        const bool interrupted = entry.path.filename().string().front() == '.';
        if (entry.step >= 0 && !interrupted) {
            return true;
        }
    }
    return false;
}

/// The run on as many devices as there are ranks now; why, where its mesh was another.
std::string take_these_ranks(const ResumeOptions& options, const Context& context,
                             const fs::path& run, const compile::RunConfig& frozen,
                             compile::CheckedRun& checked) {
    const auto before = frozen.section("mesh").at("devices").get<std::string>();
    const std::string now = (train::names_gpus(frozen) ? "cuda:" : "cpu:") +
                            std::to_string(context.place ? context.place->size : 1);
    if (!options.elastic || before == now) {
        return {};
    }
    std::vector<std::string> overrides = options.drive.overrides;
    overrides.push_back("mesh.devices=\"" + now + "\"");
    checked = train::read_frozen_config(run, overrides);
    print_diagnostics(checked.diagnostics);
    return "The run goes on on " + now + " in place of " + before +
           ": there are as many ranks now. Its batches stay the same.";
}

int resume_run(const ResumeOptions& options, const Context& context) {
    if (serves(context)) {
        return serve(context);
    }
    const auto team = open_team(context);
    std::string from = options.from;
    fs::path named = options.run;
    if (store::is_address(options.run)) {
        named = fetch_run(options.run, from, context).folder;
        from = "latest"; // the one that was fetched
        std::fprintf(stderr, "Fetched to %s\n", named.c_str());
    }
    fs::path run = fs::absolute(checkpoint::follow_pointer(named)).lexically_normal();
    run = run.has_filename() ? run : run.parent_path();
    if (!train::is_run_folder(run) && train::is_run_folder(run.parent_path().parent_path())) {
        from = std::to_string(checkpoint::read_manifest(run).record.step); // a checkpoint was named
        run = run.parent_path().parent_path();
    }
    if (!train::is_run_folder(run)) {
        throw Error(ErrorKind::usage, options.run, "this is not a run folder",
                    "see `weft runs list`");
    }
    const compile::CheckedRun before = train::read_frozen_config(run);
    compile::CheckedRun after = train::read_frozen_config(run, options.drive.overrides);
    print_diagnostics(after.diagnostics);
    if (!before.ok() || !after.ok()) {
        return kExitUsage;
    }
    train::SessionOptions session;
    session.devices_note = take_these_ranks(options, context, run, before.config, after);
    if (!after.ok()) {
        return kExitUsage;
    }
    auto changes = compile::compare(before.config, after.config);
    // What devices exchange through changes no bit; how many they are is as it must be.
    std::erase_if(changes, [&](const compile::FieldChange& change) {
        return change.path == "mesh.backend" ||
               (change.path == "mesh.devices" && !session.devices_note.empty());
    });
    if (!report_changes(changes)) {
        std::fprintf(stderr, "Train a new run instead, with `weft train`. Nothing was started.\n");
        return kExitUsage;
    }
    require_ranks(after.config, context);
    // GPUs that are not here, or compute wrongly, end it before anything changes.
    train::require_passed(train::compute_of(after.config), tell_test);
    session.extend_steps = options.extend;
    bool older = false;
    if (has_saved(run) || from != "latest") {
        session.start.checkpoint = train::find_checkpoint(run, from);
        // "latest" is never older, although a run that is trained may have saved again by now.
        older =
            from != "latest" && session.start.checkpoint != train::find_checkpoint(run, "latest");
    }
    session.start.or_older = from == "latest";
    session.start.fork = older || !changes.empty() || !options.fork.empty();
    if (session.start.fork) {
        session.start.parent_run = run;
        session.run_folder = make_fork_folder(options, run, after.config.name);
        std::fprintf(stderr, "This is a fork: %s stays as it is.\n", run.c_str());
    } else {
        session.run_folder = run;
        if (train::summarise_run(run).state == "finished" && options.extend == 0) {
            std::fprintf(stderr,
                         "The run is finished. Train on with --extend STEPS, or fork it with "
                         "--set or --fork.\n");
            return 0;
        }
    }
    session.config = std::move(after.config);
    session.team = team.get();
    return drive(std::move(session), options.drive, context);
}

} // namespace

void add_resume(Command app, Context& context) {
    auto options = std::make_shared<ResumeOptions>();
    const Command command = app.subcommand("resume", "go on from a checkpoint of a run");
    command
        .positional("RUN", &options->run,
                    "run folder, or one of its checkpoints; also s3://BUCKET/RUN")
        .required();
    command.option("--from", &options->from, "latest, best or a step").show_default();
    command.option("--fork", &options->fork, "begin a new run in this new or empty folder");
    command.flag("--elastic", &options->elastic,
                 "on as many devices as there are ranks now, in the same run");
    command.option("--extend", &options->extend, "train so many steps more than planned")
        .positive();
    add_drive_options(command, options->drive);
    command.callback([options, &context] { context.exit_code = resume_run(*options, context); });
}

} // namespace weft::cli
