// SPDX-License-Identifier: Apache-2.0
// weft checkpoint export CHECKPOINT --to FILE|FOLDER: weights for other programs.
#include "core/checkpoint/export.h"
#include "app/cli/commands/commands.h"
#include "app/cli/onnx_export.h"
#include "app/cli/store_paths.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/text/encode_text.h"
#include "core/foreign/adapters.h"
#include "core/foreign/describe.h"
#include "core/foreign/family_list.h"
#include "core/foreign/gguf.h"
#include "core/foreign/keras.h"
#include "core/nn/models/model_list.h"
#include "core/tokenizer/train_bpe.h"
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

const std::vector<std::string> kFormats = {
    "safetensors", "npz", "huggingface", "peft", "torchvision", "timm", "gguf", "onnx", "keras"};
constexpr const char* kKerasEnding = ".h5"; // ".weights.h5", as Keras asks for

constexpr const char* kNumbersAlone = "tokens are the numbers of the training data.";

std::string format_of(const ExportOptions& options) {
    if (!options.as.empty()) {
        return options.as;
    }
    const std::string ending = fs::path(options.to).extension().string();
    if (ending == kKerasEnding) {
        return "keras";
    }
    for (const std::string& format : kFormats) {
        if (ending == "." + format) {
            return format;
        }
    }
    throw Error(ErrorKind::usage, options.to, "the ending of the name says no format",
                "name it *.safetensors, *.npz, *.gguf, *.onnx or *.weights.h5, or say --as");
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
    if ((format == "onnx" || format == "keras") && !options.type.empty()) {
        refuse("--type " + options.type, "such a file holds f32");
    }
    if (format == "keras" && !options.to.ends_with(".weights.h5")) {
        throw Error(ErrorKind::usage, options.to, "Keras loads weights from *.weights.h5 only",
                    "name it so");
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

/// The weights in the order of the layers, as the checkpoint lists them.
foreign::Arrays in_order(foreign::Arrays weights, const checkpoint::Manifest& manifest) {
    const auto place = [&](const foreign::Array& array) {
        const auto* tensor = manifest.find(array.name); // null: of the base of low-rank factors
        return tensor == nullptr ? manifest.tensors.size()
                                 : static_cast<std::size_t>(tensor - manifest.tensors.data());
    };
    std::stable_sort(weights.list.begin(), weights.list.end(),
                     [&](const auto& a, const auto& b) { return place(a) < place(b); });
    return weights;
}

/// The path that the run named for its weights, where transformers finds a model.
std::string base_of(const checkpoint::Manifest& manifest) {
    const compile::CheckedRun run = train::read_saved_config(manifest);
    const config::Json from = run.ok() ? run.config.section("init").at("from") : config::Json();
    if (!from.is_string()) {
        return "";
    }
    const fs::path path = run.config.base_dir / from.get<std::string>(); // absolute stays
    return foreign::foreign_config(path) ? path.lexically_normal().string() : std::string();
}

bool speaks(const checkpoint::Manifest& manifest) {
    const config::Json& settings = manifest.record.config.at("model");
    const nn::ModelDef* model = nn::find_model(settings.at("type").get<std::string>());
    return model != nullptr && model->language_model(settings);
}

/// A tokenizer.json for the run's tokens beside what was written. Gives why there is none.
std::string write_tokenizer(const ExportOptions& options, const checkpoint::Manifest& manifest) {
    std::string document = checkpoint::read_tokenizer_of(manifest);
    if (document.empty()) {
        const compile::CheckedRun run = train::read_saved_config(manifest);
        if (!run.ok() ||
            data::named_tokenizer(run.config.section("data"), run.config.base_dir) != "bytes") {
            return kNumbersAlone;
        }
        document = tokenizer::byte_document();
    }
    foreign::write_tokenizer(options.to, document, manifest.record.config.at("model"));
    return "";
}

void write_factors(const ExportOptions& options, const checkpoint::Manifest& manifest) {
    const auto lora = train::lora_of(manifest);
    if (!lora) {
        throw Error(ErrorKind::usage, options.path, "the run trained no low-rank factors",
                    "peft is for runs with init.lora; export this one as huggingface");
    }
    const config::Json& trainable = manifest.record.config.at("init").at("trainable");
    if (trainable.is_array() && !trainable.empty()) {
        throw Error(ErrorKind::usage, options.path,
                    "the run also trained " + trainable.dump() + ", which are no factors",
                    "export it merged: --as huggingface");
    }
    const config::Json model = foreign::resolved(manifest.record.config.at("model"));
    foreign::write_peft(options.to, foreign::family_for("huggingface", model),
                        train::parts_of(manifest), *lora, base_of(manifest),
                        stored_as(options.type.empty() ? "f32" : options.type));
}

void write_foreign(const ExportOptions& options, const std::string& format,
                   const checkpoint::Manifest& manifest) {
    if (format == "peft") {
        write_factors(options, manifest);
        return;
    }
    if (format == "onnx") {
        write_onnx_model(options.to, manifest);
        return;
    }
    const foreign::Arrays weights = train::weights_of(manifest);
    const config::Json& model = manifest.record.config.at("model");
    if (format == "gguf") {
        const auto name = manifest.record.config.value("name", std::string("weft"));
        foreign::write_gguf(options.to, weights, model, name,
                            stored_as(options.type.empty() ? "f16" : options.type));
        return;
    }
    if (format == "keras") {
        foreign::write_keras(options.to, in_order(weights, manifest), model);
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

int export_weights(const ExportOptions& options, const Context& context) {
    const std::string format = format_of(options);
    check_combination(options, format);
    const checkpoint::Manifest manifest =
        checkpoint::read_manifest(checkpoint_at(options.path, options.from, context));
    if (is_own(format)) {
        auto arrays = options.all
                          ? checkpoint::exported(manifest, checkpoint::ExportWhat::everything)
                          : train::exported_weights(manifest);
        if (format == "safetensors") {
            checkpoint::export_safetensors(manifest, std::move(arrays), options.to);
        } else {
            checkpoint::export_npz(arrays, options.to);
        }
    } else {
        write_foreign(options, format, manifest);
    }
    std::string untokenized = format == "gguf" ? kNumbersAlone : "";
    if (speaks(manifest) && (format == "huggingface" || format == "peft")) {
        untokenized = write_tokenizer(options, manifest);
    }
    std::error_code problem;
    const bool folder = fs::is_directory(options.to, problem);
    const auto bytes = folder ? directory_bytes(options.to)
                              : static_cast<std::int64_t>(fs::file_size(options.to, problem));
    std::printf("%s: step %s, %s\n", options.to.c_str(),
                format_thousands(manifest.record.step).c_str(), format_bytes(bytes).c_str());
    if (train::lora_of(manifest) && format != "peft" && !options.all) {
        std::printf("The factors of init.lora are added to their weights.\n");
    }
    if (format == "onnx") {
        std::printf("It takes inputs as the data give them, scaled and transformed.\n");
    }
    if (!untokenized.empty()) {
        std::printf("Without a tokenizer: %s\n", untokenized.c_str());
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
                "safetensors or npz by our names; a folder for transformers with the tokenizer "
                "(huggingface); safetensors by the names of torchvision or timm; gguf; onnx, the "
                "model with its "
                "weights; *.weights.h5 for the same layers in Keras (keras); the factors of "
                "init.lora alone (peft). Left out: by the ending")
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
    command.callback(
        [options, &context] { context.exit_code = export_weights(*options, context); });
}

} // namespace weft::cli
