// SPDX-License-Identifier: GPL-3.0-or-later
// What edits one field, by its type. An editor shows what counts (value or default) whenever it is
// told to, and makes every change at once in the source.
#pragma once

#include "ui/forms/form_source.h"

#include <QWidget>

#include <functional>

class QHBoxLayout;

namespace weft::widgets {
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class FieldEditor : public QWidget {
    Q_OBJECT
public:
    FieldEditor(FormSource& source, const config::Field& field, std::string pointer,
                QWidget* parent = nullptr);

    FormSource& source() const { return source_; }
    const config::Field& field() const { return field_; }
    const std::string& pointer() const { return pointer_; }
    /// Shows what the draft says now.
    virtual void refresh() = 0;
    /// What is wrong with the text that stands there, beyond what the engine says of it.
    virtual QString complaint() const { return {}; }
    /// Red border; the words stand elsewhere.
    virtual void setInvalid(bool) {}

signals:
    /// The user is typing: words about it may wait.
    void typing();
    void settled();

protected:
    config::Json value() const { return source_.value(pointer_, field_); }
    void commit(const config::Json& value) { source_.set(pointer_, value); }
    /// One of several changes that are one step of undo.
    void commitTyped(const config::Json& value);
    void settle();

private:
    FormSource& source_;
    const config::Field& field_;
    std::string pointer_;
};

/// Makes the editor of a field, not yet showing anything; never null.
using EditorFactory =
    std::function<FieldEditor*(FormSource&, const config::Field&, const std::string& pointer)>;
/// By the field's type.
FieldEditor* createEditor(FormSource& source, const config::Field& field,
                          const std::string& pointer);
/// One control without parts of its own: it stands beside others on a line.
bool isSmall(const config::Field& field);

/// A line without margins for the controls of an editor.
QHBoxLayout* editorRow(QWidget* editor);
/// Says of a control which field it stands for.
void nameControl(QWidget* control, const FieldEditor& editor);
/// What is written on the segments are names of the schema, which nobody translates.
void markAsData(const widgets::SegmentedControl& segments);
/// Undo and redo in a text field are the draft's: what is typed is in the draft already.
void leaveUndoToDraft(QWidget* edit);
/// The wheel scrolls the page unless the control has the focus.
void leaveWheelToPage(QWidget* control);

} // namespace weft::ui
