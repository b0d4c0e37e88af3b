// SPDX-License-Identifier: Apache-2.0
#include "core/train/measure/timed_session.h"

#include "core/advise/alternatives.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/exec/executor.h"
#include "core/train/record/run_folder.h"
#include "core/train/session.h"

#include <algorithm>
#include <cmath>

namespace weft::train {
namespace {

/// Keeps the time of every kernel, step by step, and ends the session when there is enough. Lives
/// on the thread of the session.
class Stopwatch final : public exec::StepObserver {
public:
    explicit Stopwatch(const TimedSessionOptions& options) : options_(options) {}

    void watch(Session& session) { session_ = &session; }

    void step_done(const plan::Step&, int position, double start_s, double end_s) override {
        const auto at = static_cast<std::size_t>(position);
        if (at >= kernel_s_.size()) {
            kernel_s_.resize(at + 1); // in the first step, which is not timed
        }
        kernel_s_[at] += end_s - start_s;
        const bool enough =
            steps_.size() >= kFewestTimedSteps && end_s - begin_s_ >= options_.seconds;
        if ((enough || options_.stop.stop_requested()) && session_ != nullptr) {
            session_->post({CommandKind::stop_now, "", "", {}});
            session_ = nullptr;
        }
    }

    void take(const Event& event) {
        const auto* step = std::get_if<StepEvent>(&event.payload);
        if (step == nullptr) {
            return;
        }
        if (begin_s_ == 0) {
            begin_s_ = clock_.steady_s();
        } else {
            steps_.push_back({step->step_ms / 1e3, kernel_s_});
        }
        std::fill(kernel_s_.begin(), kernel_s_.end(), 0.0);
    }

    TimedSteps middle_half() {
        TimedSteps out;
        out.steps = static_cast<int>(steps_.size());
        out.mean_s = mean_s();
        out.spread = spread(out.mean_s);
        out.kernel_s.assign(kernel_s_.size(), 0.0);
        std::sort(steps_.begin(), steps_.end(),
                  [](const Timed& a, const Timed& b) { return a.step_s < b.step_s; });
        const std::size_t begin = steps_.size() / 4;
        const std::size_t end = steps_.size() - begin;
        const auto count = static_cast<double>(end - begin);
        for (std::size_t i = begin; i < end; ++i) {
            out.step_s += steps_[i].step_s / count;
            for (std::size_t at = 0; at < out.kernel_s.size(); ++at) {
                out.kernel_s[at] += steps_[i].kernel_s[at] / count;
            }
        }
        return out;
    }

    bool has_enough() const { return steps_.size() >= kFewestTimedSteps; }

private:
    struct Timed {
        double step_s;
        std::vector<double> kernel_s;
    };

    double mean_s() const {
        double sum = 0;
        for (const Timed& step : steps_) {
            sum += step.step_s;
        }
        return sum / static_cast<double>(steps_.size());
    }

    double spread(double mean) const {
        const auto count = static_cast<double>(steps_.size());
        double square = 0;
        for (const Timed& step : steps_) {
            square += (step.step_s / mean - 1) * (step.step_s / mean - 1) / count;
        }
        return std::sqrt(square);
    }

    const TimedSessionOptions& options_;
    Session* session_ = nullptr; // null once it has been told to stop
    SystemClock clock_;
    double begin_s_ = 0;           // when the first step was over
    std::vector<double> kernel_s_; // of the step in progress
    std::vector<Timed> steps_;
};

/// Nothing but steps, and no end before the stopwatch says so.
compile::RunConfig only_steps(const compile::RunConfig& config) {
    const auto changed = compile::with_overrides(
        config, {"data.validation=null", "checkpoint.every=null", "checkpoint.on_improvement=false",
                 R"(training.length={"steps":1000000000})"});
    WEFT_CHECK(changed.has_value(), "a run may do without evaluations and checkpoints");
    return *changed;
}

/// A folder that is there as long as this is.
class TemporaryFolder {
public:
    explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {
        create_run_folder_at(path_);
    }
    ~TemporaryFolder() {
        std::error_code problem; // what cannot be removed stays: a cache folder may hold it
        std::filesystem::remove_all(path_, problem);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

private:
    std::filesystem::path path_;
};

} // namespace

TimedSteps time_session(const compile::RunConfig& config, const TimedSessionOptions& options) {
    const TemporaryFolder folder(options.folder);
    Stopwatch stopwatch(options);
    SessionOptions session_options;
    session_options.config = only_steps(config);
    session_options.run_folder = options.folder;
    session_options.threads = options.threads;
    session_options.observer = &stopwatch;
    session_options.sink = [&](const Event& event) { stopwatch.take(event); };
    Session session(std::move(session_options));
    stopwatch.watch(session);
    const SessionResult result = session.run();
    if (result.outcome == Outcome::failed) {
        throw Error(result.error.value_or(ErrorKind::runtime), "training steps of " + config.name,
                    result.message);
    }
    if (options.stop.stop_requested() || !stopwatch.has_enough()) {
        throw Error(ErrorKind::runtime, "training steps of " + config.name,
                    "the measurement was stopped");
    }
    TimedSteps out = stopwatch.middle_half();
    out.plan = session.plan();
    return out;
}

} // namespace weft::train
