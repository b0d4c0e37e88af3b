// SPDX-License-Identifier: Apache-2.0
// weft data audit RUN|CHECKPOINT: training samples that teach wrongly, and the list that a run
// without them takes (data.corrections).
#include "core/train/audit/audit.h"
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/signals.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/train/record/run_folder.h"

#include <algorithm>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using train::Audit;
using train::Suspect;
using train::Suspicion;

struct AuditCommand {
    std::string path;
    int checkpoints = 8;
    std::int64_t samples = 200'000;
    double likeness = 0.995;
    bool no_twins = false;
    int top = 20;
    std::string write;
    std::vector<std::string> exclude;
    bool relabel = false;
    double confidence = 0.5;
    bool progress = false;
    bool json = false;
};

std::string class_text(const Audit& audit, std::int32_t label) {
    const auto at = static_cast<std::size_t>(label);
    return label < 0                       ? "-"
           : at < audit.class_names.size() ? shown(audit.class_names[at], 20)
                                           : std::to_string(label);
}

void print_audit(const Audit& audit, int top) {
    std::printf("%s of %s training samples, %zu checkpoint%s.\n",
                format_thousands(audit.samples).c_str(),
                format_thousands(audit.all_samples).c_str(), audit.checkpoints.size(),
                audit.checkpoints.size() == 1 ? "" : "s");
    for (const std::string& note : audit.notes) {
        std::printf("Note: %s.\n", note.c_str());
    }
    std::printf("%s likely mislabelled, %s nearly the same as a sample of validation or test, "
                "%s as another of training.\n\n",
                format_thousands(audit.mislabelled).c_str(), format_thousands(audit.leaks).c_str(),
                format_thousands(audit.duplicates).c_str());
    std::printf("%8s  %-20s %-20s %10s %9s  %s\n", "sample", "label", "network says", "confidence",
                "mean loss", "because");
    const auto count = std::min(audit.suspects.size(), static_cast<std::size_t>(top));
    for (std::size_t i = 0; i < count; ++i) {
        const Suspect& one = audit.suspects[i];
        std::printf("%8lld  %-20s %-20s %9.1f%% %9.4g  %s\n", static_cast<long long>(one.index),
                    class_text(audit, one.label).c_str(), class_text(audit, one.says).c_str(),
                    100 * one.confidence, one.mean_loss, reasons_text(one).c_str());
    }
    if (audit.suspects.size() > count) {
        std::printf("%s more: --top, or --json.\n",
                    format_thousands(std::ssize(audit.suspects) - static_cast<std::int64_t>(count))
                        .c_str());
    }
}

/// Refused before anything is computed.
std::vector<Suspicion> excluded_of(const AuditCommand& options) {
    std::vector<Suspicion> out;
    for (const std::string& name : options.exclude) {
        const auto* const found =
            std::find_if(train::kSuspicions.begin(), train::kSuspicions.end(),
                         [&](Suspicion one) { return suspicion_name(one) == name; });
        if (found == train::kSuspicions.end()) {
            throw Error(ErrorKind::usage, "--exclude", "'" + shown(name) + "' is no suspicion",
                        "Name mislabelled, leak, duplicate or hard.");
        }
        out.push_back(*found);
    }
    if (options.write.empty() != (out.empty() && !options.relabel)) {
        throw Error(ErrorKind::usage, "--write",
                    options.write.empty() ? "a file to write is missing"
                                          : "nothing is decided about any sample",
                    "Give --write FILE together with --exclude or --relabel.");
    }
    return out;
}

/// `run`: that the list adds to.
void write_list(const AuditCommand& options, const Audit& audit,
                const std::vector<Suspicion>& excluded, const compile::RunConfig& run) {
    std::vector<data::Correction> list;
    std::size_t left_out = 0;
    std::size_t renamed = 0;
    for (const Suspect& one : audit.suspects) {
        const auto is = [&one](Suspicion reason) {
            return std::find(one.reasons.begin(), one.reasons.end(), reason) != one.reasons.end();
        };
        const bool excludes = std::any_of(excluded.begin(), excluded.end(), is);
        const bool relabels = !excludes && options.relabel && is(Suspicion::mislabelled) &&
                              one.confidence >= options.confidence;
        if (!excludes && !relabels) {
            continue;
        }
        ++(excludes ? left_out : renamed);
        list.push_back(
            {"train", one.index, one.crc32c, excludes ? -1 : one.says, reasons_text(one), 0});
    }
    data::write_corrections(options.write, train::with_earlier(run, std::move(list)));
    std::fprintf(
        options.json ? stderr : stdout,
        "%s: %zu left out, %zu with another class. Train with --set "
        "data.corrections=%s\n",
        options.write.c_str(), left_out, renamed,
        config::Json(fs::absolute(options.write).lexically_normal().string()).dump().c_str());
}

int audit_run(const AuditCommand& options, const Context& context) {
    const std::vector<Suspicion> excluded = excluded_of(options);
    if (options.likeness <= 0 || options.likeness > 1) {
        throw Error(ErrorKind::usage, "--likeness", "must be above 0 and at most 1");
    }
    std::stop_source source;
    SignalWatcher watcher;
    watcher.start([&source](const train::Command&) { source.request_stop(); });
    train::AuditOptions how;
    how.threads = context.threads;
    how.most_samples = options.samples;
    how.likeness = options.likeness;
    how.finds_twins = !options.no_twins;
    how.stop = source.get_token();
    if (options.progress) {
        how.told = [](const std::string& phase, double share) {
            const std::string line = config::Json{{"phase", phase}, {"share", share}}.dump();
            std::fprintf(stderr, "%s\n", line.c_str());
        };
    } else if (context.error_terminal) {
        how.told = [](const std::string& phase, double share) {
            std::fprintf(stderr, "\r\033[K%s: %.0f %%", phase.c_str(), 100 * share);
        };
    }
    const auto checkpoints =
        train::audited_checkpoints(options.path, static_cast<std::size_t>(options.checkpoints));
    const std::optional<Audit> audit = train::audit_data(checkpoints, how);
    std::fputs(context.error_terminal && !options.progress ? "\r\033[K" : "", stderr);
    if (!audit) {
        return exit_code_of_signal(watcher.ended_by());
    }
    const fs::path run = checkpoints.back().parent_path().parent_path();
    if (train::is_run_folder(run)) {
        make_directories(train::audit_file(run).parent_path());
        write_file_atomically(train::audit_file(run), to_json(*audit).dump() + "\n");
    }
    if (options.json) {
        print_json(to_json(*audit));
    } else {
        print_audit(*audit, options.top);
    }
    if (!options.write.empty()) {
        write_list(options, *audit, excluded,
                   train::saved_config(checkpoint::read_manifest(checkpoints.back())));
    }
    return 0;
}

} // namespace

void add_audit(Command data, Context& context) {
    auto options = std::make_shared<AuditCommand>();
    const Command command = data.subcommand(
        "audit", "training samples that teach wrongly, by what a run's checkpoints say of them");
    command.positional("RUN", &options->path, "run folder or checkpoint").required();
    command
        .option("--checkpoints", &options->checkpoints, "so many, from the whole length of the run")
        .between(1, 1000)
        .show_default();
    command.option("--samples", &options->samples, "look at so many at most")
        .positive()
        .show_default();
    command
        .option("--likeness", &options->likeness,
                "correlation from which two samples are nearly the same")
        .show_default();
    command.flag("--no-twins", &options->no_twins, "look for none that are nearly the same");
    command.option("--top", &options->top, "print so many").positive().show_default();
    command.option("--write", &options->write,
                   "write the list that data.corrections takes, with what the run's has");
    command
        .option("--exclude", &options->exclude,
                "leave those out that are mislabelled, leak, duplicate or hard")
        .one_value();
    command.flag("--relabel", &options->relabel, "give those mislabelled the network's class");
    command
        .option("--confidence", &options->confidence,
                "with --relabel: where it is at least so sure")
        .show_default();
    command.flag("--progress", &options->progress,
                 "how far it is as lines of JSON on stderr: phase, share");
    command.flag("--json", &options->json, "as JSON");
    command.callback([options, &context] { context.exit_code = audit_run(*options, context); });
}

} // namespace weft::cli
