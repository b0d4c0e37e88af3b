// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/help_dialog.h"

#include "ui/actions.h"
#include "ui/bridge/convert.h"
#include "ui/forms/field_box.h"
#include "ui/shell/page_help.h"
#include "ui/shell/reference_panel.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr QSize kHelpDialogSize{720, 620}; // at text size 1
constexpr double kHelpWindowShare = 0.9;   // at most

enum HelpTab { PageHelpTab, ReferenceTab };

QString shownKey(const QKeySequence& keys) {
    return keys.toString(QKeySequence::NativeText);
}

TextLabel* addText(QVBoxLayout& column, const QString& text, TextStyle style = TextStyle::Body,
                   Role role = Role::Text) {
    auto* label = new TextLabel(text, style, role);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column.addWidget(label);
    return label;
}

void addHeading(QVBoxLayout& column, const QString& text) {
    column.addSpacing(widgets::space::kControl);
    addText(column, text, TextStyle::Strong);
}

struct KeyLine {
    QString keys;
    QString what;
};

/// `widest`: of the keys of all lists, whose words stand below each other.
void addLines(QVBoxLayout& column, const std::vector<KeyLine>& lines, double widest) {
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(widgets::space::kMargin);
    grid->setVerticalSpacing(widgets::space::kTight);
    grid->setColumnStretch(1, 1);
    grid->setColumnMinimumWidth(0, static_cast<int>(std::ceil(widest)));
    int row = 0;
    for (const KeyLine& line : lines) {
        grid->addWidget(new TextLabel(line.keys, TextStyle::MonoSmall, Role::Muted), row, 0);
        auto* what = new TextLabel(line.what);
        what->setWordWrap(true);
        grid->addWidget(what, row++, 1);
    }
    column.addLayout(grid);
}

/// The field that a control belongs to; null: none.
const FieldBox* helpField(const QWidget* control) {
    for (const QWidget* at = control; at != nullptr; at = at->parentWidget()) {
        if (const auto* box = qobject_cast<const FieldBox*>(at)) {
            return box;
        }
    }
    return nullptr;
}

} // namespace

HelpDialog::HelpDialog(const Actions& actions, QWidget* window)
    : QDialog(window), actions_(actions),
      tab_(new widgets::SegmentedControl({tr("This page"), tr("Reference")})),
      stack_(new QStackedWidget), scroll_(widgets::verticalScroll(new QWidget)) {
    setObjectName("helpDialog");
    const QSize size = kHelpDialogSize * widgets::Theme::current().fontScale();
    resize(size.boundedTo(window->size() * kHelpWindowShare));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(widgets::space::kMargin, widgets::space::kMargin,
                               widgets::space::kMargin, widgets::space::kMargin);
    column->setSpacing(widgets::space::kGroup);
    scroll_->setFocusPolicy(Qt::StrongFocus); // its text is read by the keyboard too
    scroll_->setAccessibleName(tr("Help"));
    tab_->setObjectName("helpTab");
    tab_->setAccessibleName(tr("Help on"));
    column->addWidget(tab_, 0, Qt::AlignLeft);
    stack_->addWidget(scroll_);
    column->addWidget(stack_, 1);
    connect(tab_, &widgets::SegmentedControl::currentIndexChanged, this, &HelpDialog::showTab);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    change_keys_ = buttons->addButton(tr("Change keys…"), QDialogButtonBox::ActionRole);
    change_keys_->setObjectName("helpChangeKeys");
    connect(change_keys_, &QPushButton::clicked, actions_.get(action::kShortcuts),
            &QAction::trigger);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
}

void HelpDialog::explain(const QString& page, const QString& title, const QWidget* control) {
    setWindowTitle(tr("Help: %1").arg(title));
    const FieldBox* box = helpField(control);
    setting_ = box == nullptr ? QString() : toQString(box->pointer());
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, widgets::space::kGroup, 0);
    column->setSpacing(widgets::space::kControl);
    addText(*column, title, TextStyle::Heading);
    addText(*column, pageHelp(page).purpose)->setObjectName("helpPurpose");
    addControl(*column, control);
    addKeys(*column, page);
    column->addStretch();
    scroll_->setWidget(content);
    content->setAutoFillBackground(false);
    scroll_->verticalScrollBar()->setValue(0);
    showTab(tab_->currentIndex());
}

void HelpDialog::showTab(int tab) {
    if (tab == ReferenceTab && reference_ == nullptr) {
        reference_ = new ReferencePanel;
        stack_->addWidget(reference_);
    }
    stack_->setCurrentIndex(tab);
    change_keys_->setVisible(tab == PageHelpTab); // the reference says nothing of keys
    if (tab == ReferenceTab && !setting_.isEmpty()) {
        reference_->lookUp(std::exchange(setting_, {}));
    }
}

void HelpDialog::addControl(QVBoxLayout& column, const QWidget* control) const {
    QString name;
    QString help;
    if (const FieldBox* box = helpField(control)) {
        const QString unit = toQString(box->field().unit);
        name = toQString(box->field().name);
        name = unit.isEmpty() ? name : tr("%1, in %2").arg(name, unit);
        help = box->toolTip();
    } else if (control != nullptr) {
        name = control->accessibleName();
        help = control->accessibleDescription().isEmpty() ? control->toolTip()
                                                          : control->accessibleDescription();
    }
    if (name.isEmpty() || help.isEmpty() || help == name) {
        return;
    }
    addHeading(column, tr("In focus: %1").arg(name));
    addText(column, help)->setObjectName("helpControl");
}

void HelpDialog::addKeys(QVBoxLayout& column, const QString& page) const {
    std::vector<KeyLine> here;
    for (const PageKeys& one : pageHelp(page).keys) {
        QStringList keys;
        for (const QKeySequence& key : one.keys) {
            keys << shownKey(key);
        }
        here.push_back({keys.join("  "), one.what});
    }
    std::vector<KeyLine> everywhere;
    for (const QAction* entry : actions_.all()) {
        if (!entry->shortcut().isEmpty()) {
            everywhere.push_back({shownKey(entry->shortcut()), entry->iconText()});
        }
    }
    double widest = 0;
    const QFont mono = widgets::Theme::current().font(TextStyle::MonoSmall);
    for (const std::vector<KeyLine>* lines : {&here, &everywhere}) {
        for (const KeyLine& line : *lines) {
            widest = std::max(widest, widgets::textWidth(mono, line.keys));
        }
    }
    if (!here.empty()) {
        addHeading(column, tr("Keys on this page"));
        addLines(column, here, widest);
    }
    addHeading(column, tr("Keys everywhere"));
    addLines(column, everywhere, widest);
}

} // namespace weft::ui
