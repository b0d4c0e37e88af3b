// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/form.h"

#include "core/base/check.h"
#include "widgets/look/theme.h"

#include <QScrollArea>
#include <QVBoxLayout>

namespace weft::ui {

Form::Form(FormSource& source, const std::string& pointer, QWidget* parent)
    : QWidget(parent), source_(source), pointer_(pointer) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kTight);
    if (pointer.empty()) {
        table_ = new TableForm(source, compile::run_config_table(), pointer);
        column->addWidget(table_);
    } else {
        const config::Field* field = source.field(pointer);
        WEFT_CHECK(field != nullptr, "forms are made for fields that are there");
        box_ = new FieldBox(source, *field, pointer);
        lines_ = new ProblemLines;
        column->addWidget(box_);
        column->addWidget(lines_);
        connect(box_->editor(), &FieldEditor::typing, lines_, &ProblemLines::hold);
        connect(box_->editor(), &FieldEditor::settled, lines_, &ProblemLines::release);
        setFocusProxy(box_);
    }
    connect(&source_, &FormSource::changed, this, &Form::refresh);
    refresh();
}

void Form::refresh() {
    if (table_ != nullptr) {
        table_->refresh();
        return;
    }
    box_->refresh();
    lines_->setLines(box_->problems());
}

bool showField(QWidget* root, const std::string& pointer) {
    FieldEditor* best = nullptr;
    const QList<FieldEditor*> editors = root->findChildren<FieldEditor*>();
    for (FieldEditor* editor : editors) {
        const std::string& own = editor->pointer();
        const bool around = pointer == own || pointer.starts_with(own + "/");
        if (around && (best == nullptr || own.size() > best->pointer().size())) {
            best = editor;
        }
    }
    for (FieldEditor* editor : editors) {
        if (best == nullptr && editor->isVisibleTo(root) &&
            editor->pointer().starts_with(pointer + "/")) {
            best = editor; // the first field of what has no editor of its own
        }
    }
    if (best == nullptr) {
        return false;
    }
    for (QWidget* at = best; at != root; at = at->parentWidget()) {
        auto* table = qobject_cast<TableForm*>(at->parentWidget());
        const bool hidden = !best->isVisibleTo(root);
        if (table != nullptr && hidden) {
            table->setExpert(true);
        }
    }
    for (QWidget* at = best->parentWidget(); at != nullptr; at = at->parentWidget()) {
        if (auto* scroll = qobject_cast<QScrollArea*>(at)) {
            scroll->ensureWidgetVisible(best);
        }
    }
    best->setFocus(Qt::ShortcutFocusReason);
    return true;
}

} // namespace weft::ui
