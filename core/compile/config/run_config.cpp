// SPDX-License-Identifier: Apache-2.0
#include "core/compile/config/run_config.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/compile/config/run_rules.h"
#include "core/data/dataset.h"
#include "core/nn/layers/peft_config.h"
#include "core/nn/models/model_list.h"

#include <algorithm>
#include <iterator>

namespace weft::compile {
namespace {

using config::Json;

constexpr std::int64_t kLargestFile = 16 << 20;

Cadence read_cadence(const Json& value) {
    const std::pair<const char*, Cadence::Unit> units[] = {{"steps", Cadence::Unit::steps},
                                                           {"epochs", Cadence::Unit::epochs},
                                                           {"minutes", Cadence::Unit::minutes},
                                                           {"tokens", Cadence::Unit::tokens}};
    for (const auto& [name, unit] : units) {
        if (value.contains(name)) {
            return {unit, value.at(name).get<double>()};
        }
    }
    throw Error(ErrorKind::usage, "configuration", "a cadence has no unit: " + value.dump());
}

template <class T>
std::optional<T> read_optional(const Json& value) {
    return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

LossScale read_loss_scale(const Json& section) {
    return {.initial = section.at("initial").get<double>(),
            .growth = section.at("growth").get<double>(),
            .growth_interval = section.at("growth_interval").get<std::int64_t>(),
            .backoff = section.at("backoff").get<double>(),
            .hysteresis = section.at("hysteresis").get<std::int64_t>(),
            .minimum = section.at("minimum").get<double>(),
            .maximum = section.at("maximum").get<double>()};
}

/// A scale of 1 that does not move: what has to make it smaller is the last of so many updates in a
/// row that are not finite.
constexpr LossScale kSkipping = {.initial = 1,
                                 .growth = 1,
                                 .growth_interval = 1 << 24,
                                 .backoff = 0.5,
                                 .hysteresis = 10,
                                 .minimum = 1,
                                 .maximum = 1};

void read_training(const Json& training, RunConfig& config) {
    config.length = read_cadence(training.at("length"));
    config.global_batch_size = training.at("global_batch_size").get<std::int64_t>();
    config.micro_batch_size = read_optional<std::int64_t>(training.at("micro_batch_size"));
    config.max_grad_norm = read_optional<double>(training.at("max_grad_norm"));
    config.ema_decay = read_optional<double>(training.at("ema_decay"));
    config.precision = training.at("precision").get<std::string>();
    if (config.compute_dtype() == ir::DType::f16) {
        config.loss_scale = read_loss_scale(training.at("loss_scale"));
    }
    config.recompute = training.at("recompute").get<std::string>();
    config.memory_budget = read_optional<std::int64_t>(training.at("memory_budget"));
    if (const Json& stopping = training.at("early_stopping"); !stopping.is_null()) {
        config.early_stopping = EarlyStopping{
            stopping.at("metric").get<std::string>(), stopping.at("mode") == "min",
            stopping.at("patience").get<std::int64_t>(), stopping.at("min_delta").get<double>()};
    }
    config.on_nonfinite = training.at("on_nonfinite").get<std::string>();
    config.most_rewinds = training.at("most_rewinds").get<std::int64_t>();
    config.pass_over = training.at("pass_over").get<std::vector<std::int64_t>>();
    config.freezable = training.at("freezable").get<bool>();
    if (config.on_nonfinite == "skip" && !config.loss_scale) {
        config.loss_scale = kSkipping;
    }
}

void read_evaluation(const Json& evaluation, RunConfig& config) {
    config.evaluation_every = read_cadence(evaluation.at("every"));
    config.evaluation_at_start = evaluation.at("at_start").get<bool>();
    config.evaluation_use_ema = evaluation.at("use_ema").get<bool>();
    config.evaluation_max_batches = read_optional<std::int64_t>(evaluation.at("max_batches"));
    config.evaluation_samples = evaluation.at("samples").get<std::int64_t>();
}

void read_checkpoint(const Json& checkpoint, RunConfig& config) {
    if (!checkpoint.at("every").is_null()) {
        config.checkpoint_every = read_cadence(checkpoint.at("every"));
    }
    config.checkpoint_on_improvement = checkpoint.at("on_improvement").get<bool>();
    config.keep_latest = checkpoint.at("keep_latest").get<std::int64_t>();
    config.keep_best = checkpoint.at("keep_best").get<std::int64_t>();
    config.checkpoint_metric = checkpoint.at("metric").get<std::string>();
    config.checkpoint_async = checkpoint.at("async").get<bool>();
}

void read_members(RunConfig& config) {
    const Json& document = config.document;
    config.name = document.at("name").get<std::string>();
    config.seed = document.at("seed").get<std::uint64_t>();
    const Json& data = document.at("data");
    config.shuffle = data.at("shuffle").get<bool>();
    config.drop_last = data.at("drop_last").get<bool>();
    config.prefetch = data.at("prefetch").get<int>();
    config.num_workers = data.at("num_workers").get<int>();
    config.shuffle_window_bytes = data.at("shuffle_window").get<std::int64_t>() << 20;
    read_training(document.at("training"), config);
    read_evaluation(document.at("evaluation"), config);
    read_checkpoint(document.at("checkpoint"), config);
}

CheckedRun problem(std::string pointer, std::string message, std::string hint) {
    CheckedRun out;
    out.diagnostics.push_back(
        {std::move(pointer), config::Severity::error, std::move(message), std::move(hint)});
    return out;
}

CheckedRun read_text(std::string_view text, std::string_view where,
                     const std::filesystem::path& base_dir,
                     const std::vector<std::string>& overrides,
                     const DataLook& look = look_at_data) {
    config::Checked parsed = config::parse_json(text, where);
    if (!parsed.ok()) {
        CheckedRun out;
        out.diagnostics = std::move(parsed.diagnostics);
        return out;
    }
    return read_run_config(std::move(parsed.value), base_dir, overrides, look);
}

/// A graph is kept with its text: the file that it is from may change while a run goes on.
void read_model_file(Json& document, const std::filesystem::path& base_dir,
                     config::Diagnostics& out) {
    Json& model = document["model"];
    if (!model.is_object() || model.value("type", Json()) != "graph" ||
        !model.value("path", Json()).is_string() || !model.value("text", Json()).is_null()) {
        return;
    }
    const std::filesystem::path path = base_dir / model.at("path").get<std::string>();
    try {
        model["text"] = read_file(path, kLargestFile, ErrorKind::usage);
    } catch (const Error& error) {
        out.push_back({"/model/path", config::Severity::error, error.where() + ": " + error.text(),
                       "Name a file with the model's text; a relative path counts from the "
                       "configuration."});
    }
}

/// Factors that are there already tell their rank and alpha where nobody else does.
void read_factor_settings(Json& document, const std::filesystem::path& base_dir,
                          config::Diagnostics& out) {
    const Json::json_pointer place("/init/lora");
    if (!document.contains(place) || !document.at(place).is_object()) {
        return;
    }
    Json& lora = document.at(place);
    const Json from = lora.value("from", Json());
    if (!from.is_string() || (lora.contains("rank") && lora.contains("alpha"))) {
        return;
    }
    const std::filesystem::path path =
        base_dir / from.get<std::string>() / nn::kPeftConfigName; // absolute stays
    try {
        const config::Checked told =
            config::parse_json(read_file(path, kLargestFile, ErrorKind::usage), path.string());
        if (!told.ok()) {
            out.insert(out.end(), told.diagnostics.begin(), told.diagnostics.end());
            return;
        }
        const nn::PeftConfig peft = nn::read_peft_config(told.value, path.string());
        lora.emplace("rank", peft.rank);
        lora.emplace("alpha", peft.alpha);
    } catch (const Error& error) {
        out.push_back(
            {"/init/lora/from", config::Severity::error, error.where() + ": " + error.text(),
             error.kind() == ErrorKind::usage ? "Name a folder that peft wrote." : error.hint()});
    }
}

const config::RecordType* find_record(const config::Field& field, const Json& section) {
    const auto type = section.find("type");
    for (const config::RecordType& record : field.records) {
        if (type != section.end() && *type == record.name) {
            return &record;
        }
    }
    return nullptr;
}

bool has_field(const config::RecordType& record, const std::string& name) {
    return std::any_of(record.fields.begin(), record.fields.end(),
                       [&](const config::Field& field) { return field.name == name; });
}

/// An override of a type alone, such as optimizer.type=adam, leaves behind what only the old type
/// had: a saved configuration has every field.
void drop_settings_of_other_types(const Json& before, Json& document) {
    for (const config::Field& field : run_config_table()) {
        if (!before.is_object() || !document.is_object() || !before.contains(field.name) ||
            !before[field.name].is_object() || !document[field.name].is_object()) {
            continue;
        }
        const auto* from = find_record(field, before[field.name]);
        const auto* to = find_record(field, document[field.name]);
        if (from == nullptr || to == nullptr || from == to) {
            continue;
        }
        const Json given = document[field.name];
        for (const auto& [name, value] : given.items()) {
            if (before[field.name].contains(name) && has_field(*from, name) &&
                !has_field(*to, name)) {
                document[field.name].erase(name);
            }
        }
    }
}

} // namespace

std::string RunConfig::model_type() const {
    return section("model").at("type").get<std::string>();
}

std::int64_t RunConfig::context() const {
    const nn::ModelDef* model = nn::find_model(model_type());
    return model == nullptr ? 0 : model->context(section("model"));
}

ir::DType RunConfig::compute_dtype() const {
    switch (operands()) {
    case ir::Operands::tf32: return ir::DType::f32;
    case ir::Operands::fp8: return ir::DType::bf16;
    case ir::Operands::as_stored: break;
    }
    const auto dtype = ir::parse_dtype(precision);
    WEFT_CHECK(dtype.has_value(), "other precisions are named after element types");
    return *dtype;
}

ir::Operands RunConfig::operands() const {
    return precision == "tf32"  ? ir::Operands::tf32
           : precision == "fp8" ? ir::Operands::fp8
                                : ir::Operands::as_stored;
}

CheckedRun read_run_config(Json document, const std::filesystem::path& base_dir,
                           const std::vector<std::string>& overrides, const DataLook& look) {
    CheckedRun out;
    const auto add = [&out](config::Diagnostics found) {
        std::move(found.begin(), found.end(), std::back_inserter(out.diagnostics));
    };
    const Json before = overrides.empty() ? Json() : document;
    for (const std::string& assignment : overrides) {
        add(config::apply_override(document, assignment));
    }
    drop_settings_of_other_types(before, document);
    read_factor_settings(document, base_dir, out.diagnostics);
    config::Checked checked = config::check_fields(document, run_config_table());
    add(std::move(checked.diagnostics));
    out.config.base_dir = base_dir;
    if (!document.is_object()) {
        return out;
    }
    add(data::check_data(checked.value["data"], "/data"));
    explain_unavailable(document, out.diagnostics);
    if (out.ok()) {
        fill_data_defaults(document, base_dir, look, checked.value);
    }
    fill_dependent_defaults(checked.value);
    read_model_file(checked.value, base_dir, out.diagnostics);
    check_rules(checked.value, out.diagnostics);
    out.config.document = std::move(checked.value);
    if (out.ok()) {
        read_members(out.config);
    }
    return out;
}

CheckedRun read_run_config(std::string_view text, const std::filesystem::path& base_dir,
                           const std::vector<std::string>& overrides, const DataLook& look) {
    return read_text(text, "configuration", base_dir, overrides, look);
}

CheckedRun read_run_config_file(const std::filesystem::path& path,
                                const std::vector<std::string>& overrides) {
    std::error_code failed;
    const std::filesystem::path full = std::filesystem::absolute(path, failed);
    try {
        const std::string text = read_file(path, kLargestFile, ErrorKind::usage);
        return read_text(text, path.string(), full.parent_path(), overrides);
    } catch (const Error& error) {
        return problem("", error.where() + ": " + error.text(), error.hint());
    }
}

std::optional<RunConfig> with_overrides(const RunConfig& config,
                                        const std::vector<std::string>& overrides) {
    CheckedRun checked = read_run_config(config.document, config.base_dir, overrides);
    return checked.ok() ? std::optional(std::move(checked.config)) : std::nullopt;
}

} // namespace weft::compile
