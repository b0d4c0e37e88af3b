// SPDX-License-Identifier: Apache-2.0
// weft checkpoint export CHECKPOINT --to FILE|FOLDER: weights for other programs.
#include "core/checkpoint/export.h"
#include "app/cli/commands/commands.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/foreign/describe.h"
#include "core/foreign/family_list.h"
#include "core/foreign/gguf.h"
#include "core/train/engine.h"
#include "core/train/warm_start.h"

#include <algorithm>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using foreign::StoredAs;

struct ExportOptions {
    std::string path;
    std::string from = "latest";
    std::string to;
    std::string as;   // empty: by the ending of `to`
    std::string type; // empty: as it is; of GGUF f16
    bool all = false;
    bool force = false;
};

const std::vector<std::string> kFormats = {"safetensors", "npz",  "huggingface",
                                           "torchvision", "timm", "gguf"};

std::string format_of(const ExportOptions& options) {
    if (!options.as.empty()) {
        return options.as;
    }
    const std::string ending = fs::path(options.to).extension().string();
    for (const std::string& format : kFormats) {
        if (ending == "." + format) {
            return format;
        }
    }
    throw Error(ErrorKind::usage, options.to, "the ending of the name says no format",
                "name it *.safetensors, *.npz or *.gguf, or say --as");
}

StoredAs stored_as(const std::string& type) {
    const auto* found =
        std::find(std::begin(foreign::kStoredNames), std::end(foreign::kStoredNames), type);
    return static_cast<StoredAs>(found - std::begin(foreign::kStoredNames));
}

/// By our own names, every element as it is.
bool is_own(const std::string& format) {
    return format == "safetensors" || format == "npz";
}

void check_combination(const ExportOptions& options, const std::string& format) {
    const auto refuse = [&](const std::string& what, const std::string& text) {
        throw Error(ErrorKind::usage, what, text, "leave it out");
    };
    if (is_own(format) && !options.type.empty()) {
        refuse("--type " + options.type, format + " keeps every array in the type that it has");
    }
    if (!is_own(format) && options.all) {
        refuse("--all", format + " holds weights alone");
    }
    if (options.type == "q8_0" && format != "gguf") {
        refuse("--type q8_0", "blocks of eight bits are for GGUF alone");
    }
    std::error_code problem;
    if (fs::exists(options.to, problem) && !options.force) {
        throw Error(ErrorKind::usage, options.to, "it is there already",
                    "name another one, or replace it with --force");
    }
}

void write_foreign(const ExportOptions& options, const std::string& format,
                   const checkpoint::Manifest& manifest) {
    const foreign::Arrays weights = train::weights_of(manifest);
    const config::Json& model = manifest.record.config.at("model");
    if (format == "gguf") {
        const auto name = manifest.record.config.value("name", std::string("weft"));
        foreign::write_gguf(options.to, weights, model, name,
                            stored_as(options.type.empty() ? "f16" : options.type));
        return;
    }
    const foreign::Family& family = foreign::family_for(format, foreign::resolved(model));
    const StoredAs stored = stored_as(options.type.empty() ? "f32" : options.type);
    if (format == "huggingface") {
        foreign::write_huggingface(options.to, family, weights, model, stored);
    } else {
        foreign::write_named(options.to, family, weights, stored);
    }
}

int export_weights(const ExportOptions& options) {
    const std::string format = format_of(options);
    check_combination(options, format);
    const checkpoint::Manifest manifest =
        checkpoint::read_manifest(train::find_checkpoint(options.path, options.from));
    const auto what =
        options.all ? checkpoint::ExportWhat::everything : checkpoint::ExportWhat::weights;
    if (format == "safetensors") {
        checkpoint::export_safetensors(manifest, options.to, what);
    } else if (format == "npz") {
        checkpoint::export_npz(manifest, options.to, what);
    } else {
        write_foreign(options, format, manifest);
    }
    std::error_code problem;
    const bool folder = fs::is_directory(options.to, problem);
    const auto bytes = folder ? directory_bytes(options.to)
                              : static_cast<std::int64_t>(fs::file_size(options.to, problem));
    std::printf("%s: step %s, %s\n", options.to.c_str(),
                format_thousands(manifest.record.step).c_str(), format_bytes(bytes).c_str());
    if (format == "huggingface" || format == "gguf") {
        std::printf("Without a tokenizer: tokens are the numbers of the training data.\n");
    }
    if (!is_own(format) && train::evaluates_average(manifest)) {
        std::printf("The averaged weights, with which the run was measured.\n");
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
        .option("--as", &options->as,
                "safetensors or npz by our names; a folder for transformers (huggingface); "
                "safetensors by the names of torchvision or timm; gguf. Left out: by the ending")
        .value_name("FORMAT")
        .one_of(kFormats);
    command
        .option("--type", &options->type,
                "of the numbers, by their names: f32 (left out; of gguf f16), f16, bf16; of gguf "
                "q8_0 too")
        .one_of({std::begin(foreign::kStoredNames), std::end(foreign::kStoredNames)});
    command.option("--from", &options->from, "of a run: latest, best or a step").show_default();
    command.flag("--all", &options->all, "optimizer state too, by our names");
    command.flag("--force", &options->force, "replace what is there");
    command.callback([options, &context] { context.exit_code = export_weights(*options); });
}

} // namespace weft::cli
