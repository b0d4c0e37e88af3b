// SPDX-License-Identifier: GPL-3.0-or-later
// One field of a form: its name, what edits it, and the way back to its default. The words about
// what is wrong with it stand in the form around.
#pragma once

#include "ui/forms/field_editor.h"
#include "ui/forms/problem_lines.h"

class QPushButton;

namespace weft::widgets {
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class FieldBox : public QWidget {
    Q_OBJECT
public:
    FieldBox(FormSource& source, const config::Field& field, const std::string& pointer);
    /// With an editor that a page made itself.
    explicit FieldBox(FieldEditor* editor);

    const std::string& pointer() const { return editor_->pointer(); }
    const config::Field& field() const { return editor_->field(); }
    FieldEditor* editor() const { return editor_; }
    /// Another name than the field's own, e.g. "evaluate every".
    void setName(const QString& name);
    /// Where the page has said it.
    void hideUnit();
    /// A few words below the editor; empty: none.
    void setRemark(const QString& remark);
    void refresh();
    /// What is wrong with the field itself; of a small field, also with what is in it.
    std::vector<ProblemLine> problems() const;
    /// The document says something about this field.
    bool isGiven() const;

private:
    QWidget* createHead();

    FormSource& source_;
    FieldEditor* editor_;
    widgets::TextLabel* name_ = nullptr;
    widgets::TextLabel* unit_ = nullptr;
    QPushButton* reset_ = nullptr;
    widgets::TextLabel* remark_ = nullptr;
};

/// "batch must be ...": message and hint of a diagnostic as one line.
ProblemLine problemLine(const config::Diagnostic& diagnostic);

} // namespace weft::ui
