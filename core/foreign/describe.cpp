// SPDX-License-Identifier: Apache-2.0
#include "core/foreign/describe.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/foreign/family_list.h"
#include "core/foreign/onnx.h"
#include "core/nn/models/model_list.h"
#include "core/tokenizer/tokenizer.h"

namespace weft::foreign {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigName = "config.json";
constexpr std::int64_t kMostConfigBytes = 16 << 20; // class names by the ten thousand
constexpr const char* kTypeKey = "model_type";
// The first one counts: the library tokenizers', SentencePiece's, and those of older programs.
constexpr const char* kTokenizerNames[] = {"tokenizer.json", "tokenizer.model", "spiece.model",
                                           "vocab.json", "vocab.txt"};

Json parsed_or_null(const fs::path& path) {
    try {
        return config::parse_json(read_file(path, kMostConfigBytes), path.string()).value;
    } catch (const Error&) {
        return nullptr; // a folder, or not to be read: whoever opens it next says so
    }
}

std::string known_types() {
    std::vector<std::string> names;
    for (const Family* family : kFamilies) {
        if (family->describe != nullptr) {
            names.emplace_back(family->name);
        }
    }
    return join(names, ", ");
}

fs::path tokenizer_beside(const fs::path& config) {
    std::error_code problem;
    const fs::path folder = fs::absolute(config, problem).lexically_normal().parent_path();
    for (const char* name : kTokenizerNames) {
        if (fs::is_regular_file(folder / name, problem)) {
            return folder / name;
        }
    }
    return {};
}

} // namespace

Json resolved(const Json& model) {
    const nn::ModelDef* def = nn::find_model(model.at("type").get<std::string>());
    Json settings = model;
    settings.erase("type");
    config::Checked checked = config::check_fields(settings, def->fields());
    if (!checked.ok()) {
        return model;
    }
    checked.value["type"] = model.at("type");
    return def->resolved != nullptr ? def->resolved(checked.value) : checked.value;
}

std::optional<fs::path> foreign_config(const fs::path& path) {
    std::error_code problem;
    if (is_onnx(path)) {
        return fs::is_regular_file(path, problem) ? std::optional(path) : std::nullopt;
    }
    const fs::path file =
        fs::is_directory(path, problem) ? path / kConfigName
        : path.filename().extension() == ".json" && !path.string().ends_with(".index.json")
            ? path
            : path.parent_path() / kConfigName;
    if (!fs::is_regular_file(file, problem)) {
        return std::nullopt;
    }
    const Json json = parsed_or_null(file);
    return json.is_object() && json.contains(kTypeKey) && !json.contains("data")
               ? std::optional(file)
               : std::nullopt;
}

ForeignModel read_foreign_config(const fs::path& path, std::int64_t positions) {
    if (is_onnx(path)) {
        ForeignModel out = read_onnx_model(path, positions);
        if (out.here.data.is_object() && out.here.data.value("kind", "") == "tokens") {
            out.tokenizer = tokenizer_beside(path);
        }
        return out;
    }
    ForeignModel out;
    const Json json = parsed_or_null(path);
    const Json type = json.is_object() ? json.value(kTypeKey, Json()) : Json();
    out.family = type.is_string() ? family_of(type.get<std::string>()) : nullptr;
    if (out.family == nullptr) {
        out.problems.push_back({std::string("/") + kTypeKey, config::Severity::error,
                                "the model is of the type " + shown(type.dump()) +
                                    ", which is none that is known here",
                                "There are " + known_types() + "."});
        return out;
    }
    out.here = out.family->describe(ConfigReader(json, out.problems));
    if (out.here.data.value("kind", "") == "tokens") {
        out.tokenizer = tokenizer_beside(path);
    }
    return out;
}

std::string tokenizer_problem(const ForeignModel& model) {
    try {
        if (!model.tokenizer.empty()) {
            tokenizer::open_tokenizer(model.tokenizer);
        }
        return "";
    } catch (const Error& error) {
        return "text cannot be read in its tokens: " + error.where() + ": " + error.what();
    }
}

std::vector<std::string> differences(const Json& ours, const ForeignModel& theirs) {
    std::vector<std::string> out;
    for (const config::Diagnostic& problem : theirs.problems) {
        if (problem.severity == config::Severity::error) {
            out.push_back(problem.message);
        }
    }
    if (theirs.family == nullptr) {
        return out;
    }
    const Json& model = theirs.here.model;
    if (ours.at("type") != model.at("type")) {
        out.push_back("model.type is " + ours.at("type").dump() + ", " + model.at("type").dump() +
                      " there");
        return out;
    }
    out.insert(out.end(), theirs.here.otherwise.begin(), theirs.here.otherwise.end());
    const Json here = resolved(ours);
    const Json there = resolved(model);
    for (const auto& [name, value] : model.items()) {
        // These change no number that a weight of the right shape gives.
        if (name == "dropout" || name == "context" || name == "vocab") {
            continue;
        }
        if (here.at(name) != there.at(name)) {
            out.push_back("model." + name + " is " + here.at(name).dump() + ", " +
                          there.at(name).dump() + " there");
        }
    }
    if (theirs.here.window > 0 && here.at("context").get<std::int64_t>() > theirs.here.window) {
        out.push_back("attention slides over " + std::to_string(theirs.here.window) +
                      " positions there, and model.context is " + here.at("context").dump());
    }
    return out;
}

fs::path model_place(const fs::path& config) {
    std::error_code problem;
    const fs::path whole = fs::absolute(config, problem).lexically_normal();
    return is_onnx(config) ? whole : whole.parent_path();
}

Json run_of(const ForeignModel& model, const std::string& name, const fs::path& weights) {
    Json out{{"name", name}, {"data", {{"train", model.here.data}}}, {"model", model.here.model}};
    if (!model.tokenizer.empty()) {
        out["data"]["tokenizer"] = model.tokenizer.string();
    }
    if (!weights.empty()) {
        out["init"] = {{"from", weights.string()}};
    }
    return out;
}

} // namespace weft::foreign
