// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/draft_header.h"

#include "ui/actions.h"
#include "ui/bridge/draft/draft.h"
#include "ui/forms/field_finder.h"
#include "ui/pages/page_list.h"
#include "widgets/controls/pill.h"

#include <QPushButton>
#include <QShortcut>

namespace weft::ui {

DraftHeader::DraftHeader(const QString& title, FormSource& source, Actions& actions, QWidget* page)
    : SectionHeader(title, Level::Page), badge_(new widgets::Badge) {
    badge_->setObjectName("draftBadge");
    badge_->hide();
    setBadge(badge_);
    addControl(actionButton(actions.get(action::kUndo)));
    addControl(actionButton(actions.get(action::kRedo)));
    auto* finder = new FieldFinder(source);
    connect(finder, &FieldFinder::fieldChosen, this, &DraftHeader::fieldChosen);
    addControl(finder);
    auto* find = new QShortcut(QKeySequence::Find, page);
    find->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, finder,
            [finder] { finder->setFocus(Qt::ShortcutFocusReason); });
}

ProblemCount countProblems(const Draft& draft,
                           const std::function<bool(const std::string&)>& is_here) {
    ProblemCount count;
    for (const config::Diagnostics& list : {draft.diagnostics(), draft.findings()}) {
        for (const config::Diagnostic& one : list) {
            if (is_here(one.pointer)) {
                ++(one.severity == config::Severity::error ? count.errors : count.warnings);
            }
        }
    }
    return count;
}

void DraftHeader::setProblems(ProblemCount count) {
    const auto [errors, warnings] = count;
    badge_->setVisible(errors + warnings > 0);
    badge_->setRole(errors > 0 ? widgets::Role::Error : widgets::Role::Warning);
    badge_->setIconName(errors > 0 ? "error" : "warning");
    badge_->setText(errors > 0 ? tr("%n error(s)", nullptr, errors)
                               : tr("%n warning(s)", nullptr, warnings));
}

} // namespace weft::ui
