// SPDX-License-Identifier: GPL-3.0-or-later
// The plan of the draft, made again in the background after every edit; and beside it what the
// draft would need and cost with one thing changed. The newest draft wins: work for an older one is
// stopped and its results are dropped. What is shown meanwhile belongs together and is marked
// stale.
#pragma once

#include "core/compile/programs.h"
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

/// What a changed draft would need and cost.
struct PlanOutcome {
    std::int64_t peak_bytes = 0;
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
    /// Makes a plan off the GUI thread. Throws weft::Error; stops with weft::Error{runtime}.
    using Planner = std::function<std::shared_ptr<const plan::ExecutionPlan>(
        const compile::RunConfig&, std::stop_token)>;

    explicit PlanPreview(Draft& draft, QObject* parent = nullptr);
    ~PlanPreview() override;
    /// For tests; the default is the engine's.
    void setPlanner(Planner planner);

    /// Plans only while somebody looks.
    void setActive(bool active);

    State state() const { return state_; }
    /// A newer plan is being made; what is shown is of the draft before.
    bool isStale() const { return stale_; }
    /// Null unless Ready.
    std::shared_ptr<const PlanDigest> digest() const { return digest_; }
    /// The configuration that digest() is of.
    const compile::RunConfig& config() const { return config_; }
    QString problem() const { return problem_; }
    QString problemHint() const { return hint_; }

    const std::vector<PlanChange>& changes() const { return changes_; }
    /// Of one change alone; none while it is being planned.
    std::optional<PlanOutcome> outcome(const QString& id) const;

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
    void changed();         // state, staleness, digest
    void outcomesChanged(); // changes and what they come to
    void whatIfChanged();   // the choice, or its plan

private:
    struct Result {
        std::shared_ptr<const PlanDigest> digest;
        QString problem;
        QString hint;
    };

    void onDraftChanged();
    void restart();
    void next();
    void stopWork();
    void plan(const std::vector<std::string>& overrides, std::function<void(Result)> done);
    void takeMain(Result result);
    static Result work(const Planner& planner, const config::Json& document,
                       const std::filesystem::path& base_dir,
                       const std::vector<std::string>& overrides, const std::stop_token& stop);

    Draft& draft_;
    Planner planner_;
    QTimer timer_;
    State state_ = State::Empty;
    bool active_ = false;
    bool dirty_ = true; // the draft changed since the last plan was asked for
    bool stale_ = false;
    std::shared_ptr<const PlanDigest> digest_;
    compile::RunConfig config_;
    QString problem_, hint_;

    std::vector<PlanChange> changes_;
    std::map<QString, PlanOutcome> outcomes_;
    QStringList chosen_;
    std::shared_ptr<const PlanDigest> what_if_;
    QString what_if_problem_;
    bool what_if_done_ = false;

    std::stop_source stop_;
    std::int64_t job_ = 0; // number of the newest job: results of others are dropped
    bool busy_ = false;
};

} // namespace weft::ui
