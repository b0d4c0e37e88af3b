// SPDX-License-Identifier: GPL-3.0-or-later
// Editor of an object of which exactly one field is given: a number and its unit.
#pragma once

#include "ui/forms/field_editor.h"

class QComboBox;

namespace weft::widgets {
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class NumberInput;

/// A number and its unit: exactly one of the object's fields.
class CadenceEditor : public FieldEditor {
    Q_OBJECT
public:
    CadenceEditor(FormSource& source, const config::Field& field, const std::string& pointer);
    void refresh() override;
    QString complaint() const override;
    void setInvalid(bool invalid) override;

private:
    void chooseUnit(int index);
    void buildInput(std::size_t unit);

    NumberInput* input_ = nullptr;
    QWidget* place_;
    widgets::SegmentedControl* segments_ = nullptr;
    QComboBox* combo_ = nullptr; // where it may be none
    std::size_t unit_ = 0;       // of `input_`
};

} // namespace weft::ui
