// SPDX-License-Identifier: Apache-2.0
// weft checkpoint export CHECKPOINT --to FILE: weights for other programs.
#include "core/checkpoint/export.h"
#include "app/cli/commands/commands.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/train/engine.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
    std::string path;
    std::string from = "latest";
    std::string to;
    bool all = false;
    bool force = false;
};

int export_weights(const ExportOptions& options) {
    std::error_code problem;
    if (fs::exists(options.to, problem) && !options.force) {
        throw Error(ErrorKind::usage, options.to, "the file is there already",
                    "name another one, or replace it with --force");
    }
    const checkpoint::Manifest manifest =
        checkpoint::read_manifest(train::find_checkpoint(options.path, options.from));
    const auto what =
        options.all ? checkpoint::ExportWhat::everything : checkpoint::ExportWhat::weights;
    checkpoint::export_checkpoint(manifest, options.to, what);
    std::printf(
        "%s: %zu arrays of step %s, %s\n", options.to.c_str(),
        checkpoint::exported(manifest, what).size(), format_thousands(manifest.record.step).c_str(),
        format_bytes(static_cast<std::int64_t>(fs::file_size(options.to, problem))).c_str());
    return 0;
}

} // namespace

void add_export(Command checkpoint, Context& context) {
    auto options = std::make_shared<ExportOptions>();
    const Command command =
        checkpoint.subcommand("export", "write the weights as safetensors or NumPy's npz");
    command.positional("CHECKPOINT", &options->path, "checkpoint or run folder").required();
    command.option("--to", &options->to, "FILE.safetensors or FILE.npz").required();
    command.option("--from", &options->from, "of a run: latest, best or a step").show_default();
    command.flag("--all", &options->all, "optimizer state too");
    command.flag("--force", &options->force, "replace the file when it is there");
    command.callback([options, &context] { context.exit_code = export_weights(*options); });
}

} // namespace weft::cli
