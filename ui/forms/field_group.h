// SPDX-License-Identifier: GPL-3.0-or-later
// Small fields side by side, onto further lines where there is no room, and below them what is
// wrong with them. For sections of pages and for tables.
#pragma once

#include "ui/forms/field_box.h"

namespace weft::widgets {
class FlowLayout;
} // namespace weft::widgets

namespace weft::ui {

class FieldGroup : public QWidget {
    Q_OBJECT
public:
    explicit FieldGroup(FormSource& source, QWidget* parent = nullptr);
    /// Fields of the whole table by pointer; follows the draft by itself.
    FieldGroup(FormSource& source, const std::vector<std::string>& pointers,
               const EditorFactory& make = createEditor);

    /// Lines whose fields share the whole width, instead of columns.
    void setSpread();
    FieldBox* add(const config::Field& field, const std::string& pointer);
    FieldBox* add(FieldBox* box);
    /// Something else on the lines.
    void add(QWidget* widget);
    FieldBox* box(const std::string& pointer) const;
    const std::vector<FieldBox*>& boxes() const { return boxes_; }
    void refresh();

protected:
    void changeEvent(QEvent* event) override;

private:
    void updateColumns();

    FormSource& source_;
    QWidget* line_;
    widgets::FlowLayout* flow_;
    ProblemLines* problems_;
    bool spread_ = false;
    std::vector<FieldBox*> boxes_;
};

} // namespace weft::ui
