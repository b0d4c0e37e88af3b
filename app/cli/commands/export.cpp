// SPDX-License-Identifier: Apache-2.0
// weft checkpoint export CHECKPOINT --to FILE|FOLDER: weights for other programs.
#include "app/cli/commands/commands.h"
#include "app/cli/store_paths.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/foreign/write_model.h"
#include "core/train/export/export_model.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
    std::string path;
    std::string from = "latest";
    std::string to;
    train::ExportRequest request;
};

std::vector<std::string> format_names() {
    std::vector<std::string> out;
    for (const train::ExportFormat& format : train::kExportFormats) {
        out.emplace_back(format.name);
    }
    return out;
}

int export_weights(const ExportOptions& options, const Context& context) {
    train::ExportRequest request = options.request;
    request.to = options.to;
    train::check_export(request);
    const checkpoint::Manifest manifest =
        checkpoint::read_manifest(checkpoint_at(options.path, options.from, context));
    const std::vector<std::string> remarks = train::export_model(manifest, request);
    std::error_code problem;
    const bool folder = fs::is_directory(options.to, problem);
    const auto bytes = folder ? directory_bytes(options.to)
                              : static_cast<std::int64_t>(fs::file_size(options.to, problem));
    std::printf("%s: step %s, %s\n", options.to.c_str(),
                format_thousands(manifest.record.step).c_str(), format_bytes(bytes).c_str());
    for (const std::string& remark : remarks) {
        std::printf("%s\n", remark.c_str());
    }
    return 0;
}

} // namespace

void add_export(Command checkpoint, Context& context) {
    auto options = std::make_shared<ExportOptions>();
    const Command command = checkpoint.subcommand(
        "export", "write the weights for other programs: by our names or by theirs");
    command.positional("CHECKPOINT", &options->path, "checkpoint or run folder").required();
    command.option("--to", &options->to, "file, or the folder of huggingface").required();
    command
        .option("--as", &options->request.as,
                "safetensors or npz by our names; a folder for transformers with the tokenizer "
                "(huggingface); safetensors by the names of torchvision or timm; gguf; onnx, the "
                "model with its "
                "weights; *.weights.h5 for the same layers in Keras (keras); the factors of "
                "init.lora alone (peft). Left out: by the ending")
        .value_name("FORMAT")
        .one_of(format_names());
    command
        .option("--type", &options->request.type,
                "of the numbers, by their names: f32 (left out; of gguf f16), f16, bf16; of gguf "
                "q8_0 too")
        .one_of({std::begin(foreign::kStoredNames), std::end(foreign::kStoredNames)});
    command.option("--from", &options->from, "of a run: latest, best or a step").show_default();
    command.flag("--all", &options->request.everything, "optimizer state too, by our names");
    command.flag("--force", &options->request.replaces, "replace what is there");
    command.callback(
        [options, &context] { context.exit_code = export_weights(*options, context); });
}

} // namespace weft::cli
