// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/rules/rules_panel.h"

#include "ui/pages/plan/mesh/rules/rule_list.h"
#include "ui/pages/plan/mesh/rules/spec_list.h"
#include "ui/pages/plan/mesh/step/schedule_box.h"
#include "widgets/controls/arranging.h"

#include <QVBoxLayout>

namespace weft::ui {

RulesPanel::RulesPanel(QWidget* parent) : PlanPanel(Shows::Whole, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* columns = new widgets::ThinSplitter(Qt::Horizontal);
    rules_ = new RuleList;
    specs_ = new SpecList;
    schedule_ = new ScheduleBox;
    columns->addWidget(rules_);
    columns->addWidget(specs_);
    columns->addWidget(schedule_);
    columns->setSizes({380, 440, 460});
    column->addWidget(columns);
    connect(rules_, &RuleList::adopted, this, &RulesPanel::adopted);
    connect(specs_, &SpecList::adopted, this, &RulesPanel::adopted);
    connect(schedule_, &ScheduleBox::adopted, this, &RulesPanel::adopted);
}

void RulesPanel::setConfig(const compile::RunConfig& config) {
    if (!config_ || config_->document != config.document) {
        config_ = std::make_shared<const compile::RunConfig>(config);
        renew();
    }
}

void RulesPanel::planChanged(const ShownPlan&) {
    renew();
}

void RulesPanel::staleChanged() {
    schedule_->setStale(stale_);
}

void RulesPanel::setDialect(sharding::SpecDialect dialect) {
    specs_->setDialect(dialect);
}

void RulesPanel::renew() {
    if (config_ && digest_) {
        rules_->show(config_, digest_);
        specs_->show(config_, digest_);
        schedule_->show(config_, digest_);
    }
}

} // namespace weft::ui
