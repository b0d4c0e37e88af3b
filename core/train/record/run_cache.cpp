// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/run_summary.h"

#include "core/base/file.h"

#include <cmath>
#include <limits>

namespace weft::train {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::int64_t kMostCacheBytes = std::int64_t{1} << 30;
constexpr int kFormat = 1; // counts up with every change of what a summary holds

// JSON has no numbers that are not finite.
Json number_json(double value) {
    return std::isfinite(value) ? Json(value)
           : std::isnan(value)  ? Json("nan")
           : value > 0          ? Json("inf")
                                : Json("-inf");
}

double json_number(const Json& value) {
    if (value.is_number()) {
        return value.get<double>();
    }
    return value == "nan"   ? std::numeric_limits<double>::quiet_NaN()
           : value == "inf" ? std::numeric_limits<double>::infinity()
                            : -std::numeric_limits<double>::infinity();
}

Json optional_json(const std::optional<double>& value) {
    return value ? number_json(*value) : Json(nullptr);
}

std::optional<double> json_optional(const Json& value) {
    return value.is_null() ? std::nullopt : std::optional(json_number(value));
}

Json info_json(const RunInfo& info) {
    return {{"id", info.id},
            {"name", info.name},
            {"parent", info.parent},
            {"parent_step", info.parent_step},
            {"state", info.state},
            {"created", info.created},
            {"parameters", info.parameters},
            {"model", info.model},
            {"data", info.data},
            {"data_fingerprint", info.data_fingerprint},
            {"environment", info.environment},
            {"total_steps", info.total_steps},
            {"seconds", info.seconds},
            {"base_dir", info.base_dir},
            {"message", info.message}};
}

RunInfo json_info(const Json& json) {
    RunInfo info;
    json.at("id").get_to(info.id);
    json.at("name").get_to(info.name);
    json.at("parent").get_to(info.parent);
    json.at("parent_step").get_to(info.parent_step);
    json.at("state").get_to(info.state);
    json.at("created").get_to(info.created);
    json.at("parameters").get_to(info.parameters);
    json.at("model").get_to(info.model);
    json.at("data").get_to(info.data);
    json.at("data_fingerprint").get_to(info.data_fingerprint);
    info.environment = json.at("environment");
    json.at("total_steps").get_to(info.total_steps);
    json.at("seconds").get_to(info.seconds);
    json.at("base_dir").get_to(info.base_dir);
    json.at("message").get_to(info.message);
    return info;
}

Json run_json(const RunSummary& run) {
    Json metrics = Json::array();
    for (const auto& [name, metric] : run.metrics) {
        metrics.push_back({name, number_json(metric.last), metric.last_step,
                           optional_json(metric.best), metric.best_step, metric.smaller_is_better});
    }
    Json curve = Json::array();
    for (const auto& [step, loss] : run.loss_curve) {
        curve.push_back({step, number_json(loss)});
    }
    return {{"folder", run.folder.string()},
            {"source", static_cast<int>(run.source)},
            {"problem", run.problem},
            {"info", info_json(run.info)},
            {"config", run.config},
            {"tags", run.annotations.tags},
            {"notes", run.annotations.notes},
            {"archived", run.annotations.archived},
            {"state", run.state},
            {"step", run.step},
            {"total_steps", run.total_steps},
            {"last_loss", number_json(run.last_loss)},
            {"seconds", run.seconds},
            {"best_metric", run.best_metric},
            {"best_value", optional_json(run.best_value)},
            {"best_step", run.best_step},
            {"metrics", metrics},
            {"checkpoint_step", run.last_checkpoint_step},
            {"bytes", run.bytes},
            {"modified", run.modified},
            {"curve", curve},
            {"stamp", run.stamp}};
}

RunSummary json_run(const Json& json) {
    RunSummary run;
    run.folder = json.at("folder").get<std::string>();
    run.source = static_cast<RunSource>(json.at("source").get<int>());
    json.at("problem").get_to(run.problem);
    run.info = json_info(json.at("info"));
    run.config = json.at("config");
    json.at("tags").get_to(run.annotations.tags);
    json.at("notes").get_to(run.annotations.notes);
    json.at("archived").get_to(run.annotations.archived);
    json.at("state").get_to(run.state);
    json.at("step").get_to(run.step);
    json.at("total_steps").get_to(run.total_steps);
    run.last_loss = json_number(json.at("last_loss"));
    json.at("seconds").get_to(run.seconds);
    json.at("best_metric").get_to(run.best_metric);
    run.best_value = json_optional(json.at("best_value"));
    json.at("best_step").get_to(run.best_step);
    for (const Json& row : json.at("metrics")) {
        MetricSummary metric;
        metric.last = json_number(row.at(1));
        row.at(2).get_to(metric.last_step);
        metric.best = json_optional(row.at(3));
        row.at(4).get_to(metric.best_step);
        row.at(5).get_to(metric.smaller_is_better);
        run.metrics.emplace_back(row.at(0).get<std::string>(), metric);
    }
    json.at("checkpoint_step").get_to(run.last_checkpoint_step);
    json.at("bytes").get_to(run.bytes);
    json.at("modified").get_to(run.modified);
    for (const Json& point : json.at("curve")) {
        run.loss_curve.emplace_back(point.at(0).get<double>(), json_number(point.at(1)));
    }
    json.at("stamp").get_to(run.stamp);
    return run;
}

} // namespace

std::vector<RunSummary> read_run_cache(const fs::path& path) {
    std::error_code problem;
    if (!fs::exists(path, problem)) {
        return {};
    }
    try {
        const Json json = config::json_of(read_file(path, kMostCacheBytes));
        if (json.at("format") != kFormat) {
            return {};
        }
        std::vector<RunSummary> runs;
        for (const Json& run : json.at("runs")) {
            runs.push_back(json_run(run));
        }
        return runs;
    } catch (const std::exception&) {
        return {}; // the runs are read again
    }
}

void write_run_cache(const fs::path& path, const std::vector<RunSummary>& runs) {
    Json list = Json::array();
    for (const RunSummary& run : runs) {
        list.push_back(run_json(run));
    }
    make_directories(path.parent_path());
    write_file_atomically(path, Json({{"format", kFormat}, {"runs", std::move(list)}})
                                    .dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace weft::train
