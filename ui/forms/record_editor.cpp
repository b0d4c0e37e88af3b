// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/record_editor.h"

#include "ui/bridge/convert.h"
#include "ui/forms/number_input.h"
#include "ui/forms/table_form.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using config::Json;

constexpr int kHelpWidth = 160; // at text size 1

QVBoxLayout* columnOf(QWidget* widget) {
    auto* column = new QVBoxLayout(widget);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    return column;
}

} // namespace

ObjectEditor::ObjectEditor(FormSource& source, const config::Field& field,
                           const std::string& pointer)
    : FieldEditor(source, field, pointer), form_(new TableForm(source, field.fields, pointer)) {
    QVBoxLayout* column = columnOf(this);
    if (field.nullable) {
        given_ = new widgets::ToggleSwitch(tr("set"));
        given_->setObjectName("field:" + toQString(pointer));
        given_->setAccessibleName(toQString(field.name));
        connect(given_, &QAbstractButton::clicked, this,
                [this](bool on) { commit(on ? Json::object() : Json()); });
        column->addWidget(given_);
    }
    column->addWidget(form_);
    setFocusProxy(given_ != nullptr ? static_cast<QWidget*>(given_) : form_);
}

void ObjectEditor::refresh() {
    const bool is_null = field().nullable && value().is_null();
    if (given_ != nullptr) {
        const QSignalBlocker blocker(given_);
        given_->setChecked(!is_null);
    }
    form_->setVisible(!is_null);
    form_->refresh();
}

RecordEditor::RecordEditor(FormSource& source, const config::Field& field,
                           const std::string& pointer, std::vector<std::string> skip,
                           std::vector<std::string> guests)
    : FieldEditor(source, field, pointer), skip_(std::move(skip)), guests_(std::move(guests)),
      types_(new QComboBox),
      help_(new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted)),
      column_(columnOf(this)) {
    for (const config::RecordType& type : field.records) {
        types_->addItem(toQString(type.name));
        types_->setItemData(types_->count() - 1, toQString(type.help), Qt::ToolTipRole);
    }
    if (field.nullable) {
        types_->addItem(nullText(field));
        types_->setItemData(types_->count() - 1, nullMeaning(field), Qt::ToolTipRole);
    }
    types_->setPlaceholderText(tr("choose"));
    types_->setObjectName("field:" + toQString(pointer));
    types_->setAccessibleName(tr("Type of %1").arg(toQString(field.name)));
    leaveWheelToPage(types_);
    connect(types_, &QComboBox::activated, this, &RecordEditor::choose);
    head_ = new QBoxLayout(QBoxLayout::LeftToRight);
    head_->addWidget(types_, 0, Qt::AlignLeft);
    help_->setObjectName("recordHelp");
    help_->setWordWrap(true);
    head_->addWidget(help_, 1);
    column_->addLayout(head_);
    setFocusProxy(types_);
}

// Beside the choice a sentence needs some room; in less it stands below.
void RecordEditor::resizeEvent(QResizeEvent* event) {
    FieldEditor::resizeEvent(event);
    const double least = kHelpWidth * widgets::Theme::current().fontScale();
    const bool below = width() - types_->sizeHint().width() < least;
    head_->setDirection(below ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    head_->setSpacing(below ? widgets::space::kTight : widgets::space::kGroup);
}

QString RecordEditor::typeNow() const {
    const Json now = value();
    const Json* holder = now.is_object() && now.contains("type") ? &now : &field().default_value;
    if (now.is_null() || !holder->is_object() || !holder->contains("type") ||
        !holder->at("type").is_string()) {
        return {};
    }
    return toQString(holder->at("type").get_ref<const std::string&>());
}

void RecordEditor::choose(int index) {
    if (index < static_cast<int>(field().records.size())) {
        const Json* now = source().given(pointer());
        commit(withType(now == nullptr ? Json::object() : *now,
                        field().records[static_cast<std::size_t>(index)]));
    } else if (types_->itemText(index) == nullText(field())) {
        commit(nullptr);
    }
}

void RecordEditor::refresh() {
    const QString type = typeNow();
    const auto found =
        std::find_if(field().records.begin(), field().records.end(),
                     [&](const config::RecordType& one) { return toQString(one.name) == type; });
    const bool known = found != field().records.end();
    {
        const QSignalBlocker blocker(types_);
        const int usual = static_cast<int>(field().records.size()) + (field().nullable ? 1 : 0);
        while (types_->count() > usual) {
            types_->removeItem(types_->count() - 1);
        }
        if (!known && !type.isEmpty()) {
            types_->addItem(type); // what the document says, right or wrong
        }
        types_->setCurrentIndex(!type.isEmpty()    ? types_->findText(type)
                                : field().nullable ? usual - 1
                                                   : -1);
    }
    const QString help = known                                ? toQString(found->help)
                         : type.isEmpty() && field().nullable ? nullMeaning(field())
                                                              : QString();
    help_->setText(help);
    help_->setVisible(!help.isEmpty());
    if (type != shown_ || (form_ == nullptr && known)) {
        if (form_ != nullptr) {
            form_->hide();
            form_->deleteLater(); // one of its own buttons may have asked for this
            form_ = nullptr;
        }
        shown_ = type;
        if (known) {
            form_ = new TableForm(source(), found->fields, pointer(), skip_, guests_);
            column_->addWidget(form_);
        }
    } else if (form_ != nullptr) {
        form_->refresh();
    }
}

void RecordEditor::setInvalid(bool invalid) {
    widgets::setInvalid(types_, invalid);
}

Json withType(const Json& value, const config::RecordType& type) {
    Json out = {{"type", type.name}};
    for (const config::Field& field : type.fields) {
        if (value.is_object() && value.contains(field.name)) {
            out[field.name] = value.at(field.name);
        }
    }
    return out;
}

} // namespace weft::ui
