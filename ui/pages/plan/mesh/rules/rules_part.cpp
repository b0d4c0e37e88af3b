// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/rules/rules_part.h"

#include "ui/pages/plan/mesh/rules/rule_list.h"
#include "ui/pages/plan/mesh/step/schedule_box.h"
#include "ui/pages/plan/mesh/rules/spec_list.h"

#include <QSplitter>
#include <QVBoxLayout>

namespace weft::ui {

RulesPart::RulesPart(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* columns = new QSplitter(Qt::Horizontal);
    columns->setHandleWidth(1);
    columns->setChildrenCollapsible(false);
    rules_ = new RuleList;
    specs_ = new SpecList;
    schedule_ = new ScheduleBox;
    columns->addWidget(rules_);
    columns->addWidget(specs_);
    columns->addWidget(schedule_);
    columns->setSizes({380, 440, 460});
    column->addWidget(columns);
    connect(rules_, &RuleList::adopted, this, &RulesPart::adopted);
    connect(specs_, &SpecList::adopted, this, &RulesPart::adopted);
    connect(schedule_, &ScheduleBox::adopted, this, &RulesPart::adopted);
}

void RulesPart::setConfig(const compile::RunConfig& config) {
    if (!config_ || config_->document != config.document) {
        config_ = std::make_shared<const compile::RunConfig>(config);
        renew();
    }
}

void RulesPart::setDigest(std::shared_ptr<const PlanDigest> digest) {
    if (digest != digest_) {
        digest_ = std::move(digest);
        renew();
    }
}

void RulesPart::setStale(bool stale) {
    schedule_->setStale(stale);
}

void RulesPart::setDialect(sharding::SpecDialect dialect) {
    specs_->setDialect(dialect);
}

void RulesPart::renew() {
    if (config_ && digest_) {
        rules_->show(config_, digest_);
        specs_->show(config_, digest_);
        schedule_->show(config_, digest_);
    }
}

} // namespace weft::ui
