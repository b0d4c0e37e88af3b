// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/plan_preview.h"

#include "core/base/error.h"
#include "core/compile/pipeline.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/draft.h"
#include "ui/bridge/draft/mesh_edit.h"

#include <algorithm>
#include <utility>

namespace weft::ui {
namespace {

// Typing a number makes several edits: the first is planned at once, those that follow it closely
// when they pause.
constexpr int kPlanPreviewPauseMs = 40;
// What could be otherwise is looked at when nobody edits: such work takes time to stop.
constexpr int kPlanPreviewCalmMs = 150;

PlanOutcome outcomeOf(const plan::ExecutionPlan& plan) {
    return {plan.memory_bytes(), plan.flops_per_step, plan.predicted_step_ms, plan.fits(), {}};
}

QString firstError(const config::Diagnostics& diagnostics) {
    const auto error = std::find_if(diagnostics.begin(), diagnostics.end(), [](const auto& found) {
        return found.severity == config::Severity::error;
    });
    return error == diagnostics.end() ? QString() : toQString(to_text(*error));
}

} // namespace

PlanPreview::PlanPreview(Draft& draft, Planner planner, QObject* parent)
    : QObject(parent), draft_(draft), planner_(std::move(planner)) {
    timer_.setSingleShot(true);
    timer_.setInterval(kPlanPreviewPauseMs);
    connect(&timer_, &QTimer::timeout, this, [this] {
        if (dirty_ && !isBusy()) {
            restart();
        }
    });
    calm_.setSingleShot(true);
    calm_.setInterval(kPlanPreviewCalmMs);
    connect(&calm_, &QTimer::timeout, this, &PlanPreview::next);
    connect(&draft_, &Draft::changed, this, &PlanPreview::onDraftChanged);
    onDraftChanged();
}

void PlanPreview::setActive(bool active) {
    if (active == active_) {
        return;
    }
    active_ = active;
    if (!active_) {
        timer_.stop();
        stopWork();
    } else if (dirty_) {
        restart();
    } else {
        next();
    }
}

void PlanPreview::setHardware(const cost::Hardware* hardware) {
    if (hardware != hardware_) {
        hardware_ = hardware;
        onDraftChanged();
    }
}

// What is shown is no longer of this draft, whether or not a plan is asked for at once.
void PlanPreview::onDraftChanged() {
    dirty_ = true;
    stopWork();
    stale_ = digest_ != nullptr;
    layout_is_new_ = false;
    if (draft_.isEmpty() || !draft_.isValid()) {
        state_ = draft_.isEmpty() && draft_.diagnostics().empty() ? State::Empty : State::Invalid;
    } else if (!digest_) {
        state_ = State::Planning;
    } else {
        state_ = State::Ready;
    }
    emit changed();
    if (active_) {
        if (!timer_.isActive()) {
            restart();
        }
        timer_.start();
    }
}

void PlanPreview::restart() {
    stopWork();
    rest_.reset();
    if (draft_.isEmpty() || !draft_.isValid()) {
        next();
        return;
    }
    if (planner_.layout && !MeshEdit::of(draft_.config()).single()) {
        plan({planner_.layout}, [this](const Result& result) { takeLayout(result); });
    } else {
        planStep();
    }
}

// What is wrong with a layout is wrong with the step, which says it.
void PlanPreview::takeLayout(const Result& result) {
    planStep();
    if (result.digest) {
        layout_ = result.digest;
        layout_is_new_ = true;
        emit changed();
    }
}

void PlanPreview::planStep() {
    plan({planner_.step}, [this](const Result& result) { takeStep(result); });
    QTimer::singleShot(0, this, [this, stop = jobs_.token()] { // when the layout is painted
        if (!stop.stop_requested()) {
            planRest();
        }
    });
}

/// The programs beside the training step: at the same time where they are planned for hardware, for
/// back ends of this machine are asked for one plan after the other.
void PlanPreview::planRest() {
    const bool beside = hardwareOf(draft_.config(), hardware_) != nullptr;
    if (!planner_.rest || rest_asked_ || (dirty_ && !beside)) {
        return;
    }
    rest_asked_ = true;
    plan({planner_.rest, {}, {}, Urgency::Now, Yield::Plan}, [this](const Result& result) {
        rest_ = result;
        if (!dirty_) {
            next();
        }
    });
}

/// From the plan of the step to that of all programs.
void PlanPreview::complete() {
    const auto take = [this](const Result& result) { takeWhole(result); };
    if (!planner_.rest) {
        plan({planner_.plan}, take);
    } else if (!rest_) {
        planRest();
    } else if (const Result rest = *std::exchange(rest_, std::nullopt); !rest.plan) {
        takeWhole(rest);
    } else { // the rest is taken apart with the job
        plan({[step = digest_, others = rest.plan](const auto&...) {
                  return std::make_shared<const plan::ExecutionPlan>(
                      compile::complete_plan(*step->plan, *others));
              },
              {},
              digest_},
             take);
    }
}

void PlanPreview::show(const Result& result) {
    digest_ = layout_ = result.digest;
    problem_ = result.problem;
    hint_ = result.hint;
    state_ = digest_ ? State::Ready : State::Failed;
    fixes_done_ = !digest_ || digest_->plan->fits();
}

void PlanPreview::takeStep(const Result& result) {
    dirty_ = false;
    stale_ = false;
    complete_ = false;
    show(result);
    if (!digest_) {
        stopWork();
    }
    config_ = draft_.config();
    changes_ = digest_ ? planChanges(config_) : std::vector<PlanChange>{};
    chosen_.removeIf([this](const QString& id) {
        return std::none_of(changes_.begin(), changes_.end(),
                            [&](const PlanChange& known) { return known.id == id; });
    });
    forgetRest();
    next();
    emit changed();
    emit outcomesChanged();
    emit whatIfChanged();
    emit alternativesChanged();
}

void PlanPreview::takeWhole(const Result& result) {
    complete_ = true;
    show(result);
    calm_.start();
    next();
    emit changed();
    emit alternativesChanged();
}

// What belonged to the plan before.
void PlanPreview::forgetRest() {
    outcomes_.clear();
    what_if_.reset();
    what_if_problem_.clear();
    what_if_done_ = false;
    fixes_.clear();
    curve_.clear();
    advice_.clear();
    curve_done_ = advice_wanted_ = false;
}

// The order of work: the draft's training step, all its programs, what was chosen to compare with,
// what makes it fit, each change alone, the curve; advice when it is asked for.
void PlanPreview::next() {
    if (!active_ || isBusy() || dirty_ || !digest_) {
        return;
    }
    if (!complete_) {
        complete();
    } else if (!chosen_.isEmpty() && !what_if_done_) {
        plan({planner_.plan, chosenOverrides()}, [this](const Result& result) {
            what_if_ = result.digest;
            what_if_problem_ = result.problem;
            what_if_done_ = true;
            emit whatIfChanged();
            next();
        });
    } else if (advice_wanted_ || !calm_.isActive()) {
        if (!nextAlternatives()) {
            nextOutcome();
        }
    }
}

bool PlanPreview::nextAlternatives() {
    const bool outcomes_done = outcomes_.size() == changes_.size();
    if (advice_wanted_) {
        find(planner_.advice, Urgency::Now, [this](Alternatives found) {
            advice_ = std::move(found);
            advice_wanted_ = false;
        });
    } else if (!fixes_done_) {
        find(planner_.fixes, Urgency::Later, [this](Alternatives found) {
            fixes_ = std::move(found);
            fixes_done_ = true;
        });
    } else if (outcomes_done && !curve_done_) {
        find(planner_.curve, Urgency::Later, [this](Alternatives found) {
            curve_ = std::move(found);
            curve_done_ = true;
        });
    } else {
        return false;
    }
    return true;
}

bool PlanPreview::nextOutcome() {
    for (const PlanChange& wanted : changes_) {
        if (outcomes_.contains(wanted.id)) {
            continue;
        }
        const Job job{planner_.plan, wanted.overrides, {}, Urgency::Later, Yield::Outcome};
        plan(job, [this, id = wanted.id](const Result& result) {
            outcomes_[id] = result.outcome;
            outcomes_[id].problem = result.problem;
            emit outcomesChanged();
            next();
        });
        return true;
    }
    return false;
}

void PlanPreview::askAdvice() {
    if (digest_ && !stale_ && complete_) {
        stopWork();
        advice_wanted_ = true;
        emit alternativesChanged();
        next();
    }
}

void PlanPreview::stopWork() {
    jobs_.drop();
    rest_asked_ = false;
}

QThreadPool* PlanPreview::poolOf(Urgency urgency) {
    return urgency == Urgency::Now ? backgroundPool() : &later_;
}

void PlanPreview::plan(Job job, std::function<void(Result)> done) {
    QThreadPool* pool = poolOf(job.urgency);
    jobs_.join(
        [job = std::move(job), document = draft_.document(), base_dir = draft_.baseDir(),
         hardware = hardware_](const std::stop_token& stop) {
            Result result;
            try {
                const compile::CheckedRun checked =
                    compile::read_run_config(document, base_dir, job.overrides);
                if (!checked.ok()) {
                    result.problem = firstError(checked.diagnostics);
                } else if (!stop.stop_requested()) {
                    auto made = job.make(checked.config, hardware, stop);
                    if (job.yield == Yield::Outcome) {
                        result.outcome = outcomeOf(*made);
                    } else {
                        result.digest =
                            job.yield == Yield::Digest ? digestPlan(made, job.step.get()) : nullptr;
                        result.plan = std::move(made);
                    }
                }
            } catch (const Error& error) {
                const QString where = toQString(error.where());
                result.problem =
                    (where.isEmpty() ? QString() : where + ": ") + toQString(error.text());
                result.hint = toQString(error.hint());
            }
            return result;
        },
        std::move(done), pool);
}

// A search that fails finds nothing: the plan itself has been made, and says what is wrong with it.
void PlanPreview::find(const Planner::Search& search, Urgency urgency,
                       std::function<void(Alternatives)> done) {
    jobs_.join(
        [search, config = config_,
         hardware = hardware_](const std::stop_token& stop) -> Alternatives {
            try {
                return stop.stop_requested() ? Alternatives{} : search(config, hardware, stop);
            } catch (const Error&) {
                return {};
            }
        },
        [this, done = std::move(done)](Alternatives found) {
            done(std::move(found));
            emit alternativesChanged();
            next();
        },
        poolOf(urgency));
}

std::optional<PlanOutcome> PlanPreview::outcome(const QString& id) const {
    const auto found = outcomes_.find(id);
    return found == outcomes_.end() ? std::nullopt : std::optional(found->second);
}

void PlanPreview::setChosen(const QString& id, bool chosen) {
    const auto find = [this](const QString& wanted) {
        return std::find_if(changes_.begin(), changes_.end(),
                            [&](const PlanChange& known) { return known.id == wanted; });
    };
    const auto found = find(id);
    if (found == changes_.end() || chosen == chosen_.contains(id)) {
        return;
    }
    chosen_.removeAll(id);
    if (chosen) {
        chosen_.removeIf([&](const QString& other) { return find(other)->group == found->group; });
        chosen_.append(id);
    }
    startOver();
}

void PlanPreview::clearChosen() {
    chosen_.clear();
    startOver();
}

// The comparison goes first: what was being planned for later is planned again after it.
void PlanPreview::startOver() {
    stopWork();
    what_if_.reset();
    what_if_problem_.clear();
    what_if_done_ = false;
    emit whatIfChanged();
    next();
}

std::vector<std::string> PlanPreview::chosenOverrides() const {
    std::vector<std::string> all;
    for (const PlanChange& known : changes_) {
        if (chosen_.contains(known.id)) {
            all.insert(all.end(), known.overrides.begin(), known.overrides.end());
        }
    }
    return all;
}

} // namespace weft::ui
