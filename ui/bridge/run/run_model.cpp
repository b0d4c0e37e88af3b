// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/run_model.h"

#include "ui/bridge/convert.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::ui {
namespace {

// A speed is shown once this many steps of the session are behind us; earlier it would jump.
constexpr std::int64_t kStepsBeforeEta = 30;
constexpr double kSpeedSeconds = 2; // that the shown speed looks back

} // namespace

RunModel::RunModel(QObject* parent) : QObject(parent) {}

void RunModel::begin(const std::filesystem::path& folder, const compile::RunConfig& config) {
    forget();
    folder_ = folder;
    config_ = config;
    emit reset();
}

void RunModel::beginForeign(const std::filesystem::path& folder) {
    forget();
    folder_ = folder;
    foreign_ = true;
    emit reset();
}

void RunModel::setHost(const QString& host) {
    if (host_ != host) {
        host_ = host;
        emit stateChanged();
    }
}

void RunModel::fail(const QString& problem) {
    forget();
    problem_ = problem;
    emit reset();
}

void RunModel::interrupt(const QString& how) {
    if (train::is_active(state_)) {
        state_ = train::RunState::stopped;
        interrupted_ = true;
        saving_ = false;
        reason_ = how.isEmpty() ? tr("interrupted") : tr("interrupted: %1").arg(how);
        emit stateChanged();
        emit changed();
    }
}

void RunModel::explain(train::ErrorEvent cause) {
    failure_ = std::move(cause);
    emit failed();
    emit changed();
}

void RunModel::clear() {
    forget();
    emit reset();
}

void RunModel::forget() {
    folder_.clear();
    config_ = {};
    problem_.clear();
    plan_.reset();
    state_ = train::RunState::idle;
    interrupted_ = false;
    saving_ = false;
    reason_.clear();
    phases_.clear();
    opening_.reset();
    steps_ = {};
    last_step_ = {};
    total_steps_ = 0;
    session_start_ = seconds_before_ = last_time_ = paused_seconds_ = paused_since_ = 0;
    session_first_step_ = 0;
    recent_steps_ = recent_samples_ = recent_seconds_ = 0;
    evaluations_.clear();
    checkpoints_.clear();
    kept_.reset();
    abandoned_.clear();
    resumes_.clear();
    origin_.reset();
    samples_.clear();
    failure_.reset();
    warnings_.clear();
    divergences_.clear();
    settings_.clear();
    finished_.reset();
    memory_ = nullptr;
    devices_.reset();
    loader_.reset();
    host_.clear();
    foreign_ = false;
    scalars_.clear();
    scalars_begin_ = 0;
}

void RunModel::setPlan(std::shared_ptr<const plan::ExecutionPlan> plan) {
    if (plan_ != plan) {
        plan_ = std::move(plan);
        emit planChanged();
    }
}

void RunModel::setKept(std::set<std::int64_t> steps) {
    if (kept_ != steps) {
        kept_ = std::move(steps);
        emit keptChanged();
    }
}

QString RunModel::name() const {
    return runTitle(folder_);
}

double RunModel::secondsTrained() const {
    if (session_start_ <= 0) {
        return seconds_before_;
    }
    const double now_paused = paused_since_ > 0 ? last_time_ - paused_since_ : 0;
    return seconds_before_ +
           std::max(0.0, last_time_ - session_start_ - paused_seconds_ - now_paused);
}

RunModel::Speed RunModel::speed() const {
    if (!(recent_seconds_ > 0)) {
        return {};
    }
    Speed speed{recent_samples_ / recent_seconds_, false, recent_seconds_ / recent_steps_ * 1e3};
    if (last_step_.tokens_per_s && last_step_.samples_per_s > 0) {
        speed.per_second *= *last_step_.tokens_per_s / last_step_.samples_per_s;
        speed.tokens = true;
    }
    return speed;
}

double RunModel::totalSeconds() const {
    return config_.length.unit == compile::Cadence::Unit::minutes ? config_.length.amount * 60 : 0;
}

double RunModel::secondsLeft() const {
    if (totalSeconds() > 0) {
        return std::max(0.0, totalSeconds() - secondsTrained());
    }
    const std::int64_t done = last_step_.step - session_first_step_;
    if (total_steps_ <= 0 || done < kStepsBeforeEta || session_start_ <= 0) {
        return -1;
    }
    const double spent = secondsTrained() - seconds_before_;
    return spent / static_cast<double>(done) *
           static_cast<double>(std::max<std::int64_t>(0, total_steps_ - last_step_.step));
}

std::optional<double> RunModel::lastMetric(const std::string& name) const {
    for (auto point = evaluations_.rbegin(); point != evaluations_.rend(); ++point) {
        for (const auto& [metric, value] : point->metrics) {
            if (metric == name) {
                return value;
            }
        }
    }
    return std::nullopt;
}

std::optional<RunModel::Best> RunModel::bestMetric(const checkpoint::Goal& goal) const {
    std::optional<checkpoint::Score> best;
    for (const EvaluationPoint& point : evaluations_) {
        const auto score =
            checkpoint::score_in(point.metrics, goal, static_cast<std::int64_t>(point.step));
        if (score && (!best || checkpoint::is_better(goal, *score, *best))) {
            best = score;
        }
    }
    return best ? std::optional(Best{static_cast<double>(best->step), best->value}) : std::nullopt;
}

double RunModel::progress() const {
    if (totalSeconds() > 0) {
        return std::min(1.0, secondsTrained() / totalSeconds());
    }
    return total_steps_ > 0
               ? static_cast<double>(last_step_.step) / static_cast<double>(total_steps_)
               : -1.0;
}

void RunModel::apply(const std::vector<train::Event>& events) {
    const std::size_t first = steps_.step.size();
    touched_ = {};
    for (const train::Event& event : events) {
        applyOne(event);
    }
    if (touched_.rewound) {
        emit stepsRewound();
    } else if (steps_.step.size() > first) {
        emit stepsAppended(first);
    }
    if (touched_.state) {
        emit stateChanged();
    }
    if (touched_.evaluation) {
        emit evaluationAdded();
    }
    if (touched_.checkpoint) {
        emit checkpointsChanged();
    }
    if (touched_.sample) {
        emit sampleAdded();
    }
    if (touched_.divergence) {
        emit divergenceAdded();
    }
    if (touched_.settings) {
        emit settingsChanged();
    }
    if (touched_.failure) {
        emit failed();
    }
    if (!events.empty()) {
        emit changed();
    }
}

void RunModel::applyScalars(const train::ScalarBatch& batch) {
    append(scalars_, batch);
    for (const train::ScalarBatch::Point& point : batch.points) {
        const bool first = scalars_begin_ <= 0 || point.time < scalars_begin_;
        scalars_begin_ = point.tag >= 0 && first ? point.time : scalars_begin_;
        last_step_.step = std::max(last_step_.step, point.tag >= 0 ? point.step : 0);
    }
    for (const std::string& problem : batch.problems) {
        warnings_.push_back({problem, {}});
    }
    if (!batch.points.empty() || !batch.problems.empty()) {
        emit scalarsChanged();
        emit changed();
    }
}

void RunModel::applyOne(const train::Event& event) {
    last_time_ = event.time;
    const double time = event.time;
    const auto on = [](auto... handlers) {
        struct Overloaded : decltype(handlers)... {
            using decltype(handlers)::operator()...;
        };
        return Overloaded{handlers...};
    };
    std::visit(on([&](const train::StateEvent& state) { applyState(state, time); },
                  [&](const train::OpeningEvent& opening) { opening_ = opening; },
                  [&](const train::StepEvent& step) { applyStep(step, time); },
                  [&](const train::EvaluationEvent& evaluation) {
                      const double epoch =
                          evaluation.step == last_step_.step ? last_step_.epoch : 0;
                      evaluations_.push_back({static_cast<double>(evaluation.step), epoch,
                                              secondsTrained(), time, evaluation.metrics});
                      touched_.evaluation = true;
                  },
                  [&](const train::CheckpointEvent& checkpoint) {
                      checkpoints_.push_back(checkpoint);
                      touched_.checkpoint = true;
                      touched_.state = std::exchange(saving_, false) || touched_.state;
                  },
                  [&](const train::SampleEvent& sample) {
                      samples_.push_back(sample);
                      touched_.sample = true;
                  },
                  [&](const train::SystemEvent& system) {
                      if (!system.memory.is_null()) {
                          memory_ = system.memory;
                      }
                  },
                  [&](const train::DevicesEvent& devices) { devices_ = devices; },
                  [&](const train::ResumedEvent& resumed) { applyResumed(resumed, time); },
                  [&](const train::CommandEvent& answer) { emit answered(answer); },
                  [&](const train::WarningEvent& warning) {
                      warnings_.push_back(warning);
                      touched_.state = std::exchange(saving_, false) || touched_.state;
                  },
                  [&](const train::ErrorEvent& error) {
                      failure_ = error;
                      touched_.failure = true;
                  },
                  [&](const train::FinishedEvent& finished) { finished_ = finished; },
                  [&](const train::LoaderEvent& loader) { loader_ = loader; },
                  [&](const train::RecordingEvent& recording) { emit recorded(recording); },
                  [&](const train::DivergenceEvent& divergence) {
                      divergences_.push_back(divergence);
                      touched_.divergence = true;
                  },
                  [&](const train::SettingsEvent& changed) { applySettings(changed); },
                  [](const train::NoteEvent&) {},     // the console has it
                  [](const train::RankEvent&) {},     // likewise
                  [](const train::RestartEvent&) {},  // likewise
                  [](const train::SkippedEvent&) {}), // likewise
               event.payload);
}

void RunModel::applyState(const train::StateEvent& event, double time) {
    const bool was_paused = state_ == train::RunState::paused;
    state_ = event.state;
    interrupted_ = false;
    saving_ = state_ == train::RunState::saving || (saving_ && train::is_active(state_));
    opening_.reset();
    reason_ = QString::fromStdString(event.reason);
    if (event.total_steps > 0) {
        total_steps_ = event.total_steps;
    }
    if (state_ == train::RunState::validating) {
        phases_.clear(); // a session begins
    }
    if (!phases_.empty() && phases_.back().ms < 0) {
        phases_.back().ms = event.phase_ms;
    }
    if (!event.phase.empty()) {
        phases_.push_back({QString::fromStdString(event.phase), -1});
    }
    if (state_ == train::RunState::running && session_start_ <= 0) {
        session_start_ = time;
        session_first_step_ = last_step_.step;
    }
    if (state_ == train::RunState::paused && !was_paused) {
        paused_since_ = time;
    } else if (was_paused && paused_since_ > 0) {
        paused_seconds_ += time - paused_since_;
        paused_since_ = 0;
    }
    touched_.state = true;
}

void RunModel::applyStep(const train::StepEvent& event, double time) {
    last_step_ = event;
    const double seconds = event.step_ms * 1e-3;
    const double fade = std::exp(-seconds / kSpeedSeconds);
    recent_steps_ = recent_steps_ * fade + 1;
    recent_samples_ = recent_samples_ * fade + event.samples_per_s * seconds;
    recent_seconds_ = recent_seconds_ * fade + seconds;
    steps_.step.push_back(static_cast<double>(event.step));
    steps_.epoch.push_back(event.epoch);
    steps_.seconds.push_back(secondsTrained());
    steps_.loss.push_back(event.loss);
    steps_.learning_rate.push_back(event.learning_rate);
    steps_.grad_norm.push_back(event.grad_norm);
    steps_.wall.push_back(time);
    steps_.samples_per_s.push_back(event.samples_per_s);
    steps_.step_ms.push_back(event.step_ms);
    steps_.memory_bytes.push_back(static_cast<double>(event.memory_bytes));
    for (const auto& [name, value] : event.metrics) {
        auto column = std::find_if(steps_.metrics.begin(), steps_.metrics.end(),
                                   [&name = name](const auto& c) { return c.name == name; });
        if (column == steps_.metrics.end()) {
            column = steps_.metrics.insert(column, {name, {}, {}});
        }
        column->row.push_back(static_cast<std::uint32_t>(steps_.step.size() - 1));
        column->value.push_back(value);
    }
}

// The steps from `keep` on; they are not in `steps` any more.
StepSeries RunModel::splitOff(StepSeries& steps, std::size_t keep) {
    StepSeries lost;
    for (auto column :
         {&StepSeries::step, &StepSeries::epoch, &StepSeries::seconds, &StepSeries::loss,
          &StepSeries::learning_rate, &StepSeries::grad_norm, &StepSeries::wall,
          &StepSeries::samples_per_s, &StepSeries::step_ms, &StepSeries::memory_bytes}) {
        const auto end = (steps.*column).begin() + static_cast<std::ptrdiff_t>(keep);
        (lost.*column).assign(end, (steps.*column).end());
        (steps.*column).resize(keep);
    }
    for (MetricColumn& column : steps.metrics) {
        const auto first = std::lower_bound(column.row.begin(), column.row.end(), keep);
        const auto at = first - column.row.begin();
        MetricColumn& rest = lost.metrics.emplace_back();
        rest.name = column.name;
        for (auto row = first; row != column.row.end(); ++row) {
            rest.row.push_back(*row - static_cast<std::uint32_t>(keep));
        }
        rest.value.assign(column.value.begin() + at, column.value.end());
        column.row.resize(static_cast<std::size_t>(at));
        column.value.resize(static_cast<std::size_t>(at));
    }
    return lost;
}

// The order of an earlier session for the same setting and step is the same mark.
void RunModel::applySettings(const train::SettingsEvent& event) {
    std::erase_if(settings_, [&](const train::SettingsEvent& known) {
        return known.path == event.path && known.step == event.step;
    });
    settings_.push_back(event);
    touched_.settings = true;
}

// Steps after the checkpoint were lost with the session before: they are set aside, and the curve
// goes on from there.
void RunModel::applyResumed(const train::ResumedEvent& event, double) {
    const double step = static_cast<double>(event.step);
    const auto keep = static_cast<std::size_t>(
        std::upper_bound(steps_.step.begin(), steps_.step.end(), step) - steps_.step.begin());
    if (keep < steps_.step.size()) {
        abandoned_.push_back(splitOff(steps_, keep));
        touched_.rewound = true;
    }
    std::erase_if(evaluations_, [&](const EvaluationPoint& point) { return point.step > step; });
    std::erase_if(samples_,
                  [&](const train::SampleEvent& sample) { return sample.step > event.step; });
    seconds_before_ = steps_.seconds.empty() ? 0 : steps_.seconds.back();
    session_start_ = paused_seconds_ = paused_since_ = 0;
    session_first_step_ = event.step;
    recent_steps_ = recent_samples_ = recent_seconds_ = 0;
    last_step_.step = event.step;
    // A path inside the run's own folder counts from there; another run's is whole.
    const std::filesystem::path from(event.from);
    if (!from.empty() && *from.begin() != "checkpoints") {
        const std::filesystem::path run = from.parent_path().parent_path();
        origin_ =
            ForkOrigin{run.is_absolute() ? run : folder_.parent_path() / run.filename(), step};
    } else {
        resumes_.push_back(event.step);
    }
    failure_.reset();
    finished_.reset();
}

} // namespace weft::ui
