// SPDX-License-Identifier: GPL-3.0-or-later
// A box for one number of a field: typed as people write numbers, stepped by arrow keys and
// buttons. The wheel steps only a box that has the focus. Undo keys are left to the draft.
#pragma once

#include "core/config/field.h"

#include <QAbstractSpinBox>

namespace weft::ui {

class NumberInput : public QAbstractSpinBox {
    Q_OBJECT
public:
    explicit NumberInput(const config::Field& field, QWidget* parent = nullptr);

    /// Shows a value; no signal is emitted, and what is being typed is not replaced by its equal.
    void setNumber(const config::Json& value);
    const config::Json& number() const { return value_; }
    /// Null shows the number that counts then, faint, and not a word; steps begin there.
    void setInherited(const config::Json& value);
    /// Something was typed, and neither Enter nor another place was chosen since.
    bool isTyping() const { return typing_; }
    /// Why the text is no number; empty when it is one.
    QString problem() const { return problem_; }
    void stepBy(int steps) override;
    QValidator::State validate(QString&, int&) const override { return QValidator::Acceptable; }
    /// Of a box in the theme's text size.
    static int usualWidth();
    /// Room for so many characters; that of usualWidth() unless told otherwise.
    void setCharacters(int count);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    /// The user typed or stepped. What is no number comes as the text that was typed; an empty text
    /// as null, `cleared` true.
    void edited(const config::Json& value, bool cleared);
    /// Enter, or the focus went on.
    void settled();

protected:
    StepEnabled stepEnabled() const override { return StepUpEnabled | StepDownEnabled; }
    void wheelEvent(QWheelEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void read(const QString& text);
    void settle();

    const config::Field& field_;
    QString textOf(const config::Json& value) const;

    config::Json value_;
    config::Json inherited_;
    QString problem_;
    bool typing_ = false;
    int characters_;
};

/// The word that stands for null where it means that there is nothing.
QString noneText();
/// The word that stands for null in this field: none, or that the value is found out.
QString nullText(const config::Field& field);
/// A field's help in the words of its editor: no null.
QString helpText(const config::Field& field);
/// What leaving it out means: "The format's own test split if it has one."; its help where that is
/// not said.
QString nullMeaning(const config::Field& field);

} // namespace weft::ui
