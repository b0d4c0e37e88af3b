// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of one table, in its order: small ones side by side, the others below each other,
// those for experts behind a button. What the document has and the table does not is named, too.
#pragma once

#include "ui/forms/field_group.h"

class QPushButton;

namespace weft::ui {

class TableForm : public QWidget {
    Q_OBJECT
public:
    /// Without the fields named in `skip`, which are shown elsewhere; with those of the whole table
    /// at the pointers `guests` behind its own small ones.
    TableForm(FormSource& source, const config::FieldTable& table, std::string pointer,
              std::vector<std::string> skip = {}, const std::vector<std::string>& guests = {},
              QWidget* parent = nullptr);

    void refresh();
    /// Shows the fields for experts; those that the document gives are always seen.
    void setExpert(bool expert);
    bool isExpert() const { return expert_; }

private:
    void addField(const config::Field& field, const std::string& at, bool expert);
    std::vector<ProblemLine> unknownFields() const;

    struct Part {
        FieldGroup* group = nullptr; // or a single box with its own lines
        FieldBox* box = nullptr;
        ProblemLines* lines = nullptr;
        bool expert = false;
    };

    FormSource& source_;
    const config::FieldTable& table_;
    std::string pointer_;
    std::vector<Part> parts_;
    ProblemLines* unknown_;
    QPushButton* more_ = nullptr;
    bool expert_ = false;
};

} // namespace weft::ui
