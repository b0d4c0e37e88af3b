// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/field_group.h"

#include "core/base/check.h"
#include "ui/forms/number_input.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/look/theme.h"

#include <QEvent>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {

FieldGroup::FieldGroup(FormSource& source, QWidget* parent)
    : QWidget(parent), source_(source), line_(new QWidget), flow_(new widgets::FlowLayout(line_)),
      problems_(new ProblemLines) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kTight);
    flow_->setContentsMargins(0, 0, 0, 0);
    flow_->setSpacing(widgets::space::kGroup);
    flow_->setLineSpacing(widgets::space::kControl);
    flow_->setItemAlignment(Qt::AlignTop);
    updateColumns();
    column->addWidget(line_);
    column->addWidget(problems_);
}

FieldGroup::FieldGroup(FormSource& source, const std::vector<std::string>& pointers,
                       const EditorFactory& make)
    : FieldGroup(source) {
    for (const std::string& pointer : pointers) {
        const config::Field* field = source.field(pointer);
        WEFT_CHECK(field != nullptr, "the table has the fields that pages name");
        add(new FieldBox(make(source, *field, pointer)));
    }
    connect(&source_, &FormSource::changed, this, &FieldGroup::refresh);
    refresh();
}

void FieldGroup::setSpread() {
    spread_ = true;
    updateColumns();
}

// Two with the gap between them are as wide as the box of a number, of which most groups have some.
void FieldGroup::updateColumns() {
    flow_->setColumnWidth(spread_ ? 0 : (NumberInput::usualWidth() - flow_->spacing()) / 2);
}

void FieldGroup::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        updateColumns(); // the size of the text may be another
    }
}

FieldBox* FieldGroup::add(const config::Field& field, const std::string& pointer) {
    return add(new FieldBox(source_, field, pointer));
}

FieldBox* FieldGroup::add(FieldBox* box) {
    connect(box->editor(), &FieldEditor::typing, problems_, &ProblemLines::hold);
    connect(box->editor(), &FieldEditor::settled, problems_, &ProblemLines::release);
    boxes_.push_back(box);
    if (spread_) {
        box->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    }
    flow_->addWidget(box);
    return box;
}

void FieldGroup::add(QWidget* widget) {
    flow_->addWidget(widget);
}

FieldBox* FieldGroup::box(const std::string& pointer) const {
    const auto found = std::find_if(boxes_.begin(), boxes_.end(),
                                    [&](const FieldBox* box) { return box->pointer() == pointer; });
    return found == boxes_.end() ? nullptr : *found;
}

void FieldGroup::refresh() {
    std::vector<ProblemLine> lines;
    for (FieldBox* box : boxes_) {
        box->refresh();
        const std::vector<ProblemLine> own = box->problems();
        lines.insert(lines.end(), own.begin(), own.end());
    }
    problems_->setLines(lines);
}

} // namespace weft::ui
