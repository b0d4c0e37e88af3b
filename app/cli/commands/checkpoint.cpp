// SPDX-License-Identifier: Apache-2.0
// weft checkpoint list|show|verify|diff; reshard and export have files of their own.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/store_paths.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/checkpoint/pointer.h"
#include "core/store/address.h"
#include "core/train/engine.h"
#include "core/train/progress.h"
#include "core/train/record/run_folder.h"
#include "core/train/slot_blocks.h"

#include <ctime>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using config::Json;

struct CheckpointOptions {
    std::string path;
    std::string other;
    std::string from = "latest";
    bool json = false;
};

std::string when(double epoch_s) {
    const auto seconds = static_cast<std::time_t>(epoch_s);
    std::tm local{};
    localtime_r(&seconds, &local);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
    return text;
}

fs::path checkpoints_of(const fs::path& named) {
    const fs::path path = checkpoint::follow_pointer(named);
    return train::is_run_folder(path) ? path / "checkpoints" : path;
}

int print_checkpoints(const CheckpointOptions& options) {
    const auto entries = checkpoint::list_checkpoints(checkpoints_of(options.path));
    Json out = Json::array();
    for (const checkpoint::Entry& entry : entries) {
        if (options.json) {
            out.push_back({{"path", entry.path.string()},
                           {"step", entry.step},
                           {"problem", entry.problem},
                           {"bytes", entry.bytes},
                           {"time", entry.saved_time},
                           {"epoch", entry.record.epoch},
                           {"metrics", entry.record.metrics},
                           {"metric_step", entry.record.metric_step},
                           {"kept_for", entry.record.kept_for}});
            continue;
        }
        std::printf("%-16s  %s  %10s  %s%s\n", entry.path.filename().c_str(),
                    when(entry.saved_time).c_str(), format_bytes(entry.bytes).c_str(),
                    join(entry.record.kept_for, ", ").c_str(),
                    entry.problem.empty() ? "" : ("UNUSABLE: " + entry.problem).c_str());
    }
    if (options.json) {
        print_json(out);
    } else if (entries.empty()) {
        std::printf("There are no checkpoints in %s.\n", options.path.c_str());
    }
    return 0;
}

int show(const CheckpointOptions& options, const Context& context) {
    const auto manifest =
        checkpoint::read_manifest(checkpoint_at(options.path, options.from, context));
    Json tensors = Json::array();
    for (const checkpoint::TensorInfo& tensor : manifest.tensors) {
        Json pieces = Json::array();
        for (const checkpoint::PieceInfo& piece : tensor.pieces) {
            pieces.push_back({{"block", sharding::to_text(piece.box)}, {"shard", piece.shard}});
        }
        tensors.push_back({{"name", tensor.name},
                           {"kind", tensor.kind},
                           {"type", ir::to_text(tensor.type)},
                           {"spec", tensor.spec},
                           {"pieces", std::move(pieces)}});
    }
    if (options.json) {
        print_json({{"path", manifest.path.string()},
                    {"step", manifest.record.step},
                    {"epoch", manifest.record.epoch},
                    {"bytes", manifest.bytes},
                    {"time", manifest.saved_time},
                    {"mesh", manifest.record.mesh},
                    {"counters", manifest.record.counters},
                    {"metrics", manifest.record.metrics},
                    {"metric_step", manifest.record.metric_step},
                    {"environment", manifest.record.environment},
                    {"tensors", std::move(tensors)},
                    {"config", manifest.record.config}});
        return 0;
    }
    std::printf("%s\nstep %s, epoch %.3f, %s, saved %s\n", manifest.path.c_str(),
                format_thousands(manifest.record.step).c_str(), manifest.record.epoch,
                format_bytes(manifest.bytes).c_str(), when(manifest.saved_time).c_str());
    if (!manifest.record.mesh.empty()) {
        std::printf("on %s, %zu shards\n", train::mesh_text(manifest.record.mesh).c_str(),
                    manifest.shards.size());
    }
    if (const auto left = train::left_to_base(manifest.record)) {
        const Json& from = manifest.record.config.at("init").at("from");
        std::printf("%zu arrays are those of %s (%s)\n", left->arrays.size(),
                    from.is_string() ? from.get_ref<const std::string&>().c_str() : "init.from",
                    left->fingerprint.c_str());
    }
    for (const auto& [name, value] : manifest.record.metrics.items()) {
        std::printf("  %s %s (step %lld)\n", name.c_str(), value.dump().c_str(),
                    static_cast<long long>(manifest.record.metric_step));
    }
    for (const checkpoint::TensorInfo& tensor : manifest.tensors) {
        std::printf("  %-12s %-44s %s%s\n", tensor.kind.c_str(), tensor.name.c_str(),
                    ir::to_text(tensor.type).c_str(),
                    tensor.pieces.size() > 1 ? (" " + tensor.spec).c_str() : "");
    }
    return 0;
}

// A run folder: every checkpoint in it; else the one checkpoint.
int verify(const CheckpointOptions& options, const Context& context) {
    const fs::path path = store::is_address(options.path)
                              ? checkpoint_at(options.path, "latest", context)
                              : checkpoint::follow_pointer(options.path);
    std::vector<fs::path> folders{path};
    if (train::is_run_folder(path)) {
        folders.clear();
        for (const auto& entry : checkpoint::list_checkpoints(checkpoints_of(path))) {
            folders.push_back(entry.path);
        }
    }
    int code = 0;
    for (const fs::path& folder : folders) {
        std::vector<std::string> problems;
        try {
            problems = train::verify_checkpoint(folder);
        } catch (const Error& fault) {
            problems = {fault.message()};
        }
        std::printf("%s: %s\n", folder.c_str(),
                    problems.empty() ? "every checksum is right" : "DAMAGED");
        for (const std::string& problem : problems) {
            std::printf("  %s\n", problem.c_str());
            code = exit_code(ErrorKind::checkpoint);
        }
    }
    return code;
}

int diff_checkpoints(const CheckpointOptions& options, const Context& context) {
    const auto a = checkpoint::read_manifest(checkpoint_at(options.path, options.from, context));
    const auto b = checkpoint::read_manifest(checkpoint_at(options.other, options.from, context));
    const checkpoint::Difference difference = checkpoint::compare(a, b);
    if (options.json) {
        Json tensors = Json::array();
        for (const auto& tensor : difference.tensors) {
            tensors.push_back({{"name", tensor.name},
                               {"max_absolute", tensor.max_absolute},
                               {"max_relative", tensor.max_relative},
                               {"norm_a", tensor.norm_a},
                               {"norm_b", tensor.norm_b},
                               {"norm_difference", tensor.norm_difference},
                               {"problem", tensor.problem}});
        }
        print_json({{"equal", difference.equal()},
                    {"tensors", tensors},
                    {"counters", difference.counters}});
        return difference.equal() ? 0 : kExitDiffers;
    }
    for (const std::string& counter : difference.counters) {
        std::printf("%s\n", counter.c_str());
    }
    for (const auto& tensor : difference.tensors) {
        if (tensor.problem.empty()) {
            std::printf("%-44s absolute %.3g  relative %.3g\n", tensor.name.c_str(),
                        tensor.max_absolute, tensor.max_relative);
        } else {
            std::printf("%-44s %s\n", tensor.name.c_str(), tensor.problem.c_str());
        }
    }
    if (difference.equal()) {
        std::printf("Equal: %zu tensors, counters, random keys and data position.\n",
                    a.tensors.size());
    }
    return difference.equal() ? 0 : kExitDiffers;
}

} // namespace

void add_checkpoint(Command app, Context& context) {
    auto options = std::make_shared<CheckpointOptions>();
    const Command command = app.subcommand("checkpoint", "look into saved states");
    command.needs_subcommand();
    const Command list_command = command.subcommand("list", "the checkpoints of a run");
    list_command.positional("RUN", &options->path, "run folder").required();
    const Command show_command = command.subcommand("show", "what a checkpoint holds");
    show_command.positional("CHECKPOINT", &options->path, "checkpoint or run folder").required();
    const Command verify_command =
        command.subcommand("verify", "read everything, check every checksum");
    verify_command.positional("CHECKPOINT", &options->path, "checkpoint or run folder").required();
    const Command diff_command = command.subcommand(
        "diff",
        "compare tensors, counters, random keys and data position; exit 0 equal, 1 different");
    diff_command.positional("A", &options->path, "checkpoint or run folder").required();
    diff_command.positional("B", &options->other, "checkpoint or run folder").required();
    for (const Command& with_from : {show_command, diff_command}) {
        with_from.option("--from", &options->from, "of a run: latest, best or a step")
            .show_default();
    }
    for (const Command& with_json : {list_command, show_command, diff_command}) {
        with_json.flag("--json", &options->json, "print JSON");
    }
    add_reshard(command, context);
    add_export(command, context);
    list_command.callback([options, &context] { context.exit_code = print_checkpoints(*options); });
    show_command.callback([options, &context] { context.exit_code = show(*options, context); });
    verify_command.callback([options, &context] { context.exit_code = verify(*options, context); });
    diff_command.callback(
        [options, &context] { context.exit_code = diff_checkpoints(*options, context); });
}

} // namespace weft::cli
