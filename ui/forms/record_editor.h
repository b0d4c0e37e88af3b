// SPDX-License-Identifier: GPL-3.0-or-later
// Editors with fields inside: an object, and a record, whose type is chosen first.
#pragma once

#include "ui/forms/field_editor.h"

class QBoxLayout;
class QComboBox;
class QVBoxLayout;

namespace weft::widgets {
class TextLabel;
class ToggleSwitch;
} // namespace weft::widgets

namespace weft::ui {

class TableForm;

class ObjectEditor : public FieldEditor {
    Q_OBJECT
public:
    ObjectEditor(FormSource& source, const config::Field& field, const std::string& pointer);
    void refresh() override;

private:
    widgets::ToggleSwitch* given_ = nullptr; // where it may be null
    TableForm* form_;
};

/// Changing the type keeps the settings that both types have.
class RecordEditor : public FieldEditor {
    Q_OBJECT
public:
    /// `skip` and `guests` as a TableForm has them.
    RecordEditor(FormSource& source, const config::Field& field, const std::string& pointer,
                 std::vector<std::string> skip = {}, std::vector<std::string> guests = {});
    void refresh() override;
    void setInvalid(bool invalid) override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QString typeNow() const;
    void choose(int index);

    std::vector<std::string> skip_;
    std::vector<std::string> guests_;
    QComboBox* types_;
    widgets::TextLabel* help_;
    QBoxLayout* head_; // the choice and what it means
    QVBoxLayout* column_;
    TableForm* form_ = nullptr; // of `shown_`
    QString shown_;
};

/// `value` as a record of another type: settings that the type does not have are left out.
config::Json withType(const config::Json& value, const config::RecordType& type);

} // namespace weft::ui
