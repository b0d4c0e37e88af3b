// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/number_input.h"

#include "ui/bridge/convert.h"
#include "ui/forms/field_editor.h"
#include "ui/forms/number_text.h"
#include "widgets/look/style.h"

#include <QCoreApplication>
#include <QFontMetrics>
#include <QLineEdit>
#include <QWheelEvent>

namespace weft::ui {
namespace {

constexpr int kNumberInputCharacters = 8;
constexpr int kNumberInputSpare = 2;  // beside a number of more digits than most
constexpr int kNumberInputFrame = 34; // paddings and the arrows

int widthOf(const QFont& font, int characters) {
    return QFontMetrics(font).horizontalAdvance(QString(characters, '0')) + kNumberInputFrame;
}

} // namespace

QString noneText() {
    return QCoreApplication::translate("weft::ui::NumberInput", "none");
}

// The tables write "null: from the data." where null is no absence.
QString nullText(const config::Field& field) {
    return field.help.find("null: ") == std::string::npos
               ? noneText()
               : QCoreApplication::translate("weft::ui::NumberInput", "auto");
}

QString helpText(const config::Field& field) {
    return toQString(field.help)
        .replace("null: ", nullText(field) + ": ")
        .replace(" or null.",
                 " " + QCoreApplication::translate("weft::ui::NumberInput", "or none."));
}

QString nullMeaning(const config::Field& field) {
    const std::string mark = "null: ";
    const std::size_t at = field.help.find(mark);
    QString meaning =
        at == std::string::npos ? helpText(field) : toQString(field.help.substr(at + mark.size()));
    if (!meaning.isEmpty()) {
        meaning[0] = meaning[0].toUpper();
    }
    return meaning;
}

NumberInput::NumberInput(const config::Field& field, QWidget* parent)
    : QAbstractSpinBox(parent), field_(field), characters_(kNumberInputCharacters) {
    setFocusPolicy(Qt::StrongFocus);
    setAccelerated(true);
    widgets::setTextStyle(this, widgets::TextStyle::Mono);
    leaveUndoToDraft(this); // it hands keys to its text field past that one's filters
    connect(lineEdit(), &QLineEdit::textEdited, this, &NumberInput::read);
    connect(this, &QAbstractSpinBox::editingFinished, this, &NumberInput::settle);
}

void NumberInput::setNumber(const config::Json& value) {
    const bool same = value == value_;
    value_ = value;
    problem_ = value.is_string() ? readNumber(numberText(value), field_).problem : QString();
    if (same && typing_) {
        return; // "1e-3" stays as it was typed
    }
    typing_ = false;
    const QString text = textOf(value);
    if (text != lineEdit()->text()) {
        lineEdit()->setText(text);
    }
    // A number whose first digit is out of sight would read as another one.
    const int digits = static_cast<int>(text.size());
    if (digits >= kNumberInputCharacters && characters_ < digits + kNumberInputSpare) {
        setCharacters(digits + kNumberInputSpare);
    }
}

QString NumberInput::textOf(const config::Json& value) const {
    if (!value.is_null()) {
        return numberText(value);
    }
    return field_.nullable && inherited_.is_null() ? nullText(field_) : QString();
}

void NumberInput::setInherited(const config::Json& value) {
    if (value != inherited_) {
        inherited_ = value;
        lineEdit()->setPlaceholderText(value.is_null() ? QString() : numberText(value));
        setNumber(config::Json(value_));
    }
}

/// In its shortest form.
void NumberInput::settle() {
    typing_ = false;
    setNumber(config::Json(value_));
    emit settled();
}

void NumberInput::read(const QString& text) {
    const QString plain = text.trimmed();
    typing_ = true;
    problem_.clear();
    const auto says = [&plain](const QString& word) {
        return plain.compare(word, Qt::CaseInsensitive) == 0;
    };
    if (plain.isEmpty() || (field_.nullable && (says(noneText()) || says(nullText(field_))))) {
        value_ = nullptr;
        emit edited(value_, plain.isEmpty());
        return;
    }
    TypedNumber typed = readNumber(plain, field_);
    problem_ = typed.problem;
    value_ = typed.value ? *typed.value : config::Json(plain.toStdString());
    emit edited(value_, false);
}

void NumberInput::stepBy(int steps) {
    value_ = steppedNumber(value_.is_null() ? inherited_ : value_, field_, steps);
    problem_.clear();
    typing_ = false;
    lineEdit()->setText(numberText(value_));
    lineEdit()->selectAll();
    emit edited(value_, false);
}

void NumberInput::wheelEvent(QWheelEvent* event) {
    hasFocus() ? QAbstractSpinBox::wheelEvent(event) : event->ignore();
}

void NumberInput::focusOutEvent(QFocusEvent* event) {
    QAbstractSpinBox::focusOutEvent(event);
    settle();
}

int NumberInput::usualWidth() {
    return widthOf(widgets::Theme::current().font(widgets::TextStyle::Mono),
                   kNumberInputCharacters);
}

void NumberInput::setCharacters(int count) {
    characters_ = count;
    updateGeometry();
}

// The same for all numbers but the longest: nothing beside it moves while digits come and go.
QSize NumberInput::sizeHint() const {
    return {widthOf(font(), characters_), widgets::size::kControlHeight};
}

} // namespace weft::ui
