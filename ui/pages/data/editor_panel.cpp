// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/data/editor_panel.h"

#include "ui/forms/field_box.h"
#include "ui/forms/number_input.h"
#include "widgets/controls/card.h"

#include <QVBoxLayout>

#include <utility>

namespace weft::ui {

EditorPanel::EditorPanel(FormSource& source, config::Field field, const std::string& pointer,
                         const QString& title, QWidget* parent)
    : QWidget(parent), source_(source), field_(std::move(field)),
      editor_(createEditor(source, field_, pointer)), problems_(new ProblemLines) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    if (!title.isEmpty()) {
        auto* header = new widgets::SectionHeader(title);
        header->setToolTip(helpText(field_));
        column->addWidget(header);
    }
    auto* room = new QVBoxLayout;
    room->setContentsMargins(12, 8, 12, 12);
    room->setSpacing(widgets::space::kControl);
    room->addWidget(editor_);
    room->addWidget(problems_);
    column->addLayout(room);
    connect(editor_, &FieldEditor::typing, problems_, &ProblemLines::hold);
    connect(editor_, &FieldEditor::settled, problems_, &ProblemLines::release);
    connect(&source_, &FormSource::changed, this, &EditorPanel::refresh);
    setFocusProxy(editor_);
    refresh();
}

void EditorPanel::refresh() {
    editor_->refresh();
    setEnabled(source_.isEditable());
    std::vector<ProblemLine> lines;
    for (const config::Diagnostic& found : source_.problems(editor_->pointer())) {
        lines.push_back(problemLine(found));
    }
    problems_->setLines(lines);
}

} // namespace weft::ui
