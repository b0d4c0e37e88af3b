// SPDX-License-Identifier: GPL-3.0-or-later
// The plan of the draft, made again in the background after every edit: on a mesh first where its
// state lies, which is soon known, then the training step and the other programs; and then what the
// draft would need and cost with one thing changed. The newest draft wins: work for an older one is
// stopped and its results are dropped. What is shown meanwhile belongs together and is marked stale.
#pragma once

#include "core/compile/mesh_advice.h"
#include "core/compile/programs.h"
#include "core/cost/hardware.h"
#include "ui/bridge/background.h"
#include "ui/bridge/plan_digest.h"

#include <QObject>
#include <QStringList>
#include <QTimer>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace weft::ui {

class Draft;

/// One thing that could be otherwise.
struct PlanChange {
    QString id;                         // "recompute.blocks"; stable, for tests
    QString label;                      // "recompute blocks"
    QString group;                      // of several changes of one group only one can be chosen
    std::vector<std::string> overrides; // "--set" assignments
};

/// What can be tried on this configuration: each change is to something that it is not.
std::vector<PlanChange> planChanges(const compile::RunConfig& config);

/// What a configuration is planned for: what was chosen, else the hardware that it names itself
/// ("h200:64"); null: this machine.
const cost::Hardware* hardwareOf(const compile::RunConfig& config, const cost::Hardware* chosen);

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
    using Alternatives = std::vector<plan::Alternative>;
    using Search = std::function<Alternatives(
        const compile::RunConfig&, const cost::Hardware* hardware, const std::stop_token&)>;
    /// How plans are made, off the GUI thread; `hardware` null: this machine. All throw weft::Error
    /// and stop with weft::Error{runtime}.
    struct Planner {
        using Plan = std::function<std::shared_ptr<const plan::ExecutionPlan>(
            const compile::RunConfig&, const cost::Hardware* hardware, const std::stop_token&)>;
        /// Looks for other meshes for a run with this plan; `planned` is called for every plan that
        /// is made, by any thread.
        using Meshes = std::function<compile::MeshAdvice(
            const compile::RunConfig&, const cost::Hardware* hardware,
            const plan::ExecutionPlan& plan, const std::stop_token&,
            const std::function<void()>& planned)>;
        Plan layout;   // of a mesh: where its state lies, at once; may be null
        Plan step;     // of the training step alone: nearly all there is to see, and soon
        Plan plan;     // of all programs
        Plan rest;     // of those that `step` lacks, which make it complete; may be null
        Search fixes;  // changes with which a run that does not fit does
        Search curve;  // memory against time over how much is computed again
        Search advice; // precision, recompute and micro batch in every combination
        Meshes meshes; // of as many devices
    };
    /// The engine's, with what earlier measurements of this machine taught.
    static Planner engine(const std::filesystem::path& calibration_file);

    PlanPreview(Draft& draft, Planner planner, QObject* parent = nullptr);
    ~PlanPreview() override;

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
    void find(const Search& search, Urgency urgency, std::function<void(Alternatives)> done);
    QThreadPool* poolOf(Urgency urgency);
    void planStep();
    void planRest();
    void complete();
    bool isBusy() const { return running_ > 0; }
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

    std::stop_source stop_;
    std::int64_t turn_ = 0; // jobs of earlier turns were stopped: their results are dropped
    int running_ = 0;       // jobs of this turn
    bool rest_asked_ = false;
    std::optional<Result> rest_; // of the draft, until its step is there
    QuietPool later_{kLaterNiceness}; // gives way to what is looked at
};

} // namespace weft::ui
