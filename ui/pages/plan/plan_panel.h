// SPDX-License-Identifier: GPL-3.0-or-later
// What the panels have in common that show the plan: which one, of which run, and whether it is
// still the draft's.
#pragma once

#include "ui/bridge/plan/mesh_search.h"
#include "ui/bridge/plan/plan_digest.h"

#include <QWidget>

#include <memory>

namespace weft::ui {

struct ShownPlan {
    std::shared_ptr<const PlanDigest> digest{}; // of the plan, or of its layout; null: none yet
    std::shared_ptr<const MeshRun> run{};       // whose plan it is, for what plans others beside it
    bool stale = false;                         // it is of an earlier draft
};

class PlanPanel : public QWidget {
    Q_OBJECT
public:
    void setPlan(const ShownPlan& plan);

protected:
    /// What of a plan is shown: its step stays as it is when further programs complete the plan.
    enum class Shows { Step, Whole };

    PlanPanel(Shows shows, QWidget* parent) : QWidget(parent), shows_(shows) {}

    /// `digest_` and `run_` are other ones; `before` was shown until now.
    virtual void planChanged(const ShownPlan& before) = 0;
    virtual void staleChanged() = 0;

    std::shared_ptr<const PlanDigest> digest_;
    std::shared_ptr<const MeshRun> run_;
    bool stale_ = false;

private:
    Shows shows_;
};

} // namespace weft::ui
