// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/draft_changes.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/draft/draft.h"
#include "ui/forms/number_text.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/text_label.h"

#include <QGridLayout>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr std::size_t kMostChanges = 6;

struct EffectLook {
    const char* icon;
    Role role;
    QString text;
};

EffectLook effect_look(compile::ChangeEffect effect) {
    switch (effect) {
    case compile::ChangeEffect::allowed: return {"check", Role::Success, QObject::tr("allowed")};
    case compile::ChangeEffect::fork: return {"fork", Role::Accent, QObject::tr("makes a fork")};
    case compile::ChangeEffect::blocked:
        return {"lock", Role::Error, QObject::tr("blocked: the weights would not fit")};
    }
    return {};
}

/// What decides most comes first; names and notes change nothing.
std::vector<compile::FieldChange> telling(std::vector<compile::FieldChange> changes) {
    std::erase_if(changes, [](const compile::FieldChange& change) {
        return change.path == "name" || change.path == "notes" || change.path == "tags";
    });
    std::stable_sort(changes.begin(), changes.end(),
                     [](const auto& a, const auto& b) { return a.effect > b.effect; });
    return changes;
}

} // namespace

DraftChanges::DraftChanges(QWidget* parent) : QWidget(parent) {
    setObjectName("draftChanges");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader({});
    column->addWidget(header_);
    rows_ = new QVBoxLayout;
    rows_->setContentsMargins(12, 4, 12, 12);
    rows_->setSpacing(widgets::space::kControl);
    column->addLayout(rows_);
    hide();
}

void DraftChanges::show(const compile::RunConfig& run, const Draft& draft, const QString& title) {
    clear();
    if (!draft.isValid()) {
        return;
    }
    if (draft.config().model_type() != run.model_type()) {
        header_->setTitle(tr("The draft is another model"));
        header_->setTrailing({});
        addSentence(tr("%1 trains %2, this run %3: its weights would not fit.")
                        .arg(draft.name(), toQString(draft.config().model_type()),
                             toQString(run.model_type())));
        setVisible(true);
        return;
    }
    const std::vector<compile::FieldChange> changes = telling(draft.differencesFrom(run));
    header_->setTitle(title);
    header_->setTrailing(QString::number(changes.size()));
    for (std::size_t i = 0; i < std::min(changes.size(), kMostChanges); ++i) {
        addChange(changes[i]);
    }
    if (changes.size() > kMostChanges) {
        addSentence(tr("and %1 more").arg(changes.size() - kMostChanges));
    }
    setVisible(!changes.empty());
}

void DraftChanges::clear() {
    widgets::clearLayout(*rows_);
    hide();
}

void DraftChanges::addSentence(const QString& text) {
    auto* sentence = new widgets::TextLabel(text, TextStyle::Caption, Role::Muted);
    sentence->setWordWrap(true);
    rows_->addWidget(sentence);
}

void DraftChanges::addChange(const compile::FieldChange& change) {
    const EffectLook look = effect_look(change.effect);
    auto* row = new QWidget;
    auto* grid = new QGridLayout(row);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(widgets::space::kControl);
    grid->setVerticalSpacing(0);
    grid->setColumnStretch(1, 1);
    auto* mark = new widgets::IconLabel(look.icon, look.role);
    mark->setAccessibleName(look.text);
    grid->addWidget(mark, 0, 0, Qt::AlignTop);
    grid->addWidget(new widgets::ElidedLabel(toQString(change.path), TextStyle::Mono), 0, 1);
    grid->addWidget(
        new widgets::ElidedLabel(settingText(change.before) + " → " + settingText(change.after),
                                 TextStyle::MonoSmall, Role::Muted),
        1, 1);
    grid->addWidget(new widgets::TextLabel(look.text, TextStyle::Caption, Role::Muted), 2, 1);
    rows_->addWidget(row);
}

} // namespace weft::ui
