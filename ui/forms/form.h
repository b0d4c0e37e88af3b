// SPDX-License-Identifier: GPL-3.0-or-later
// The whole form of one place of the draft, with a scroll bar of its own, and the way to a field.
#pragma once

#include "ui/forms/table_form.h"

namespace weft::ui {

/// A form for any pointer of the table: its fields, or its editor where it has none. Follows the
/// draft. "" is the whole configuration.
class Form : public QWidget {
    Q_OBJECT
public:
    Form(FormSource& source, const std::string& pointer, QWidget* parent = nullptr);

    const std::string& pointer() const { return pointer_; }

private:
    void refresh();

    FormSource& source_;
    std::string pointer_;
    TableForm* table_ = nullptr;
    FieldBox* box_ = nullptr;
    ProblemLines* lines_ = nullptr;
};

/// Opens what hides the field of this pointer below `root`, or the nearest around it, scrolls to it
/// and gives it the focus. False when nothing below `root` shows it.
bool showField(QWidget* root, const std::string& pointer);

} // namespace weft::ui
