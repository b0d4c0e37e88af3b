// SPDX-License-Identifier: Apache-2.0
// One line about a run out of its files. Step lines are most of events.jsonl, so only those that
// the sparkline shows are parsed.
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/train/run_folder.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weft::train {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::size_t kCurvePoints = 64;
constexpr std::int64_t kMostEventBytes = std::int64_t{1} << 32;

struct Goal {
    std::string metric = "validation/loss";
    bool smaller_is_better = true;
};

Goal read_goal(const fs::path& folder) {
    Goal goal;
    const fs::path path = folder / "config.json";
    std::error_code problem;
    if (!fs::exists(path, problem)) {
        return goal;
    }
    const Json json = Json::parse(read_file(path, 16 << 20), nullptr, false);
    if (json.is_object() && json.contains("checkpoint") && json["checkpoint"].is_object()) {
        goal.metric = json["checkpoint"].value("metric", goal.metric);
        goal.smaller_is_better = json["checkpoint"].value("mode", "min") == std::string("min");
    }
    return goal;
}

void take(RunSummary& summary, const Goal& goal, const Event& event) {
    if (const auto* state = std::get_if<StateEvent>(&event.payload)) {
        summary.state = state_name(state->state);
        summary.total_steps = state->total_steps > 0 ? state->total_steps : summary.total_steps;
    } else if (const auto* evaluation = std::get_if<EvaluationEvent>(&event.payload)) {
        for (const auto& [name, value] : evaluation->metrics) {
            if (name != goal.metric || !std::isfinite(value)) {
                continue;
            }
            const double best = summary.best_value.value_or(value);
            if (!summary.best_value || (goal.smaller_is_better ? value < best : value > best)) {
                summary.best_value = value;
                summary.best_step = evaluation->step;
            }
        }
    } else if (const auto* finished = std::get_if<FinishedEvent>(&event.payload)) {
        summary.seconds = std::max(summary.seconds, finished->seconds);
    }
}

void take_steps(RunSummary& summary, const std::vector<std::string_view>& lines) {
    const std::size_t shown_points = std::min(lines.size(), kCurvePoints);
    for (std::size_t i = 0; i < shown_points; ++i) {
        // The last point is always the last step.
        const std::size_t at = (i + 1) * lines.size() / shown_points - 1;
        const auto event = parse_event(lines[at]);
        const auto* step = event ? std::get_if<StepEvent>(&event->payload) : nullptr;
        if (step == nullptr) {
            continue;
        }
        summary.loss_curve.emplace_back(static_cast<double>(step->step), step->loss);
        summary.step = step->step;
        summary.last_loss = step->loss;
    }
}

void take_events(RunSummary& summary, const fs::path& folder, const Goal& goal) {
    const fs::path path = folder / "events.jsonl";
    std::error_code problem;
    if (!fs::exists(path, problem)) {
        return;
    }
    const std::string text = read_file(path, kMostEventBytes);
    std::vector<std::string_view> steps;
    double first_time = 0;
    double last_time = 0;
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
        const std::string_view line = std::string_view(text).substr(begin, end - begin);
        if (line.starts_with(R"({"event":"step")")) {
            steps.push_back(line);
        } else if (const auto event = parse_event(line)) {
            take(summary, goal, *event);
            first_time = first_time == 0 ? event->time : first_time;
            last_time = event->time;
        }
        begin = end + 1;
    }
    take_steps(summary, steps);
    if (summary.seconds == 0) {
        summary.seconds = last_time - first_time; // until the session itself has written it
    }
}

// Folder names alone; what is inside is the business of the checkpoint list.
std::int64_t newest_checkpoint(const fs::path& folder) {
    std::int64_t newest = -1;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(folder / "checkpoints", problem)) {
        const std::string name = entry.path().filename().string();
        std::int64_t step = -1;
        if (name.starts_with("step-")) {
            const char* end = name.data() + name.size();
            const auto read = std::from_chars(name.data() + 5, end, step);
            if (read.ptr == end && read.ec == std::errc()) {
                newest = std::max(newest, step);
            }
        }
    }
    return newest;
}

double modified_s(const fs::path& folder) {
    double newest = 0;
    for (const char* name : {"run.json", "events.jsonl"}) {
        std::error_code problem;
        const auto time = fs::last_write_time(folder / name, problem);
        if (!problem) {
            const auto system = std::chrono::file_clock::to_sys(time).time_since_epoch();
            newest = std::max(newest, std::chrono::duration<double>(system).count());
        }
    }
    return newest;
}

// Changes whenever a session writes: its state, an event, a checkpoint.
std::string stamp_of(const fs::path& folder) {
    std::string stamp;
    for (const char* name : {"run.json", "config.json", "events.jsonl", "checkpoints"}) {
        std::error_code problem;
        const auto time = fs::last_write_time(folder / name, problem);
        stamp += std::to_string(problem ? 0 : time.time_since_epoch().count()) + " ";
        const auto bytes = fs::file_size(folder / name, problem);
        stamp += std::to_string(problem ? 0 : bytes) + ";";
    }
    return stamp;
}

bool has_ended(const RunSummary& run) {
    return run.problem.empty() &&
           (run.state == "finished" || run.state == "stopped" || run.state == "failed");
}

const RunSummary* still_right(const fs::path& folder, const std::vector<RunSummary>& known) {
    for (const RunSummary& run : known) {
        if (run.folder == folder) {
            return has_ended(run) && run.stamp == stamp_of(folder) ? &run : nullptr;
        }
    }
    return nullptr;
}

} // namespace

RunSummary summarise_run(const fs::path& folder) {
    RunSummary summary;
    summary.folder = folder;
    summary.stamp = stamp_of(folder); // before reading: what changes meanwhile is read again
    try {
        const Goal goal = read_goal(folder);
        summary.best_metric = goal.metric;
        std::error_code problem;
        if (fs::exists(folder / "run.json", problem)) {
            summary.info = read_run_info(folder);
            summary.state = summary.info.state;
            summary.seconds = summary.info.seconds;
            summary.total_steps = summary.info.total_steps;
        }
        take_events(summary, folder, goal);
        summary.last_checkpoint_step = newest_checkpoint(folder);
        summary.bytes = directory_bytes(folder);
        summary.modified = modified_s(folder);
    } catch (const std::exception& fault) {
        const auto* error = dynamic_cast<const Error*>(&fault);
        summary.problem = error != nullptr ? error->message() : fault.what();
    }
    const bool claims_to_run = summary.state != "finished" && summary.state != "stopped" &&
                               summary.state != "failed" && !summary.state.empty();
    if (claims_to_run && !is_live(folder)) {
        summary.state = "interrupted";
    }
    return summary;
}

std::vector<RunSummary> list_runs(const fs::path& root, const std::vector<RunSummary>& known) {
    std::vector<RunSummary> runs;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(root, problem)) {
        if (entry.is_directory(problem) && is_run_folder(entry.path())) {
            const RunSummary* old = still_right(entry.path(), known);
            runs.push_back(old != nullptr ? *old : summarise_run(entry.path()));
        }
    }
    std::sort(runs.begin(), runs.end(), [](const RunSummary& a, const RunSummary& b) {
        return a.modified != b.modified ? a.modified > b.modified : a.folder > b.folder;
    });
    return runs;
}

} // namespace weft::train
