// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/record_form.h"

#include "core/base/check.h"
#include "ui/forms/field_box.h"
#include "ui/forms/problem_lines.h"
#include "widgets/look/theme.h"

#include <QVBoxLayout>

namespace weft::ui {
namespace {

const config::Field& fieldOf(const FormSource& source, const std::string& pointer) {
    const config::Field* field = source.field(pointer);
    WEFT_CHECK(field != nullptr && field->type == config::FieldType::record,
               "forms are made for fields that are there");
    return *field;
}

} // namespace

RecordForm::RecordForm(FormSource& source, const std::string& pointer,
                       std::vector<std::string> skip, std::vector<std::string> guests,
                       QWidget* parent)
    : QWidget(parent), source_(source),
      editor_(new RecordEditor(source, fieldOf(source, pointer), pointer, std::move(skip),
                               std::move(guests))),
      lines_(new ProblemLines) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kTight);
    column->addWidget(editor_);
    column->addWidget(lines_);
    connect(&source_, &FormSource::changed, this, &RecordForm::refresh);
    refresh();
}

void RecordForm::refresh() {
    editor_->refresh();
    std::vector<ProblemLine> wrong;
    for (const std::string& at : {editor_->pointer(), editor_->pointer() + "/type"}) {
        for (const config::Diagnostic& one : source_.problems(at)) {
            wrong.push_back(problemLine(one));
        }
    }
    lines_->setLines(wrong);
    editor_->setInvalid(!wrong.empty());
}

} // namespace weft::ui
