// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/shortcut_editor.h"

#include "ui/actions.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/theme.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QKeySequenceEdit>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kLeastRows = 8;
enum ShortcutEditorColumn { NameColumn, KeysColumn };

QString shownKeys(const QKeySequence& keys) {
    return keys.toString(QKeySequence::NativeText);
}

/// What was pressed; empty for Shift, Ctrl, Alt and Meta alone. Shift belongs to a sign that is
/// only there with it.
QKeySequence combinationOf(const QKeyEvent& event) {
    const int key = event.key();
    if (key == Qt::Key_unknown || (key >= Qt::Key_Shift && key <= Qt::Key_Alt) ||
        key == Qt::Key_AltGr || key == 0) {
        return {};
    }
    const QString text = event.text();
    const bool sign =
        !text.isEmpty() && text[0].isPrint() && !text[0].isLetterOrNumber() && !text[0].isSpace();
    Qt::KeyboardModifiers held =
        event.modifiers() & ~(Qt::KeypadModifier | Qt::GroupSwitchModifier);
    if (sign) {
        held &= ~Qt::ShiftModifier;
    }
    return QKeySequence(QKeyCombination(held, static_cast<Qt::Key>(key)));
}

} // namespace

ShortcutEditor::ShortcutEditor(const Actions& actions, QWidget* parent)
    : QWidget(parent), actions_(actions), list_(new QTreeWidget), keys_(new QKeySequenceEdit),
      assign_(new QPushButton(tr("Assign"))), clear_(new QPushButton(tr("Remove"))),
      reset_(new QPushButton(tr("Default"))),
      note_(new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    list_->setObjectName("shortcutList");
    list_->setAccessibleName(tr("Actions and their keys"));
    list_->setHeaderLabels({tr("Action"), tr("Keys")});
    list_->setRootIsDecorated(false);
    list_->setUniformRowHeights(true);
    list_->header()->setStretchLastSection(false);
    list_->header()->setSectionResizeMode(NameColumn, QHeaderView::Stretch);
    list_->header()->setSectionResizeMode(KeysColumn, QHeaderView::ResizeToContents);
    list_->setMinimumHeight(kLeastRows * widgets::size::kRowHeight);
    column->addWidget(list_, 1);

    auto* row = new QHBoxLayout;
    row->setSpacing(widgets::space::kControl);
    keys_->setObjectName("shortcutKeys");
    keys_->setAccessibleName(tr("New keys for the chosen action"));
    keys_->installEventFilter(this);
    row->addWidget(keys_, 1);
    assign_->setObjectName("shortcutAssign");
    clear_->setObjectName("shortcutRemove");
    reset_->setObjectName("shortcutDefault");
    for (QPushButton* button : {assign_, clear_, reset_}) {
        button->setAutoDefault(false);
        row->addWidget(button);
    }
    column->addLayout(row);
    note_->setObjectName("shortcutNote");
    note_->setWordWrap(true);
    column->addWidget(note_);

    for (const QAction* action : actions_.all()) {
        auto* item = new QTreeWidgetItem(list_, {action->iconText(), {}});
        item->setData(NameColumn, Qt::UserRole, action->objectName());
        item->setToolTip(NameColumn, action->statusTip());
    }
    refresh();
    list_->setCurrentItem(list_->topLevelItem(0));
    connect(list_, &QTreeWidget::currentItemChanged, this, [this] {
        keys_->clear();
        explain();
    });
    connect(keys_, &QKeySequenceEdit::keySequenceChanged, this, &ShortcutEditor::explain);
    connect(assign_, &QPushButton::clicked, this, [this] { assign(keys_->keySequence()); });
    connect(clear_, &QPushButton::clicked, this, [this] { assign({}); });
    connect(reset_, &QPushButton::clicked, this, [this] {
        if (const QTreeWidgetItem* item = chosen()) {
            assign(actions_.defaultKeys(item->data(NameColumn, Qt::UserRole).toString()));
        }
    });
    explain();
}

void ShortcutEditor::refresh() {
    for (int i = 0; i < list_->topLevelItemCount(); ++i) {
        QTreeWidgetItem* item = list_->topLevelItem(i);
        const QString id = item->data(NameColumn, Qt::UserRole).toString();
        const QKeySequence keys = actions_.find(id)->shortcut();
        item->setText(NameColumn, actions_.find(id)->iconText());
        item->setText(KeysColumn, shownKeys(keys));
        QFont font = widgets::Theme::current().font(widgets::TextStyle::Body);
        font.setWeight(keys == actions_.defaultKeys(id) ? QFont::Normal : QFont::DemiBold);
        item->setFont(KeysColumn, font);
    }
    explain();
}

int ShortcutEditor::filter(const QString& text) {
    int shown_rows = 0;
    for (int i = 0; i < list_->topLevelItemCount(); ++i) {
        QTreeWidgetItem* item = list_->topLevelItem(i);
        const bool fits = item->text(NameColumn).contains(text, Qt::CaseInsensitive) ||
                          item->text(KeysColumn).contains(text, Qt::CaseInsensitive) ||
                          item->data(NameColumn, Qt::UserRole).toString().contains(text);
        item->setHidden(!fits);
        shown_rows += fits ? 1 : 0;
    }
    return shown_rows;
}

QTreeWidgetItem* ShortcutEditor::chosen() const {
    return list_->currentItem();
}

const QAction* ShortcutEditor::holder(const QKeySequence& keys) const {
    const QTreeWidgetItem* item = chosen();
    for (const QAction* action : actions_.all()) {
        const bool is_other =
            item != nullptr &&
            action->objectName() != item->data(NameColumn, Qt::UserRole).toString();
        if (is_other && !keys.isEmpty() && action->shortcut() == keys) {
            return action;
        }
    }
    return nullptr;
}

void ShortcutEditor::explain() {
    const QTreeWidgetItem* item = chosen();
    const QKeySequence keys = keys_->keySequence();
    const QString id =
        item == nullptr ? QString() : item->data(NameColumn, Qt::UserRole).toString();
    assign_->setEnabled(item != nullptr && !keys.isEmpty());
    clear_->setEnabled(item != nullptr && !item->text(KeysColumn).isEmpty());
    reset_->setEnabled(item != nullptr &&
                       actions_.find(id)->shortcut() != actions_.defaultKeys(id));
    const QAction* other = holder(keys);
    if (other != nullptr) {
        note_->setRole(widgets::Role::Warning);
        note_->setText(tr("%1 belongs to \"%2\": assigning takes it away from there.")
                           .arg(shownKeys(keys), other->text()));
    } else {
        note_->setRole(widgets::Role::Muted);
        note_->setText(item == nullptr
                           ? tr("Choose an action, then press the keys it shall have.")
                           : tr("Press new keys for \"%1\". Keys in bold are not the default.")
                                 .arg(item->text(NameColumn)));
    }
}

void ShortcutEditor::assign(const QKeySequence& keys) {
    const QTreeWidgetItem* item = chosen();
    if (item == nullptr) {
        return;
    }
    QMap<QString, QKeySequence> wanted;
    for (const QAction* action : actions_.all()) {
        wanted.insert(action->objectName(), action->shortcut());
    }
    if (const QAction* other = holder(keys)) {
        wanted[other->objectName()] = {};
    }
    wanted[item->data(NameColumn, Qt::UserRole).toString()] = keys;
    QMap<QString, QString> different;
    for (auto entry = wanted.begin(); entry != wanted.end(); ++entry) {
        if (entry.value() != actions_.defaultKeys(entry.key())) {
            different.insert(entry.key(), entry.value().toString(QKeySequence::PortableText));
        }
    }
    list_->setFocus(); // the button that was pressed may have nothing more to do
    keys_->clear();
    emit edited(different);
}

bool ShortcutEditor::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress) {
        return QWidget::eventFilter(watched, event);
    }
    const auto& pressed = static_cast<const QKeyEvent&>(*event);
    if (pressed.key() == Qt::Key_Tab || pressed.key() == Qt::Key_Backtab) {
        return QWidget::eventFilter(watched, event);
    }
    if (pressed.key() == Qt::Key_Escape && pressed.modifiers() == Qt::NoModifier) {
        keys_->clear();
        list_->setFocus();
    } else if (const QKeySequence keys = combinationOf(pressed); !keys.isEmpty()) {
        keys_->setKeySequence(keys);
    }
    return true;
}

void ShortcutEditor::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        refresh();
    }
}

} // namespace weft::ui
