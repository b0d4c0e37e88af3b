// SPDX-License-Identifier: Apache-2.0
// One line about a run out of its files. Step lines are most of events.jsonl, so only those that
// the sparkline shows are parsed.
#include "core/train/record/run_summary.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/checkpoint/goal.h"
#include "core/train/logging/metrics_store.h"
#include "core/train/logging/tensorboard_reader.h"
#include "core/train/logging/tensorboard_summary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <unordered_map>

namespace weft::train {
namespace {

namespace fs = std::filesystem;
using checkpoint::Goal;
using config::Json;

constexpr std::int64_t kMostEventBytes = std::int64_t{1} << 32;

Json read_config(const fs::path& folder) {
    const fs::path path = folder / "config.json";
    std::error_code problem;
    return fs::exists(path, problem) ? config::json_or_discarded(read_file(path, 16 << 20))
                                     : Json(nullptr);
}

double loss_of(const Metrics& metrics, const std::string& name) {
    for (const auto& [known, value] : metrics) {
        if (known == checkpoint::loss_beside(name)) {
            return value;
        }
    }
    return std::numeric_limits<double>::quiet_NaN();
}

void take_event(RunSummary& summary, const Goal& goal, const Event& event) {
    if (const auto* state = std::get_if<StateEvent>(&event.payload)) {
        summary.state = state_name(state->state);
        summary.total_steps = state->total_steps > 0 ? state->total_steps : summary.total_steps;
    } else if (const auto* evaluation = std::get_if<EvaluationEvent>(&event.payload)) {
        for (const auto& [name, value] : evaluation->metrics) {
            MetricSummary& metric = summary.entry(name);
            metric.smaller_is_better =
                name == goal.metric ? goal.smaller_is_better : smaller_is_better(name);
            metric.note(evaluation->step, value, loss_of(evaluation->metrics, name));
        }
    } else if (const auto* finished = std::get_if<FinishedEvent>(&event.payload)) {
        summary.seconds = std::max(summary.seconds, finished->seconds);
    }
}

/// The time that a session trains: from its first step on, without what it is paused.
class SessionTime {
public:
    void take(const StateEvent& state, double time) {
        if (state.state == RunState::validating) {
            *this = {};
        } else if (state.state == RunState::paused) {
            spent_ = until(time);
            running_since_ = 0;
        } else if (state.state == RunState::running && running_since_ == 0) {
            running_since_ = time;
        }
    }
    double until(double time) const {
        return spent_ + (running_since_ > 0 ? time - running_since_ : 0);
    }

private:
    double spent_ = 0;
    double running_since_ = 0;
};

double time_of(std::string_view line) {
    const auto event = parse_event(line);
    return event ? event->time : 0;
}

bool has_final_state(const RunSummary& run) {
    return run.state == "finished" || run.state == "stopped" || run.state == "failed";
}

void take_steps(RunSummary& summary, const std::vector<std::string_view>& lines) {
    const std::size_t shown_points = std::min(lines.size(), RunSummary::kCurvePoints);
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
        if (i + 1 < shown_points) {
            continue;
        }
        for (const auto& [name, value] : scalars(event->payload)) {
            MetricSummary& metric = summary.entry(name);
            metric.last = value;
            metric.last_step = step->step;
            metric.smaller_is_better = smaller_is_better(name);
        }
    }
}

// Ours begin without a blank after the colon, other programs' mostly with one.
bool is_step_line(std::string_view line) {
    return line.starts_with(R"({"event":"step")") || line.starts_with(R"({"event": "step")");
}

void take_events(RunSummary& summary, const fs::path& folder, const Goal& goal) {
    const fs::path path = folder / "events.jsonl";
    std::error_code problem;
    if (!fs::exists(path, problem)) {
        return;
    }
    const std::string text = read_file(path, kMostEventBytes);
    std::vector<std::string_view> steps;
    SessionTime session;
    double first_time = 0;
    double last_time = 0;
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
        const std::string_view line = std::string_view(text).substr(begin, end - begin);
        if (is_step_line(line)) {
            steps.push_back(line);
        } else if (const auto event = parse_event(line)) {
            take_event(summary, goal, *event);
            first_time = first_time == 0 ? event->time : first_time;
            last_time = event->time;
            if (const auto* state = std::get_if<StateEvent>(&event->payload)) {
                session.take(*state, event->time);
            }
        }
        begin = end + 1;
    }
    take_steps(summary, steps);
    if (!steps.empty()) {
        last_time = std::max(last_time, time_of(steps.back()));
    }
    if (!has_final_state(summary)) {
        summary.seconds += session.until(last_time); // run.json has what the sessions before took
    }
    if (summary.seconds == 0) {
        summary.seconds = last_time - first_time;
    }
}

// Folder names alone; what is inside is the business of the checkpoint list.
std::int64_t newest_saved_step(const fs::path& folder) {
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
        newest = std::max(newest, written_s(folder / name));
    }
    return newest;
}

void add_to_stamp(std::string& stamp, const fs::path& path) {
    std::error_code problem;
    const auto time = fs::last_write_time(path, problem);
    stamp += std::to_string(problem ? 0 : time.time_since_epoch().count()) + " ";
    const auto bytes = fs::file_size(path, problem);
    stamp += std::to_string(problem ? 0 : bytes) + ";";
}

// Changes whenever a session writes: its state, an event, a checkpoint; and when a person notes
// something.
std::string stamp_of(const fs::path& folder) {
    std::string stamp;
    for (const char* name : {"annotations.json", "run.json", "config.json", "events.jsonl"}) {
        add_to_stamp(stamp, folder / name);
    }
    if (is_run_folder(folder)) {
        add_to_stamp(stamp, folder / "checkpoints");
    } else {
        for (const fs::path& file : tensorboard_files(folder)) {
            stamp += file.filename().string() + " ";
            add_to_stamp(stamp, file);
        }
    }
    return stamp;
}

// It says nothing of its state, as other programs do.
bool is_silent(const RunSummary& run) {
    return run.source != RunSource::weft &&
           (run.state.empty() || run.state == "writing" || run.state == "recorded");
}

bool has_ended(const RunSummary& run) {
    return run.problem.empty() && (is_silent(run) || has_final_state(run));
}

// Whoever writes leaves no lock: what was written a moment ago is taken for a sign of life.
std::string foreign_state(double modified) {
    constexpr double kAliveSeconds = 60;
    const double now =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    return now - modified < kAliveSeconds ? "writing" : "recorded";
}

void summarise_weft(RunSummary& summary, const fs::path& folder) {
    std::error_code problem;
    summary.config = read_config(folder);
    summary.source = is_weft_run(folder) ? RunSource::weft : RunSource::events;
    const Goal goal = checkpoint::goal_of(summary.config);
    summary.best_metric = goal.metric;
    if (fs::exists(folder / "run.json", problem)) {
        summary.info = read_run_info(folder);
        summary.state = summary.info.state;
        summary.seconds = summary.info.seconds;
        summary.total_steps = summary.info.total_steps;
    }
    take_events(summary, folder, goal);
    summary.step = std::max(summary.step, summary.info.parent_step); // a fork begins there
    if (const MetricSummary* best = summary.metric(goal.metric)) {
        summary.best_value = best->best;
        summary.best_step = best->best_step;
    }
    summary.last_checkpoint_step = newest_saved_step(folder);
    summary.bytes = directory_bytes(folder);
    summary.modified = modified_s(folder);
}

} // namespace

bool is_weft_run(const fs::path& folder) {
    std::error_code problem;
    return fs::exists(folder / "config.json", problem) || fs::exists(folder / "run.json", problem);
}

double written_s(const fs::path& file) {
    std::error_code problem;
    const auto time = fs::last_write_time(file, problem);
    return problem ? 0
                   : std::chrono::duration<double>(
                         std::chrono::file_clock::to_sys(time).time_since_epoch())
                         .count();
}

void MetricSummary::note(std::int64_t step, double value, double loss) {
    last = value;
    last_step = step;
    const checkpoint::Goal goal{.smaller_is_better = smaller_is_better};
    if (std::isfinite(value) && (!best || checkpoint::is_better(goal, {value, loss, step},
                                                                {*best, best_loss, best_step}))) {
        best = value;
        best_step = step;
        best_loss = loss;
    }
}

MetricSummary& RunSummary::entry(const std::string& name) {
    for (auto& [known, metric] : metrics) {
        if (known == name) {
            return metric;
        }
    }
    return metrics.emplace_back(name, MetricSummary{}).second;
}

const MetricSummary* RunSummary::metric(std::string_view name) const {
    for (const auto& [known, summary] : metrics) {
        if (known == name) {
            return &summary;
        }
    }
    return nullptr;
}

bool smaller_is_better(std::string_view metric) {
    constexpr std::array<std::string_view, 16> kLarger = {
        "acc",   "f1",   "auc",  "bleu",   "rouge", "precision", "recall",  "reward",
        "score", "psnr", "ssim", "return", "iou",   "correct",   "per_sec", "_per_s"};
    std::string name(metric);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.find("loss") != std::string::npos ||
           std::none_of(kLarger.begin(), kLarger.end(), [&](std::string_view word) {
               return name.find(word) != std::string::npos;
           });
}

RunSummary summarise_run(const fs::path& folder) {
    RunSummary summary;
    summary.folder = folder;
    summary.stamp = stamp_of(folder); // before reading: what changes meanwhile is read again
    try {
        if (!is_run_folder(folder) && !tensorboard_files(folder).empty()) {
            summarise_tensorboard(summary);
        } else {
            summarise_weft(summary, folder);
        }
        summary.annotations = read_annotations(folder, summary.config);
    } catch (const std::exception& fault) {
        const auto* error = dynamic_cast<const Error*>(&fault);
        summary.problem = error != nullptr ? error->message() : fault.what();
    }
    if (is_silent(summary)) {
        summary.state = foreign_state(summary.modified);
        return summary;
    }
    const bool claims_to_run = !has_final_state(summary) && !summary.state.empty();
    if (claims_to_run && !is_live(folder)) {
        summary.state = "interrupted";
    }
    return summary;
}

std::vector<RunSummary> summarise_runs(const std::vector<fs::path>& folders,
                                       const std::vector<RunSummary>& known) {
    std::unordered_map<std::string, const RunSummary*> earlier;
    for (const RunSummary& run : known) {
        earlier.emplace(run.folder.string(), &run);
    }
    std::vector<RunSummary> runs;
    for (const fs::path& folder : folders) {
        const auto found = earlier.find(folder.string());
        const RunSummary* old = found == earlier.end() ? nullptr : found->second;
        if (old == nullptr || !has_ended(*old) || old->stamp != stamp_of(folder)) {
            runs.push_back(summarise_run(folder));
            continue;
        }
        runs.push_back(*old);
        if (is_silent(*old)) {
            runs.back().state = foreign_state(old->modified);
        }
    }
    return runs;
}

std::vector<RunSummary> list_runs(const fs::path& root, const std::vector<RunSummary>& known) {
    std::vector<fs::path> folders;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(root, problem)) {
        if (entry.is_directory(problem) && is_run_folder(entry.path())) {
            folders.push_back(entry.path());
        }
    }
    std::vector<RunSummary> runs = summarise_runs(folders, known);
    std::sort(runs.begin(), runs.end(), [](const RunSummary& a, const RunSummary& b) {
        return a.modified != b.modified ? a.modified > b.modified : a.folder > b.folder;
    });
    return runs;
}

} // namespace weft::train
