// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of one run: the sum of its events, live or replayed from its folder. Pages read
// it and listen to its signals; it never talks to an engine and opens no files (run_reader.h does).
#pragma once

#include "core/checkpoint/goal.h"
#include "core/compile/config/run_config.h"
#include "core/plan/plan.h"
#include "core/train/logging/tensorboard_reader.h"
#include "core/train/record/run_folder.h"

#include <QObject>
#include <QString>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace weft::ui {

/// A number that not every step has said.
struct MetricColumn {
    std::string name;               // "train/accuracy"
    std::vector<std::uint32_t> row; // of the columns below
    std::vector<double> value;
};

/// Columns of the steps so far; all of one length, in the order in which the steps were done.
struct StepSeries {
    std::vector<double> step, epoch, seconds, loss, learning_rate, grad_norm;
    std::vector<double> wall; // s, UTC epoch
    std::vector<double> samples_per_s, step_ms, memory_bytes;
    std::vector<MetricColumn> metrics;
};

struct EvaluationPoint {
    double step = 0;
    double epoch = 0;
    double seconds = 0;
    double wall = 0;
    train::Metrics metrics;
};

/// Where a fork comes from.
struct ForkOrigin {
    std::filesystem::path run; // its folder; it may be gone
    double step = 0;
};

struct PhaseTime {
    QString name;
    double ms = -1; // negative: still going on
};

class RunModel : public QObject {
    Q_OBJECT
public:
    explicit RunModel(QObject* parent = nullptr);

    /// Forgets everything and describes the run in this folder; events follow through apply().
    void begin(const std::filesystem::path& folder, const compile::RunConfig& config);
    void setHost(const QString& host);
    /// The same for a run that another program wrote: it has no configuration, so that it can
    /// neither be resumed nor forked.
    void beginForeign(const std::filesystem::path& folder);
    /// Forgets everything; the folder could not be read because of `problem`.
    void fail(const QString& problem);
    /// No more events will come and nobody trains this run: an active state was cut off. `how`
    /// where it is known.
    void interrupt(const QString& how = {});
    /// Why it ended and what can be done, where the run could not write it down itself.
    void explain(train::ErrorEvent cause);
    void clear();
    void apply(const std::vector<train::Event>& events);
    /// Scalars of event files of TensorBoard; a batch goes on where the one before it ended.
    void applyScalars(const train::ScalarBatch& batch);
    void setPlan(std::shared_ptr<const plan::ExecutionPlan> plan);

    bool isEmpty() const { return folder_.empty(); }
    const std::filesystem::path& folder() const { return folder_; }
    QString name() const;
    /// Where it is trained, of a run that is a copy of another host's; else empty.
    QString host() const { return host_; }
    QString problem() const { return problem_; }
    /// Empty while isForeign().
    const compile::RunConfig& config() const { return config_; }
    bool isForeign() const { return foreign_; }
    /// Tag by tag, in the order in which they appeared; empty but for event files of TensorBoard.
    const std::vector<train::ScalarSeries>& scalars() const { return scalars_; }
    /// When the first scalar was written, in s, UTC epoch; 0 before.
    double scalarsBegin() const { return scalars_begin_; }
    std::shared_ptr<const plan::ExecutionPlan> plan() const { return plan_; }

    train::RunState state() const { return state_; }
    QString stateReason() const { return reason_; }
    /// Its process ended without saying so: it is "stopped" and nobody stopped it.
    bool wasInterrupted() const { return interrupted_; }
    /// A checkpoint was begun, and neither it nor a warning has come.
    bool isSaving() const { return saving_; }
    const std::vector<PhaseTime>& phases() const { return phases_; }
    /// How far the data are read that the phase now waits for, once that takes long.
    const std::optional<train::OpeningEvent>& opening() const { return opening_; }
    const StepSeries& steps() const { return steps_; }
    const train::StepEvent& lastStep() const { return last_step_; }
    std::int64_t step() const { return last_step_.step; }
    /// Over about the last two seconds of training (the last step alone jumps); 0 before the first
    /// step. Tokens where the samples are sequences.
    struct Speed {
        double per_second = 0;
        bool tokens = false;
        double step_ms = 0;
    };
    Speed speed() const;
    /// Planned length in steps; 0 when not known yet.
    std::int64_t totalSteps() const { return total_steps_; }
    /// Seconds trained, over every session of the run.
    double secondsTrained() const;
    /// The planned length when it is a time, in seconds; 0 when it counts steps.
    double totalSeconds() const;
    /// Seconds left: of a planned time, else at the speed of this session; negative when not known
    /// (the first steps, or no planned length).
    double secondsLeft() const;
    const std::vector<EvaluationPoint>& evaluations() const { return evaluations_; }
    /// The value of a metric at the newest evaluation, and the best one with its step.
    std::optional<double> lastMetric(const std::string& name) const;
    struct Best {
        double step = 0;
        double value = 0;
    };
    std::optional<Best> bestMetric(const checkpoint::Goal& goal) const;
    const std::vector<train::CheckpointEvent>& checkpoints() const { return checkpoints_; }
    /// Of those that were saved, which are on disk still; all until setKept says it.
    bool isKept(std::int64_t step) const { return !kept_ || kept_->contains(step); }
    void setKept(std::set<std::int64_t> steps);
    /// What resumes took back, oldest first: the steps after the checkpoint of a session before.
    const std::vector<StepSeries>& abandoned() const { return abandoned_; }
    /// Steps at which the run was resumed.
    const std::vector<std::int64_t>& resumes() const { return resumes_; }
    /// The run that this one was forked from.
    const std::optional<ForkOrigin>& origin() const { return origin_; }
    /// Sample files (paths count from the folder), in order of steps.
    const std::vector<train::SampleEvent>& samples() const { return samples_; }
    const std::optional<train::ErrorEvent>& failure() const { return failure_; }
    /// Losses and gradients that were not finite, in the order in which they came.
    const std::vector<train::DivergenceEvent>& divergences() const { return divergences_; }
    /// Settings that were changed while it went on, by step; what a resume repeats counts once.
    const std::vector<train::SettingsEvent>& settings() const { return settings_; }
    const std::vector<train::WarningEvent>& warnings() const { return warnings_; }
    const std::optional<train::FinishedEvent>& finished() const { return finished_; }
    /// Memory as planned and as the system counts it (core/train/memory_meter.h); null before it is
    /// said.
    const config::Json& memory() const { return memory_; }
    /// What the devices of a mesh did last; none before it is said, and on one device.
    const std::optional<train::DevicesEvent>& devices() const { return devices_; }
    /// What preparing data took lately; none before it is said.
    const std::optional<train::LoaderEvent>& loader() const { return loader_; }
    /// Share done, 0 to 1, in steps or in time as the length is given; negative when not known.
    double progress() const;

signals:
    void reset();   // another run, or none
    void changed(); // anything: once per batch of events
    void stateChanged();
    void stepsAppended(std::size_t first);
    void stepsRewound(); // a resume went back: read all columns again
    void evaluationAdded();
    void checkpointsChanged();
    void keptChanged();
    void sampleAdded();
    void divergenceAdded();
    void settingsChanged();
    void failed();
    void planChanged();
    void scalarsChanged();
    void answered(const weft::train::CommandEvent& answer);
    void recorded(const weft::train::RecordingEvent& recording);

private:
    void forget();
    void applyOne(const train::Event& event);
    void applyState(const train::StateEvent& event, double time);
    void applyStep(const train::StepEvent& event, double time);
    void applySettings(const train::SettingsEvent& event);
    void applyResumed(const train::ResumedEvent& event, double time);
    static StepSeries splitOff(StepSeries& steps, std::size_t keep);

    std::filesystem::path folder_;
    compile::RunConfig config_;
    QString problem_;
    std::shared_ptr<const plan::ExecutionPlan> plan_;
    train::RunState state_ = train::RunState::idle;
    QString reason_;
    bool interrupted_ = false;
    bool saving_ = false;
    std::vector<PhaseTime> phases_;
    std::optional<train::OpeningEvent> opening_;
    StepSeries steps_;
    train::StepEvent last_step_;
    std::int64_t total_steps_ = 0;
    double session_start_ = 0; // wall time of the first step of this session
    std::int64_t session_first_step_ = 0;
    double seconds_before_ = 0; // trained in earlier sessions
    double last_time_ = 0;
    // Sums over the last steps, each with a weight that fades with the time trained since.
    double recent_steps_ = 0, recent_samples_ = 0, recent_seconds_ = 0;
    double paused_seconds_ = 0; // within this session
    double paused_since_ = 0;
    std::vector<EvaluationPoint> evaluations_;
    std::vector<train::CheckpointEvent> checkpoints_;
    std::optional<std::set<std::int64_t>> kept_;
    std::vector<StepSeries> abandoned_;
    std::vector<std::int64_t> resumes_;
    std::optional<ForkOrigin> origin_;
    std::vector<train::SampleEvent> samples_;
    std::optional<train::ErrorEvent> failure_;
    std::vector<train::WarningEvent> warnings_;
    std::vector<train::DivergenceEvent> divergences_;
    std::vector<train::SettingsEvent> settings_;
    std::optional<train::FinishedEvent> finished_;
    config::Json memory_;
    std::optional<train::DevicesEvent> devices_;
    std::optional<train::LoaderEvent> loader_;
    QString host_;
    bool foreign_ = false;
    std::vector<train::ScalarSeries> scalars_;
    double scalars_begin_ = 0;
    // What the batch in apply() touched.
    struct Touched {
        bool state = false, evaluation = false, checkpoint = false, sample = false, failure = false;
        bool rewound = false, divergence = false, settings = false;
    } touched_;
};

} // namespace weft::ui
