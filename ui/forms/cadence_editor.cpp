// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/cadence_editor.h"

#include "ui/bridge/convert.h"
#include "ui/forms/number_input.h"
#include "widgets/controls/controls.h"
#include "widgets/look/style.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QSignalBlocker>

#include <algorithm>

namespace weft::ui {

using config::Json;

CadenceEditor::CadenceEditor(FormSource& source, const config::Field& field,
                             const std::string& pointer)
    : FieldEditor(source, field, pointer), place_(new QWidget) {
    QHBoxLayout* row = editorRow(this);
    editorRow(place_);
    row->addWidget(place_);
    QStringList names;
    for (const config::Field& unit : field.fields) {
        names.append(toQString(unit.name));
    }
    QWidget* units = nullptr;
    if (field.nullable) { // one box, as for choices
        names.append(noneText());
        units = combo_ = new QComboBox;
        combo_->addItems(names);
        leaveWheelToPage(combo_);
        connect(combo_, &QComboBox::activated, this, &CadenceEditor::chooseUnit);
    } else {
        units = segments_ = new widgets::SegmentedControl(names);
        markAsData(*segments_);
        connect(segments_, &widgets::SegmentedControl::currentIndexChanged, this,
                &CadenceEditor::chooseUnit);
    }
    units->setObjectName("unit:" + toQString(pointer));
    units->setAccessibleName(tr("Unit of %1").arg(toQString(field.name)));
    row->addWidget(units, 0, Qt::AlignLeft);
    buildInput(0);
}

void CadenceEditor::buildInput(std::size_t unit) {
    delete input_;
    unit_ = unit;
    input_ = new NumberInput(field().fields[unit]);
    nameControl(input_, *this);
    setFocusProxy(input_);
    place_->layout()->addWidget(input_);
    connect(input_, &NumberInput::edited, this, [this](const Json& now, bool cleared) {
        commitTyped({{field().fields[unit_].name, cleared ? Json("") : now}});
    });
    connect(input_, &NumberInput::settled, this, [this] { settle(); });
}

void CadenceEditor::chooseUnit(int index) {
    const auto unit = static_cast<std::size_t>(index);
    if (unit >= field().fields.size()) {
        commit(nullptr);
        return;
    }
    // The amount stays what it was, as far as the other unit can say it.
    const config::Field& wanted = field().fields[unit];
    Json amount = input_->number();
    if (!amount.is_number()) {
        amount = 1;
    }
    const double size = amount.get<double>();
    if (wanted.type == config::FieldType::integer && !amount.is_number_integer()) {
        amount = static_cast<std::int64_t>(std::max(1.0, size));
    }
    commit({{wanted.name, amount}});
}

void CadenceEditor::refresh() {
    const Json now = value();
    std::size_t unit = unit_;
    Json amount;
    for (std::size_t i = 0; i < field().fields.size() && now.is_object(); ++i) {
        const auto found = now.find(field().fields[i].name);
        if (found != now.end()) {
            unit = i;
            amount = *found;
        }
    }
    if (unit != unit_) {
        const bool focused = input_->hasFocus();
        buildInput(unit);
        if (focused) {
            input_->setFocus();
        }
    }
    place_->setVisible(!now.is_null());
    if (!(input_->isTyping() && input_->text().isEmpty())) {
        input_->setNumber(amount);
    }
    if (segments_ != nullptr) {
        const QSignalBlocker blocker(segments_);
        segments_->setCurrentIndex(static_cast<int>(unit));
    } else {
        const QSignalBlocker blocker(combo_);
        combo_->setCurrentIndex(now.is_null() ? combo_->count() - 1 : static_cast<int>(unit));
    }
}

QString CadenceEditor::complaint() const {
    return input_->problem();
}

void CadenceEditor::setInvalid(bool invalid) {
    widgets::setInvalid(input_, invalid);
}

} // namespace weft::ui
