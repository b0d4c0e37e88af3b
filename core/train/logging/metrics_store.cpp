// SPDX-License-Identifier: Apache-2.0
#include "core/train/logging/metrics_store.h"

#include <array>
#include <bit>
#include <cstring>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "records are little-endian");

using Record = std::array<char, 24>;

fs::path series_path(const fs::path& folder, const std::string& series) {
    return folder / (series + ".f64");
}

/// Never the root itself: a run whose folder was moved away must not make it anew.
void make_folders_below(const fs::path& root, const fs::path& folder) {
    fs::path at = root;
    for (const fs::path& part : folder.lexically_relative(root)) {
        at /= part;
        std::error_code problem;
        fs::create_directory(at, problem);
        if (problem) {
            throw Error(ErrorKind::runtime, at.string(),
                        "the folder cannot be made: " + problem.message());
        }
    }
}

} // namespace

Metrics scalars(const Payload& payload) {
    if (const auto* step = std::get_if<StepEvent>(&payload)) {
        Metrics out{
            {"train/loss", step->loss},           {"train/learning_rate", step->learning_rate},
            {"train/grad_norm", step->grad_norm}, {"train/samples_per_s", step->samples_per_s},
            {"train/step_ms", step->step_ms},     {"train/data_wait_ms", step->data_wait_ms}};
        if (step->tokens_per_s) {
            out.emplace_back("train/tokens_per_s", *step->tokens_per_s);
        }
        out.insert(out.end(), step->metrics.begin(), step->metrics.end());
        return out;
    }
    if (const auto* evaluation = std::get_if<EvaluationEvent>(&payload)) {
        return evaluation->metrics;
    }
    return {};
}

MetricsStore::MetricsStore(fs::path folder) : folder_(std::move(folder)) {
    make_directories(folder_);
}

void MetricsStore::add(const Event& event) {
    const auto* step = std::get_if<StepEvent>(&event.payload);
    const auto* evaluation = std::get_if<EvaluationEvent>(&event.payload);
    const std::int64_t at = step != nullptr         ? step->step
                            : evaluation != nullptr ? evaluation->step
                                                    : 0;
    for (const auto& [name, value] : scalars(event.payload)) {
        append(name, at, event.time, value);
    }
}

void MetricsStore::append(const std::string& series, std::int64_t step, double time, double value) {
    auto found = files_.find(series);
    if (found == files_.end()) {
        const fs::path path = series_path(folder_, series);
        make_folders_below(folder_, path.parent_path());
        File file(path, File::Mode::append);
        // A killed process may have left part of a record.
        const std::int64_t whole =
            file.size() / std::int64_t{sizeof(Record)} * std::int64_t{sizeof(Record)};
        if (whole != file.size()) {
            file.resize(whole);
        }
        found = files_.emplace(series, std::move(file)).first;
    }
    Record record;
    std::memcpy(record.data(), &step, 8);
    std::memcpy(record.data() + 8, &time, 8);
    std::memcpy(record.data() + 16, &value, 8);
    found->second.write(std::string_view(record.data(), record.size()));
}

std::vector<MetricPoint> read_series(const fs::path& metrics_folder, const std::string& series) {
    const fs::path path = series_path(metrics_folder, series);
    std::error_code problem;
    if (!fs::exists(path, problem)) {
        return {};
    }
    const std::string bytes = read_file(path);
    std::map<std::int64_t, MetricPoint> points;
    for (std::size_t at = 0; at + sizeof(Record) <= bytes.size(); at += sizeof(Record)) {
        MetricPoint point;
        std::memcpy(&point.step, bytes.data() + at, 8);
        std::memcpy(&point.time, bytes.data() + at + 8, 8);
        std::memcpy(&point.value, bytes.data() + at + 16, 8);
        points[point.step] = point;
    }
    std::vector<MetricPoint> out;
    for (const auto& [step, point] : points) {
        out.push_back(point);
    }
    return out;
}

} // namespace weft::train
