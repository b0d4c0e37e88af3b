// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/run_outlook.h"

#include "core/base/error.h"
#include "core/train/planning.h"
#include "ui/bridge/convert.h"

#include <cmath>

namespace weft::ui {
namespace {

constexpr int kRunOutlookPauseMs = 60; // between an edit and the plan of it

/// All that the outline of the data depends on.
std::string outlineKey(const compile::RunConfig& config) {
    return config.base_dir.string() + '\n' + config.section("data").dump() + '\n' +
           std::to_string(config.context()) + '\n' + std::to_string(config.seed) + '\n' +
           config.section("mesh").at("devices").dump();
}

} // namespace

double RunCounts::epochs(std::int64_t updates) const {
    return static_cast<double>(updates) / static_cast<double>(pace.steps_per_epoch);
}

std::int64_t RunCounts::tokensOf(std::int64_t updates) const {
    return updates * pace.batch_size * pace.tokens_per_sample;
}

std::optional<RunCounts> countRun(const compile::RunConfig& config, const data::DataOutline& data) {
    RunCounts out;
    out.batch = compile::plan_batch(config);
    out.pace = train::pace_of(config, data.samples, data.sample);
    out.has_validation = data.has_validation;
    const bool tokens = config.length.unit == compile::Cadence::Unit::tokens;
    if (data.samples <= 0 || (tokens && out.pace.tokens_per_sample == 0)) {
        return std::nullopt;
    }
    out.steps = train::total_steps(config.length, out.pace);
    return out;
}

RunOutlook::RunOutlook(Draft& draft, Planner::Plan step_planner, QObject* parent)
    : QObject(parent), draft_(draft), job_(std::move(step_planner)) {
    timer_.setSingleShot(true);
    timer_.setInterval(kRunOutlookPauseMs);
    connect(&timer_, &QTimer::timeout, this, &RunOutlook::work);
    connect(&draft_, &Draft::changed, this, &RunOutlook::onDraftChanged);
    connect(&job_, &PlanJob::changed, this, [this] {
        stale_ = dirty_;
        emit changed();
    });
    onDraftChanged();
}

void RunOutlook::setActive(bool active) {
    active_ = active;
    if (active_ && dirty_) {
        work();
    }
}

void RunOutlook::onDraftChanged() {
    dirty_ = true;
    stale_ = true;
    if (draft_.isValid() && !draft_.isEmpty() && outlineKey(draft_.config()) != outlined_) {
        outlined_.clear(); // of other data
        outline_.reset();
        data_problem_.clear();
        look_.drop();
    }
    count();
    emit changed();
    if (active_) {
        timer_.start();
    }
}

void RunOutlook::work() {
    if (!active_ || !dirty_ || !draft_.isValid() || draft_.isEmpty()) {
        return;
    }
    dirty_ = false;
    job_.start({draft_.config(), hardwareOf(draft_.config(), nullptr)});
    if (outlineKey(draft_.config()) != outlined_) {
        look();
    }
}

void RunOutlook::look() {
    struct Seen {
        std::optional<data::DataOutline> outline;
        QString problem;
    };
    outlined_ = outlineKey(draft_.config());
    outline_.reset();
    look_.start(
        [config = draft_.config()]() -> Seen {
            try {
                train::PlanTarget target;
                target.hardware = hardwareOf(config, nullptr);
                return {train::outline_run_data(config, target), {}};
            } catch (const Error& error) {
                return {std::nullopt, toQString(error.message())};
            }
        },
        [this](Seen seen) {
            outline_ = std::move(seen.outline);
            data_problem_ = seen.problem;
            count();
            emit changed();
        });
}

void RunOutlook::count() {
    const bool counted = draft_.isValid() && outline_ && outlineKey(draft_.config()) == outlined_;
    counts_ = counted ? countRun(draft_.config(), *outline_) : std::nullopt;
}

std::int64_t RunOutlook::expectedSteps() const {
    if (!counts_ || counts_->steps > 0) {
        return counts_ ? counts_->steps : 0;
    }
    const auto step_ms = digest() ? digest()->plan->predicted_step_ms : std::nullopt;
    return step_ms && *step_ms > 0 ? std::llround(draft_.config().length.amount * 60e3 / *step_ms)
                                   : 0;
}

std::optional<double> RunOutlook::seconds() const {
    if (counts_ && counts_->steps == 0) {
        return draft_.config().length.amount * 60.0;
    }
    if (!counts_ || !digest() || !digest()->plan->predicted_step_ms) {
        return std::nullopt;
    }
    return static_cast<double>(counts_->steps) * *digest()->plan->predicted_step_ms / 1e3;
}

} // namespace weft::ui
