// SPDX-License-Identifier: Apache-2.0
#include "core/train/export/export_model.h"

#include "core/base/error.h"
#include "core/checkpoint/export.h"
#include "core/data/text/encode_text.h"
#include "core/foreign/adapters.h"
#include "core/foreign/describe.h"
#include "core/foreign/family_list.h"
#include "core/foreign/gguf.h"
#include "core/foreign/keras.h"
#include "core/nn/models/model_list.h"
#include "core/tokenizer/train_bpe.h"
#include "core/train/engine.h"
#include "core/train/export/export_onnx.h"
#include "core/train/warm_start.h"

#include <algorithm>

namespace weft::train {
namespace {

namespace fs = std::filesystem;
using foreign::StoredAs;

constexpr const char* kNumbersAlone = "tokens are the numbers of the training data.";

StoredAs stored_as(const std::string& type) {
    const auto* found =
        std::find(std::begin(foreign::kStoredNames), std::end(foreign::kStoredNames), type);
    return static_cast<StoredAs>(found - std::begin(foreign::kStoredNames));
}

/// By our own names, every element as it is.
bool is_own(const std::string& format) {
    return format == "safetensors" || format == "npz";
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
    const compile::CheckedRun run = read_saved_config(manifest);
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
std::string write_tokenizer(const ExportRequest& request, const checkpoint::Manifest& manifest) {
    std::string document = checkpoint::read_tokenizer_of(manifest);
    if (document.empty()) {
        const compile::CheckedRun run = read_saved_config(manifest);
        if (!run.ok() ||
            data::named_tokenizer(run.config.section("data"), run.config.base_dir) != "bytes") {
            return kNumbersAlone;
        }
        document = tokenizer::byte_document();
    }
    foreign::write_tokenizer(request.to, document, manifest.record.config.at("model"));
    return "";
}

void write_factors(const ExportRequest& request, const checkpoint::Manifest& manifest) {
    const auto lora = lora_of(manifest);
    if (!lora) {
        throw Error(ErrorKind::usage, manifest.path.string(), "the run trained no low-rank factors",
                    "peft is for runs with init.lora; export this one as huggingface");
    }
    const config::Json& trainable = manifest.record.config.at("init").at("trainable");
    if (trainable.is_array() && !trainable.empty()) {
        throw Error(ErrorKind::usage, manifest.path.string(),
                    "the run also trained " + trainable.dump() + ", which are no factors",
                    "export it merged: --as huggingface");
    }
    const config::Json model = foreign::resolved(manifest.record.config.at("model"));
    foreign::write_peft(request.to, foreign::family_for("huggingface", model), parts_of(manifest),
                        *lora, base_of(manifest),
                        stored_as(request.type.empty() ? "f32" : request.type));
}

void write_foreign(const ExportRequest& request, const std::string& format,
                   const checkpoint::Manifest& manifest) {
    if (format == "peft") {
        write_factors(request, manifest);
        return;
    }
    if (format == "onnx") {
        export_onnx(request.to, manifest);
        return;
    }
    const foreign::Arrays weights = weights_of(manifest);
    const config::Json& model = manifest.record.config.at("model");
    if (format == "gguf") {
        const auto name = manifest.record.config.value("name", std::string("weft"));
        foreign::write_gguf(request.to, weights, model, name,
                            stored_as(request.type.empty() ? "f16" : request.type));
        return;
    }
    if (format == "keras") {
        foreign::write_keras(request.to, in_order(weights, manifest), model);
        return;
    }
    const foreign::Family& family = foreign::family_for(format, foreign::resolved(model));
    const StoredAs stored = stored_as(request.type.empty() ? "f32" : request.type);
    if (format == "huggingface") {
        foreign::write_huggingface(request.to, family, weights, model, stored);
    } else {
        foreign::write_named(request.to, family, weights, stored);
    }
}

} // namespace

std::string export_format_of(const ExportRequest& request) {
    if (!request.as.empty()) {
        return request.as;
    }
    std::string ending = request.to.extension().string();
    ending = ending == ".h5" ? ".weights.h5" : ending; // Keras asks for both
    for (const ExportFormat& format : kExportFormats) {
        if (!ending.empty() && ending == format.ending) {
            return std::string(format.name);
        }
    }
    throw Error(ErrorKind::usage, request.to.string(), "the ending of the name says no format",
                "name it *.safetensors, *.npz, *.gguf, *.onnx or *.weights.h5, or say --as");
}

void check_export(const ExportRequest& request) {
    const std::string format = export_format_of(request);
    const auto refuse = [&](const std::string& what, const std::string& text) {
        throw Error(ErrorKind::usage, what, text, "leave it out");
    };
    if (is_own(format) && !request.type.empty()) {
        refuse("--type " + request.type, format + " keeps every array in the type that it has");
    }
    if (!is_own(format) && request.everything) {
        refuse("--all", format + " holds weights alone");
    }
    if ((format == "onnx" || format == "keras") && !request.type.empty()) {
        refuse("--type " + request.type, "such a file holds f32");
    }
    if (format == "keras" && !request.to.string().ends_with(".weights.h5")) {
        throw Error(ErrorKind::usage, request.to.string(),
                    "Keras loads weights from *.weights.h5 only", "name it so");
    }
    if (request.type == "q8_0" && format != "gguf") {
        refuse("--type q8_0", "blocks of eight bits are for GGUF alone");
    }
    std::error_code problem;
    if (fs::exists(request.to, problem) && !request.replaces) {
        throw Error(ErrorKind::usage, request.to.string(), "it is there already",
                    "name another one, or replace it with --force");
    }
}

std::vector<std::string> export_model(const checkpoint::Manifest& manifest,
                                      const ExportRequest& request,
                                      const checkpoint::Progress& progress) {
    check_export(request);
    const std::string format = export_format_of(request);
    if (is_own(format)) {
        auto arrays = request.everything
                          ? checkpoint::exported(manifest, checkpoint::ExportWhat::everything)
                          : exported_weights(manifest);
        if (format == "safetensors") {
            checkpoint::export_safetensors(manifest, std::move(arrays), request.to, progress);
        } else {
            checkpoint::export_npz(arrays, request.to, progress);
        }
    } else {
        write_foreign(request, format, manifest);
    }
    std::string untokenized = format == "gguf" ? kNumbersAlone : "";
    if (speaks(manifest) && (format == "huggingface" || format == "peft")) {
        untokenized = write_tokenizer(request, manifest);
    }
    std::vector<std::string> out;
    if (lora_of(manifest) && format != "peft" && !request.everything) {
        out.emplace_back("The factors of init.lora are added to their weights.");
    }
    if (format == "onnx") {
        out.emplace_back("It takes inputs as the data give them, scaled and transformed.");
    }
    if (!untokenized.empty()) {
        out.push_back("Without a tokenizer: " + untokenized);
    }
    if (!is_own(format) && evaluates_average(manifest)) {
        out.emplace_back("The averaged weights, with which the run was measured.");
    }
    return out;
}

} // namespace weft::train
