// SPDX-License-Identifier: Apache-2.0
#include "app/cli/run_file.h"

#include "core/foreign/arrays.h"
#include "core/foreign/describe.h"

#include <algorithm>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

bool names_data(const std::vector<std::string>& overrides) {
    return std::any_of(overrides.begin(), overrides.end(), [](const std::string& one) {
        return one.starts_with("data.train") || one.starts_with("data=") ||
               one.starts_with("/data/train");
    });
}

/// Without anybody having said so.
bool reads_bytes(const config::Json& data_section) {
    const config::Json& type = data_section.at("train").at("type");
    return data_section.at("tokenizer").is_null() &&
           (type == "text" || type == "jsonl" || type == "chat");
}

/// model.context; 0: nobody set it.
std::int64_t positions_in(const std::vector<std::string>& overrides) {
    config::Json document{{"model", config::Json::object()}};
    for (const std::string& one : overrides) {
        config::apply_override(document, one); // what is wrong with it is told with the others
    }
    const config::Json& model = document.at("model");
    const bool given =
        model.is_object() && model.contains("context") && model.at("context").is_number_integer();
    return given ? model.at("context").get<std::int64_t>() : 0;
}

compile::CheckedRun run_with(const foreign::ForeignModel& model, const fs::path& config,
                             const std::vector<std::string>& overrides, MadeUpData made_up) {
    std::error_code problem;
    const fs::path place = foreign::model_place(config);
    const bool weights = foreign::is_weights(place);
    compile::CheckedRun out = compile::read_run_config(
        foreign::run_of(model, place.filename().string(), weights ? place : fs::path()),
        fs::current_path(problem), overrides);
    if (!names_data(overrides)) {
        if (const std::string unread = foreign::tokenizer_problem(model); !unread.empty()) {
            out.diagnostics.push_back({"/data/tokenizer", config::Severity::warning, unread, ""});
        }
        out.diagnostics.push_back(
            {"/data/train",
             made_up == MadeUpData::allowed ? config::Severity::warning : config::Severity::error,
             "the samples are made up in the shape that the model takes",
             "Name data, e.g. --set 'data.train={\"type\": \"text\", \"path\": \"book.txt\"}'."});
    }
    if (out.ok() && !model.tokenizer.empty() && reads_bytes(out.config.section("data"))) {
        out.diagnostics.push_back(
            {"/data/tokenizer", config::Severity::error,
             "text would be read byte by byte, not in the model's tokens",
             "Set it to " + model.tokenizer.string() + ", or to bytes if that is meant."});
    }
    return out;
}

} // namespace

compile::CheckedRun read_run_file(const std::string& path,
                                  const std::vector<std::string>& overrides, MadeUpData made_up) {
    const auto config = foreign::foreign_config(path);
    if (!config) {
        return compile::read_run_config_file(path, overrides);
    }
    const foreign::ForeignModel model =
        foreign::read_foreign_config(*config, positions_in(overrides));
    compile::CheckedRun out;
    if (!config::has_errors(model.problems)) {
        out = run_with(model, *config, overrides, made_up);
    }
    for (config::Diagnostic found : model.problems) {
        found.message = config->string() + ": " + found.message;
        out.diagnostics.push_back(std::move(found));
    }
    return out;
}

} // namespace weft::cli
