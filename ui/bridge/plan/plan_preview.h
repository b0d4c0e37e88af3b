// SPDX-License-Identifier: GPL-3.0-or-later
// The plan of the draft, made again in the background after every edit: on a mesh first where its
// state lies, which is soon known, then the training step and the other programs; and then what the
// draft would need and cost with one thing changed. The newest draft wins: work for an older one is
// stopped and its results are dropped. What is shown meanwhile belongs together and is marked
// stale.
#pragma once

#include "ui/bridge/background.h"
#include "ui/bridge/newest_job.h"
#include "ui/bridge/plan/plan_changes.h"
#include "ui/bridge/plan/plan_digest.h"
#include "ui/bridge/plan/planner.h"

#include <QObject>
#include <QStringList>
#include <QTimer>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace weft::ui {

class Draft;

/// What a changed draft would need and cost.
struct PlanOutcome {
    std::int64_t peak_bytes = 0;
    double flops = 0;
    std::optional<double> step_ms;
    bool fits = true;
    QString problem; // why it cannot be planned; the figures are then meaningless
};

class PlanPreview : public QObject {
    Q_OBJECT
public:
    enum class State {
        Empty,    // no draft
        Invalid,  // the draft has errors; see its diagnostics
        Failed,   // valid, and cannot be planned: see problem()
        Planning, // nothing to show yet
        Ready,
    };
    using Alternatives = Planner::Alternatives;

    PlanPreview(Draft& draft, Planner planner, QObject* parent = nullptr);

    /// Plans only while somebody looks.
    void setActive(bool active);
    /// Plans for hardware that need not be here; null: this machine.
    void setHardware(const cost::Hardware* hardware);
    const cost::Hardware* hardware() const { return hardware_; }

    State state() const { return state_; }
    /// A newer plan is being made; what is shown is of the draft before.
    bool isStale() const { return stale_; }
    /// digest() is of all programs; before that of the training step alone, and a verdict on the
    /// run is still to come.
    bool isComplete() const { return complete_; }
    /// Null unless Ready.
    std::shared_ptr<const PlanDigest> digest() const { return digest_; }
    /// Of the draft as soon as it is known where its state lies, before there are programs; then
    /// as digest(). Null unless Ready.
    std::shared_ptr<const PlanDigest> layout() const { return layout_; }
    bool isLayoutStale() const { return stale_ && !layout_is_new_; }
    /// The configuration that digest() is of.
    const compile::RunConfig& config() const { return config_; }
    QString problem() const { return problem_; }
    QString problemHint() const { return hint_; }

    const std::vector<PlanChange>& changes() const { return changes_; }
    /// Of one change alone; none while it is being planned.
    std::optional<PlanOutcome> outcome(const QString& id) const;

    /// What makes it fit; empty while they are looked for, and when it fits. See fixesKnown().
    const Alternatives& fixes() const { return fixes_; }
    bool fixesKnown() const { return fixes_done_; }
    /// From keeping all to computing again all that can be; empty until it is known.
    const Alternatives& curve() const { return curve_; }
    bool curveKnown() const { return curve_done_; }
    /// Looks through every combination; alternativesChanged follows.
    void askAdvice();
    bool isAdvising() const { return advice_wanted_; }
    const Alternatives& advice() const { return advice_; }

    /// Chooses changes to look at together; one of another group joins, one of the same replaces.
    void setChosen(const QString& id, bool chosen);
    void clearChosen();
    const QStringList& chosen() const { return chosen_; }
    /// The plan with all chosen changes; null while none is chosen or it is being made.
    std::shared_ptr<const PlanDigest> whatIf() const { return what_if_; }
    QString whatIfProblem() const { return what_if_problem_; }
    /// The "--set" assignments of the chosen changes.
    std::vector<std::string> chosenOverrides() const;

signals:
    void changed();             // state, staleness, digest, completeness, layout
    void outcomesChanged();     // changes and what they come to
    void whatIfChanged();       // the choice, or its plan
    void alternativesChanged(); // fixes, curve, advice

private:
    struct Result {
        std::shared_ptr<const plan::ExecutionPlan> plan; // unless only the outcome was asked for
        std::shared_ptr<const PlanDigest> digest;        // of it, if one was asked for
        PlanOutcome outcome;                             // of it, if that was asked for
        QString problem;
        QString hint;
    };

    static constexpr int kLaterNiceness = 5; // a third of the share of others

    /// What somebody waits for, or what gives way to it.
    enum class Urgency { Now, Later };
    /// What is made of a plan. Of what only figures are shown the plan ends where it was made.
    enum class Yield { Plan, Digest, Outcome };
    struct Job {
        Planner::Plan make;
        std::vector<std::string> overrides{};
        std::shared_ptr<const PlanDigest> step{}; // what the plan completes
        Urgency urgency = Urgency::Now;
        Yield yield = Yield::Digest;
    };

    void onDraftChanged();
    void restart();
    void startOver();
    void next();
    bool nextAlternatives();
    bool nextOutcome();
    void stopWork();
    void forgetRest();
    void plan(Job job, std::function<void(Result)> done);
    void find(const Planner::Search& search, Urgency urgency,
              std::function<void(Alternatives)> done);
    QThreadPool* poolOf(Urgency urgency);
    void planStep();
    void planRest();
    void complete();
    bool isBusy() const { return jobs_.isRunning(); }
    void takeLayout(const Result& result);
    void takeStep(const Result& result);
    void takeWhole(const Result& result);
    void show(const Result& result);

    Draft& draft_;
    Planner planner_;
    QTimer timer_;
    QTimer calm_; // runs for a moment after the draft's own plan
    State state_ = State::Empty;
    const cost::Hardware* hardware_ = nullptr;
    bool active_ = false;
    bool dirty_ = true; // the draft changed since the last plan was asked for
    bool stale_ = false;
    bool complete_ = false;
    bool layout_is_new_ = false; // layout_ is of the draft, digest_ not yet
    std::shared_ptr<const PlanDigest> digest_;
    std::shared_ptr<const PlanDigest> layout_;
    compile::RunConfig config_;
    QString problem_, hint_;

    std::vector<PlanChange> changes_;
    std::map<QString, PlanOutcome> outcomes_;
    QStringList chosen_;
    std::shared_ptr<const PlanDigest> what_if_;
    QString what_if_problem_;
    bool what_if_done_ = false;
    Alternatives fixes_, curve_, advice_;
    bool fixes_done_ = false, curve_done_ = false, advice_wanted_ = false;

    bool rest_asked_ = false;
    std::optional<Result> rest_;      // of the draft, until its step is there
    QuietPool later_{kLaterNiceness}; // gives way to what is looked at
    NewestJob jobs_{this};            // of the draft as it is; stopped before the pool waits
};

} // namespace weft::ui
