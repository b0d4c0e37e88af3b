// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/field_box.h"

#include "core/config/pointer.h"
#include "ui/bridge/convert.h"
#include "ui/forms/number_input.h"
#include "ui/forms/number_text.h"
#include "widgets/controls/card.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr int kResetSize = 16;

QString defaultText(const config::Field& field) {
    const config::Json& value = field.default_value;
    const bool none = (value.is_structured() && value.empty()) || value == "";
    return value.is_null() ? nullText(field) : none ? noneText() : settingText(value);
}

/// Help, range and default: what hovers over a field.
QString helpOf(const config::Field& field) {
    QStringList lines = {helpText(field)};
    const QString range = toQString(config::describe_range(field));
    if (!range.isEmpty()) {
        lines.append(
            FieldBox::tr("Range: %1").arg((range + " " + toQString(field.unit)).trimmed()));
    }
    if (field.required) {
        lines.append(FieldBox::tr("Must be given"));
    } else {
        lines.append(FieldBox::tr("Default: %1").arg(defaultText(field)));
    }
    return lines.join('\n');
}

} // namespace

ProblemLine problemLine(const config::Diagnostic& diagnostic) {
    const std::vector<std::string> parts = pointerParts(diagnostic.pointer);
    QString name;
    if (!parts.empty()) {
        const bool item = parts.size() > 1 && !parts.back().empty() &&
                          parts.back().find_first_not_of("0123456789") == std::string::npos;
        name = (item ? toQString(parts[parts.size() - 2]) + "." : QString()) +
               toQString(parts.back()) + ": ";
    }
    const QString hint = diagnostic.hint.empty() ? QString() : ". " + toQString(diagnostic.hint);
    return {diagnostic.severity == config::Severity::error,
            name + toQString(diagnostic.message) + hint, QString()};
}

FieldBox::FieldBox(FormSource& source, const config::Field& field, const std::string& pointer)
    : FieldBox(createEditor(source, field, pointer)) {}

FieldBox::FieldBox(FieldEditor* editor) : source_(editor->source()), editor_(editor) {
    const config::Field& field = editor->field();
    setObjectName("box:" + toQString(editor->pointer()));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(createHead(), 0, Qt::AlignLeft);
    if (isSmall(field)) {
        column->addWidget(editor_);
    } else {
        auto* body = new QHBoxLayout;
        body->setContentsMargins(0, widgets::space::kTight, 0, 0);
        body->setSpacing(widgets::space::kGroup);
        body->addWidget(new widgets::Hairline(Qt::Vertical));
        body->addWidget(editor_, 1);
        column->addLayout(body);
    }
    setToolTip(helpOf(field));
    setFocusProxy(editor_);
}

QWidget* FieldBox::createHead() {
    auto* head = new QWidget;
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kTight);
    name_ = new widgets::TextLabel(toQString(field().name), TextStyle::Caption, Role::Muted);
    row->addWidget(name_);
    if (!field().unit.empty() && field().name.find(field().unit) == std::string::npos) {
        unit_ = new widgets::TextLabel(toQString(field().unit), TextStyle::Caption, Role::Muted);
        row->addWidget(unit_);
    }
    reset_ = new QPushButton(widgets::icon("undo", Role::Muted), {});
    reset_->setObjectName("reset:" + toQString(pointer()));
    reset_->setAccessibleName(tr("Default of %1").arg(toQString(field().name)));
    reset_->setToolTip(tr("Back to the default: %1").arg(defaultText(field())));
    reset_->setFixedSize(kResetSize, kResetSize);
    reset_->setIconSize({12, 12});
    widgets::setButtonKind(reset_, widgets::ButtonKind::Flat);
    QSizePolicy keep = reset_->sizePolicy();
    keep.setRetainSizeWhenHidden(true); // nothing beside it moves
    reset_->setSizePolicy(keep);
    reset_->hide();
    connect(reset_, &QPushButton::clicked, this, [this] { source_.reset(pointer()); });
    row->addWidget(reset_);
    return head;
}

void FieldBox::setName(const QString& name) {
    name_->setText(name);
}

void FieldBox::hideUnit() {
    delete std::exchange(unit_, nullptr);
}

void FieldBox::setRemark(const QString& remark) {
    if (remark_ == nullptr) {
        remark_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
        layout()->addWidget(remark_);
    }
    remark_->setText(remark);
}

void FieldBox::refresh() {
    editor_->refresh();
    const bool changed = source_.isChanged(pointer(), field());
    reset_->setVisible(changed);
    name_->setRole(changed ? Role::Text : Role::Muted);
    const std::vector<ProblemLine> wrong = problems();
    editor_->setInvalid(std::any_of(wrong.begin(), wrong.end(),
                                    [](const ProblemLine& line) { return line.error; }));
    setEnabled(source_.isEditable());
}

std::vector<ProblemLine> FieldBox::problems() const {
    std::vector<ProblemLine> out;
    for (const config::Diagnostic& one : source_.problems(pointer(), isSmall(field()))) {
        out.push_back(problemLine(one));
    }
    const QString complaint = editor_->complaint();
    if (!complaint.isEmpty()) {
        out.insert(out.begin(), {true, toQString(field().name) + ": " + complaint, QString()});
    }
    return out;
}

bool FieldBox::isGiven() const {
    return source_.given(pointer()) != nullptr;
}

} // namespace weft::ui
