// SPDX-License-Identifier: Apache-2.0
// Runs as lists and tables show them, built from files alone: those of Weft, folders of TensorBoard
// event files of any program, and event logs of our format that other programs wrote.
#pragma once

#include "core/train/record/annotations.h"
#include "core/train/record/run_folder.h"

namespace weft::train {

/// Who wrote a run's folder.
enum class RunSource : std::uint8_t {
    weft,        // is_weft_run: it can be compared, resumed, forked
    events,      // events.jsonl of another program
    tensorboard, // event files of TensorBoard
};

/// A number over the run.
struct MetricSummary {
    double last = 0;
    std::int64_t last_step = 0;
    std::optional<double> best; // none where not every value is known (training steps of ours)
    std::int64_t best_step = -1;
    double best_loss = std::numeric_limits<double>::quiet_NaN(); // at best_step; decides ties
    bool smaller_is_better = true;

    /// `loss` is of the same split at the same step; NaN: not known.
    void note(std::int64_t step, double value,
              double loss = std::numeric_limits<double>::quiet_NaN());
};

/// One line of `weft runs list`, of Home's recent runs and of the table of runs.
struct RunSummary {
    std::filesystem::path folder;
    RunSource source = RunSource::weft;
    std::string problem; // unreadable: why
    RunInfo info;
    config::Json config = nullptr; // as frozen; hyperparameters of a TensorBoard folder; or null
    Annotations annotations;
    /// "running" only with a live process; a dead "running" is "interrupted". Of other programs:
    /// "writing" when something was written in the last minute, else "recorded".
    std::string state;
    std::int64_t step = 0;
    std::int64_t total_steps = 0;
    double last_loss = 0;
    double seconds = 0;
    std::string best_metric; // "validation/loss": the goal of the run
    std::optional<double> best_value;
    std::int64_t best_step = -1;
    std::vector<std::pair<std::string, MetricSummary>> metrics; // by name
    std::int64_t last_checkpoint_step = -1;
    std::int64_t bytes = 0;
    double modified = 0;                               // s, UTC epoch
    std::vector<std::pair<double, double>> loss_curve; // at most 64 (step, loss) for the sparkline
    std::string stamp; // sizes and times of the files it was read from

    static constexpr std::size_t kCurvePoints = 64;
    /// Null when there is none of this name.
    const MetricSummary* metric(std::string_view name) const;
    /// Made when there is none.
    MetricSummary& entry(const std::string& name);
};

/// Never throws: what is wrong goes into `problem`.
RunSummary summarise_run(const std::filesystem::path& folder);
/// Every run of Weft directly under `root`, newest first. A run that no process is writing and
/// whose files are as they were is taken from `known`, an earlier list, without reading it again.
std::vector<RunSummary> list_runs(const std::filesystem::path& root,
                                  const std::vector<RunSummary>& known = {});
/// These runs, in this order, by the same rule.
std::vector<RunSummary> summarise_runs(const std::vector<std::filesystem::path>& folders,
                                       const std::vector<RunSummary>& known);

/// Runs of any source in a folder and below it, by path: each subfolder with event files is one, as
/// TensorBoard sees it; and files of weights (safetensors), of which `folder` may be one itself.
/// Nothing is looked for inside a run of Weft, in hidden folders or behind links.
struct FoundRuns {
    std::vector<std::filesystem::path> folders;
    std::vector<std::filesystem::path> weights;
    bool all = true; // false: there are more folders than are looked into
};
FoundRuns find_runs(const std::filesystem::path& folder);

/// Whether Weft wrote this run, by its config.json or run.json.
bool is_weft_run(const std::filesystem::path& folder);
/// When a file was written last, in s, UTC epoch; 0 when it is absent.
double written_s(const std::filesystem::path& file);
/// By the name, where no configuration says it: accuracies and the like are better when larger.
bool smaller_is_better(std::string_view metric);

/// A list of summaries as a file that saves reading the runs again; it holds nothing that the runs'
/// own folders do not. Absent, damaged or of another format: an empty list.
std::vector<RunSummary> read_run_cache(const std::filesystem::path& path);
/// Throws weft::Error{runtime}.
void write_run_cache(const std::filesystem::path& path, const std::vector<RunSummary>& runs);

} // namespace weft::train
