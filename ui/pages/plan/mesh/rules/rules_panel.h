// SPDX-License-Identifier: GPL-3.0-or-later
// What places arrays on the mesh, for experts: the rules in effect, overrides of single tensors,
// and how layers and microbatches are spread over a pipeline. Every edit is checked by the engine
// before it reaches the draft; what is wrong is said where it stands, and nothing that was typed is
// lost.
#pragma once

#include "core/compile/config/run_config.h"
#include "ui/pages/plan/plan_panel.h"

#include <memory>

namespace weft::ui {

class RuleList;
class ScheduleBox;
class SpecList;

class RulesPanel : public PlanPanel {
    Q_OBJECT
public:
    explicit RulesPanel(QWidget* parent = nullptr);

    /// The draft whose plan is shown.
    void setConfig(const compile::RunConfig& config);
    /// How specs are written.
    void setDialect(sharding::SpecDialect dialect);

signals:
    /// "--set" assignments for the draft, and what they are.
    void adopted(const std::vector<std::string>& overrides, const QString& what);

protected:
    void planChanged(const ShownPlan& before) override;
    void staleChanged() override;

private:
    void renew();

    std::shared_ptr<const compile::RunConfig> config_;
    RuleList* rules_;
    SpecList* specs_;
    ScheduleBox* schedule_;
};

} // namespace weft::ui
