// SPDX-License-Identifier: Apache-2.0
#include "core/compare/run_value.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compare/settings.h"
#include "core/train/record/run_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::compare {
namespace {

using config::Json;

constexpr std::string_view kBest = ":best";
constexpr std::string_view kLast = ":last";

Json number_or_none(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json text_or_none(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json fact_of(const train::RunSummary& run, const std::string& name) {
    if (name == "run") {
        return run.folder.filename().string();
    }
    if (name == "folder") {
        return run.folder.string();
    }
    if (name == "name") {
        return run.info.name;
    }
    if (name == "state") {
        return run.problem.empty() ? run.state : "unreadable";
    }
    if (name == "tags") {
        return text_or_none(join(run.annotations.tags, ", "));
    }
    if (name == "notes") {
        return text_or_none(run.annotations.notes);
    }
    if (name == "model") {
        return text_or_none(run.info.model);
    }
    if (name == "data") {
        return text_or_none(run.info.data);
    }
    if (name == "parent") {
        return text_or_none(run.info.parent);
    }
    if (name == "best_metric") {
        return text_or_none(run.best_metric);
    }
    if (name == "best") {
        return run.best_value ? number_or_none(*run.best_value) : Json(nullptr);
    }
    if (name == "best_step") {
        return run.best_step >= 0 ? Json(run.best_step) : Json(nullptr);
    }
    if (name == "loss") {
        return run.loss_curve.empty() ? Json(nullptr) : number_or_none(run.last_loss);
    }
    if (name == "step") {
        return run.step;
    }
    if (name == "total_steps") {
        return run.total_steps;
    }
    if (name == "parameters") {
        return run.info.parameters;
    }
    if (name == "time") {
        return run.seconds;
    }
    if (name == "size") {
        return run.bytes;
    }
    return run.modified; // written
}

Json metric_of(const train::RunSummary& run, const RunColumn& column) {
    const train::MetricSummary* metric = run.metric(column.name);
    if (metric == nullptr) {
        return nullptr;
    }
    if (!column.best) {
        return number_or_none(metric->last);
    }
    return metric->best ? number_or_none(*metric->best) : Json(nullptr);
}

} // namespace

std::string RunColumn::text() const {
    return kind != Kind::metric ? name : name + std::string(best ? kBest : kLast);
}

const std::vector<std::string>& fact_names() {
    static const std::vector<std::string> kNames = {
        "run",         "folder",     "name",        "state", "tags",      "notes", "model",
        "data",        "parent",     "best_metric", "best",  "best_step", "loss",  "step",
        "total_steps", "parameters", "time",        "size",  "written"};
    return kNames;
}

RunColumn find_column(std::string_view text, const train::RunNames& names) {
    const std::vector<std::string>& facts = fact_names();
    RunColumn column;
    column.name = std::string(text);
    if (std::find(facts.begin(), facts.end(), column.name) != facts.end()) {
        return column;
    }
    std::string_view name = text;
    const bool best = name.ends_with(kBest);
    const bool last = name.ends_with(kLast);
    name.remove_suffix(best ? kBest.size() : last ? kLast.size() : 0);
    train::RunNames::Meant meant = names.find(name, train::RunNames::Use::number);
    if (!meant.problem.empty()) {
        const train::RunNames::Meant as_text = names.find(name, train::RunNames::Use::text);
        meant = as_text.problem.empty() ? as_text : meant;
    }
    const auto found = names.all().find(meant.name);
    if (!meant.problem.empty() || found == names.all().end()) {
        throw Error(ErrorKind::usage, "--columns",
                    meant.problem.empty() ? "no run has '" + column.name + "'" : meant.problem,
                    "Columns are " + join(facts, ", ") +
                        ", settings such as optimizer.learning_rate, and metrics such as "
                        "validation/loss:best or validation/loss:last.");
    }
    column.name = meant.name;
    column.kind = found->second.kind == train::RunNames::Kind::metric ? RunColumn::Kind::metric
                                                                      : RunColumn::Kind::setting;
    column.best = best;
    if (column.kind == RunColumn::Kind::setting && (best || last)) {
        throw Error(ErrorKind::usage, "--columns",
                    "'" + meant.name + "' is a setting: it has no best or last value");
    }
    return column;
}

Json value_of(const train::RunSummary& run, const RunColumn& column) {
    if (column.kind == RunColumn::Kind::fact) {
        return fact_of(run, column.name);
    }
    if (column.kind == RunColumn::Kind::metric) {
        return metric_of(run, column);
    }
    const Json* value = train::setting_at(run.config, column.name);
    return value == nullptr ? Json(nullptr) : *value;
}

double number_of(const train::RunSummary& run, const RunColumn& column) {
    const Json value = value_of(run, column);
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string csv_cell(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return std::string(text);
    }
    std::string out = "\"";
    for (const char letter : text) {
        out += letter == '"' ? "\"\"" : std::string(1, letter);
    }
    return out + "\"";
}

std::string to_csv(const std::vector<const train::RunSummary*>& runs,
                   const std::vector<RunColumn>& columns) {
    std::string out;
    const auto line = [&](const auto& cell_at) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            out += (i == 0 ? "" : ",") + csv_cell(cell_at(i));
        }
        out += "\r\n";
    };
    line([&](std::size_t i) { return columns[i].text(); });
    for (const train::RunSummary* run : runs) {
        line([&](std::size_t i) {
            const Json value = value_of(*run, columns[i]);
            return value.is_null() ? std::string() : value_text(value);
        });
    }
    return out;
}

} // namespace weft::compare
