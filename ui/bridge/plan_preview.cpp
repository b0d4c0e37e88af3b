// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan_preview.h"

#include "core/base/error.h"
#include "core/train/engine.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft.h"

#include <algorithm>
#include <mutex>

namespace weft::ui {
namespace {

// Typing a number makes several edits; planning starts when they pause.
constexpr int kDebounceMs = 40;

/// The data set of the last configuration: edits of anything else plan without opening files again.
class DataCache {
public:
    std::shared_ptr<const data::DataSet> open(const compile::RunConfig& config) {
        const std::string key = config.section("data").dump() + config.base_dir.string() +
                                std::to_string(config.context()) + std::to_string(config.seed);
        const std::lock_guard lock(mutex_);
        if (key != key_ || !set_) {
            set_ = std::make_shared<const data::DataSet>(train::open_run_data(config));
            key_ = key;
        }
        return set_;
    }

private:
    std::mutex mutex_;
    std::string key_;
    std::shared_ptr<const data::DataSet> set_;
};

PlanPreview::Planner enginePlanner() {
    return [cache = std::make_shared<DataCache>()](const compile::RunConfig& config,
                                                   const std::stop_token& stop) {
        return train::compile_plan(config, *cache->open(config), stop);
    };
}

std::string assignment(const std::string& path, const config::Json& value) {
    return path + "=" + value.dump();
}

PlanChange change(const QString& group, const QString& value, const std::string& path,
                  const config::Json& json) {
    return {group + "." + value, group + " " + value, group, {assignment(path, json)}};
}

void addChoices(const compile::RunConfig& config, const QString& label, const std::string& key,
                std::vector<PlanChange>& changes) {
    const config::Field* field = config::find_field(compile::run_config_table(), "training." + key);
    const config::Json& now = config.section("training").at(key);
    for (const std::string& choice : field->choices) {
        if (now != config::Json(choice)) {
            changes.push_back(change(label, toQString(choice), "training." + key, choice));
        }
    }
}

} // namespace

std::vector<PlanChange> planChanges(const compile::RunConfig& config) {
    std::vector<PlanChange> changes;
    addChoices(config, "recompute", "recompute", changes);
    const compile::BatchPlan batch = compile::plan_batch(config);
    if (batch.micro_batch_size % 2 == 0) {
        const std::int64_t half = batch.micro_batch_size / 2;
        changes.push_back(
            change("micro batch", QString::number(half), "training.micro_batch_size", half));
    }
    if (batch.accumulation_steps % 2 == 0) {
        const std::int64_t twice = batch.micro_batch_size * 2;
        changes.push_back(
            change("micro batch", QString::number(twice), "training.micro_batch_size", twice));
    }
    addChoices(config, "precision", "precision", changes);
    changes.push_back(
        {"ema",
         config.ema_decay ? QObject::tr("no EMA of weights") : QObject::tr("EMA of weights"),
         "ema",
         {assignment("training.ema_decay",
                     config.ema_decay ? config::Json(nullptr) : config::Json(0.999))}});
    changes.push_back({"async",
                       config.checkpoint_async ? QObject::tr("training waits for checkpoints")
                                               : QObject::tr("checkpoints in the background"),
                       "async",
                       {assignment("checkpoint.async", !config.checkpoint_async)}});
    return changes;
}

PlanPreview::PlanPreview(Draft& draft, QObject* parent)
    : QObject(parent), draft_(draft), planner_(enginePlanner()) {
    timer_.setSingleShot(true);
    timer_.setInterval(kDebounceMs);
    connect(&timer_, &QTimer::timeout, this, &PlanPreview::restart);
    connect(&draft_, &Draft::changed, this, &PlanPreview::onDraftChanged);
}

PlanPreview::~PlanPreview() {
    stop_.request_stop();
}

void PlanPreview::setPlanner(Planner planner) {
    planner_ = std::move(planner);
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

// At once: what is shown is no longer of this draft. The plan follows when edits pause.
void PlanPreview::onDraftChanged() {
    dirty_ = true;
    stopWork();
    stale_ = digest_ != nullptr;
    if (draft_.isEmpty() || !draft_.isValid()) {
        state_ = draft_.isEmpty() && draft_.diagnostics().empty() ? State::Empty : State::Invalid;
    } else if (!digest_) {
        state_ = State::Planning;
    } else {
        state_ = State::Ready;
    }
    emit changed();
    if (active_) {
        timer_.start();
    }
}

void PlanPreview::restart() {
    stopWork();
    if (draft_.isEmpty() || !draft_.isValid()) {
        next();
        return;
    }
    plan({}, [this](Result result) { takeMain(std::move(result)); });
}

void PlanPreview::takeMain(Result result) {
    dirty_ = false;
    stale_ = false;
    digest_ = result.digest;
    problem_ = result.problem;
    hint_ = result.hint;
    state_ = digest_ ? State::Ready : State::Failed;
    config_ = draft_.config();
    changes_ = digest_ ? planChanges(config_) : std::vector<PlanChange>{};
    outcomes_.clear();
    QStringList kept;
    for (const PlanChange& known : changes_) {
        if (chosen_.contains(known.id)) {
            kept.append(known.id);
        }
    }
    chosen_ = kept;
    what_if_.reset();
    what_if_done_ = false;
    emit changed();
    emit outcomesChanged();
    emit whatIfChanged();
    next();
}

// The order of work: the draft itself, what was chosen to compare with, each change alone.
void PlanPreview::next() {
    if (!active_ || busy_ || dirty_ || !digest_) {
        return;
    }
    if (!chosen_.isEmpty() && !what_if_done_) {
        plan(chosenOverrides(), [this](const Result& result) {
            what_if_ = result.digest;
            what_if_problem_ = result.problem;
            what_if_done_ = true;
            emit whatIfChanged();
            next();
        });
        return;
    }
    for (const PlanChange& wanted : changes_) {
        if (outcomes_.contains(wanted.id)) {
            continue;
        }
        plan(wanted.overrides, [this, id = wanted.id](const Result& result) {
            PlanOutcome found;
            found.problem = result.problem;
            if (result.digest) {
                found.peak_bytes = result.digest->peak_bytes;
                found.step_ms = result.digest->plan->predicted_step_ms;
                found.fits = result.digest->plan->fits();
            }
            outcomes_[id] = found;
            emit outcomesChanged();
            next();
        });
        return;
    }
}

void PlanPreview::stopWork() {
    stop_.request_stop();
    stop_ = std::stop_source();
    ++job_;
    busy_ = false;
}

void PlanPreview::plan(const std::vector<std::string>& overrides,
                       std::function<void(Result)> done) {
    busy_ = true;
    runInBackground(
        this,
        [planner = planner_, document = draft_.document(), base_dir = draft_.baseDir(), overrides,
         stop = stop_.get_token()] { return work(planner, document, base_dir, overrides, stop); },
        [this, job = ++job_, done = std::move(done)](Result result) {
            if (job == job_) {
                busy_ = false;
                done(std::move(result));
            }
        });
}

PlanPreview::Result PlanPreview::work(const Planner& planner, const config::Json& document,
                                      const std::filesystem::path& base_dir,
                                      const std::vector<std::string>& overrides,
                                      const std::stop_token& stop) {
    Result result;
    try {
        config::Json changed = document;
        for (const std::string& text : overrides) {
            const config::Diagnostics problems = config::apply_override(changed, text);
            if (!problems.empty()) {
                result.problem = toQString(to_text(problems.front()));
                return result;
            }
        }
        const compile::CheckedRun checked = compile::read_run_config(changed, base_dir);
        if (!checked.ok()) {
            const auto error = std::find_if(
                checked.diagnostics.begin(), checked.diagnostics.end(),
                [](const auto& found) { return found.severity == config::Severity::error; });
            result.problem = toQString(to_text(*error));
            return result;
        }
        if (!stop.stop_requested()) {
            result.digest = digestPlan(planner(checked.config, stop));
        }
    } catch (const Error& error) {
        const QString where = toQString(error.where());
        result.problem = (where.isEmpty() ? QString() : where + ": ") + toQString(error.message());
        result.hint = toQString(error.hint());
    }
    return result;
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
    stopWork();
    what_if_.reset();
    what_if_problem_.clear();
    what_if_done_ = false;
    emit whatIfChanged();
    next();
}

void PlanPreview::clearChosen() {
    chosen_.clear();
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
