// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/rules/rule_list.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/draft/spec_edit.h"
#include "ui/bridge/draft/stage_edit.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/pill.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/menu_text.h"
#include "widgets/look/style.h"

#include <QGridLayout>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

enum RuleListColumn {
    RuleListNameColumn,
    RuleListAxesColumn,
    RuleListCountColumn,
    RuleListSourceColumn,
    RuleListEarlierColumn,
    RuleListLaterColumn,
    RuleListRemoveColumn
};
constexpr int kRuleListIconWidth = 24;

QString axesText(const std::vector<std::string>& axes) {
    QStringList out;
    for (const std::string& axis : axes) {
        out.append(toQString(axis));
    }
    return out.isEmpty() ? RuleList::tr("none") : out.join(QStringLiteral(", "));
}

} // namespace

RuleList::RuleList(QWidget* parent) : QWidget(parent) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Surface;
    outer->addWidget(panel);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* header = new widgets::SectionHeader(tr("Rules"));
    header->setSubtitle(tr("the first for a logical axis counts"));
    auto* add = new QPushButton(widgets::icon("plus"), tr("rule"));
    add->setObjectName("ruleAdd");
    add->setAccessibleName(tr("Add a rule"));
    widgets::setCompact(add);
    add_menu_ = new QMenu(add);
    connect(add_menu_, &QMenu::aboutToShow, this, &RuleList::fillAddMenu);
    add->setMenu(add_menu_);
    header->addControl(add);
    column->addWidget(header);
    wrong_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Error);
    wrong_->setObjectName("ruleProblem");
    wrong_->setWordWrap(true);
    wrong_->setContentsMargins(widgets::space::kGroup, widgets::space::kTight,
                               widgets::space::kGroup, 0);
    wrong_->hide();
    column->addWidget(wrong_);
    rows_ = new QWidget;
    grid_ = new QGridLayout(rows_);
    grid_->setContentsMargins(widgets::space::kGroup, widgets::space::kTight,
                              widgets::space::kGroup, widgets::space::kTight);
    grid_->setHorizontalSpacing(widgets::space::kControl);
    grid_->setVerticalSpacing(widgets::space::kTight);
    grid_->setColumnStretch(RuleListCountColumn, 1);
    auto* holder = new QWidget;
    auto* stack = new QVBoxLayout(holder);
    stack->setContentsMargins(0, 0, 0, 0);
    stack->addWidget(rows_);
    stack->addStretch(1);
    column->addWidget(widgets::verticalScroll(holder), 1);
}

void RuleList::show(std::shared_ptr<const compile::RunConfig> config,
                    std::shared_ptr<const PlanDigest> digest) {
    config_ = std::move(config);
    const bool same_tensors = digest_ && logicalAxes(*digest_->plan) == logicalAxes(*digest->plan);
    digest_ = std::move(digest);
    const MeshEdit edit = MeshEdit::of(*config_);
    if (edit != edit_ || !same_tensors) {
        edit_ = edit;
        wrong_->hide();
        rebuild();
    }
}

void RuleList::rebuild() {
    const widgets::KeptFocus focus(*rows_);
    widgets::clearLayout(*grid_);
    int row = 0;
    int own = 0;
    for (const EffectiveRule& rule : effectiveRules(edit_)) {
        addRow(row++, rule, rule.own ? own++ : -1);
    }
    if (row == 0) {
        grid_->addWidget(new widgets::TextLabel(tr("No rule: every array is whole everywhere."),
                                                TextStyle::Caption, Role::Muted),
                         0, RuleListNameColumn, 1, RuleListRemoveColumn + 1);
    }
    focus.giveBack();
}

QString RuleList::whatOf(const std::string& logical) const {
    const int tensors = tensorsWith(*digest_->plan, logical);
    return tensors > 0             ? tr("%n tensor(s)", nullptr, tensors)
           : logical == "batch"    ? tr("samples")
           : logical == "sequence" ? tr("positions")
           : logical == "layers"   ? tr("stages")
                                   : tr("no tensor");
}

void RuleList::addRow(int row, const EffectiveRule& rule, int own) {
    const QString logical = toQString(rule.rule.logical);
    const Role role = rule.covered ? Role::Faint : Role::Text;
    grid_->addWidget(new widgets::TextLabel(logical, TextStyle::MonoSmall, role), row,
                     RuleListNameColumn);
    grid_->addWidget(new widgets::ElidedLabel(rule.covered ? tr("covered by your own")
                                                           : whatOf(rule.rule.logical),
                                              TextStyle::Caption, Role::Muted),
                     row, RuleListCountColumn);
    auto* source = new widgets::Badge(own >= 0 ? tr("own") : toQString(edit_.strategy),
                                      own >= 0 ? Role::Accent : Role::Muted);
    source->setToolTip(own >= 0 ? tr("A rule of the draft") : tr("A rule of the strategy"));
    grid_->addWidget(source, row, RuleListSourceColumn);
    if (rule.covered) {
        grid_->addWidget(
            new widgets::TextLabel(axesText(rule.rule.axes), TextStyle::MonoSmall, role), row,
            RuleListAxesColumn);
        return;
    }
    auto* axes = new QPushButton(axesText(rule.rule.axes));
    axes->setObjectName("ruleAxes_" + logical);
    axes->setAccessibleName(tr("%1 is split over %2").arg(logical, axesText(rule.rule.axes)));
    widgets::setCompact(axes);
    auto* menu = new QMenu(axes);
    addAxes(menu, rule.rule, true);
    axes->setMenu(menu);
    grid_->addWidget(axes, row, RuleListAxesColumn);
    if (own < 0) {
        return;
    }
    const auto at = static_cast<std::size_t>(own);
    if (own > 0) {
        auto* up = widgets::iconButton("chevron-up", "ruleEarlier_" + logical,
                                       tr("Move the rule for %1 up").arg(logical));
        up->setFixedWidth(kRuleListIconWidth);
        connect(up, &QPushButton::clicked, this, [this, at, logical] {
            change(withRuleMoved(edit_, at, at - 1), tr("the rule for %1 earlier").arg(logical));
        });
        grid_->addWidget(up, row, RuleListEarlierColumn);
    }
    if (at + 1 < edit_.rules.size()) {
        auto* down = widgets::iconButton("chevron-down", "ruleLater_" + logical,
                                         tr("Move the rule for %1 down").arg(logical));
        down->setFixedWidth(kRuleListIconWidth);
        connect(down, &QPushButton::clicked, this, [this, at, logical] {
            change(withRuleMoved(edit_, at, at + 1), tr("the rule for %1 later").arg(logical));
        });
        grid_->addWidget(down, row, RuleListLaterColumn);
    }
    auto* remove = widgets::iconButton("close", "ruleRemove_" + logical,
                                       tr("Remove the rule for %1").arg(logical));
    remove->setFixedWidth(kRuleListIconWidth);
    connect(remove, &QPushButton::clicked, this, [this, logical] {
        change(withoutRule(edit_, logical.toStdString()),
               tr("no rule of its own for %1").arg(logical));
    });
    grid_->addWidget(remove, row, RuleListRemoveColumn);
}

/// Every axis of the mesh, to take in or leave out, and none.
void RuleList::addAxes(QMenu* menu, const sharding::Rule& rule, bool replaces) {
    const auto choose = [this, logical = rule.logical](const std::vector<std::string>& axes) {
        change(withRule(edit_, {logical, axes}),
               tr("rule %1 → %2").arg(toQString(logical), axesText(axes)));
    };
    for (const MeshAxis& axis : edit_.axes) {
        QAction* action = menu->addAction(widgets::menuText(toQString(axis.name)));
        action->setObjectName("ruleAxis_" + toQString(axis.name));
        const bool in = std::ranges::count(rule.axes, axis.name) > 0;
        action->setCheckable(replaces);
        action->setChecked(in);
        std::vector<std::string> axes = rule.axes;
        if (in) {
            std::erase(axes, axis.name);
        } else {
            axes.push_back(axis.name);
        }
        connect(action, &QAction::triggered, this, [choose, axes] { choose(axes); });
    }
    menu->addSeparator();
    QAction* none = menu->addAction(tr("none"));
    none->setObjectName("ruleAxis_none");
    none->setCheckable(replaces);
    none->setChecked(replaces && rule.axes.empty());
    connect(none, &QAction::triggered, this, [choose] { choose({}); });
}

void RuleList::fillAddMenu() {
    add_menu_->clear();
    if (!digest_) {
        return;
    }
    std::vector<std::string> names{"batch", "sequence", "layers"};
    for (const std::string& name : logicalAxes(*digest_->plan)) {
        names.push_back(name);
    }
    const auto rules = effectiveRules(edit_);
    for (const std::string& name : names) {
        if (std::ranges::any_of(rules, [&](const EffectiveRule& one) {
                return one.rule.logical == name && !one.rule.axes.empty();
            })) {
            continue; // its row is there to be changed
        }
        QMenu* choice =
            add_menu_->addMenu(tr("%1, %2").arg(widgets::menuText(toQString(name)), whatOf(name)));
        choice->menuAction()->setObjectName("ruleFor_" + toQString(name));
        addAxes(choice, {name, {}}, false);
    }
}

void RuleList::change(const MeshEdit& edit, const QString& what) {
    const std::vector<std::string> assignments = assignmentsOf(edit, *config_);
    const QString wrong = problemOf(*config_, assignments);
    wrong_->setText(wrong.isEmpty() ? QString() : tr("%1: %2").arg(what, wrong));
    wrong_->setVisible(!wrong.isEmpty());
    if (wrong.isEmpty()) {
        emit adopted(assignments, what);
    } else {
        rebuild(); // a check mark that was set goes again
    }
}

} // namespace weft::ui
