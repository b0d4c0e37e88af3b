// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/text_label.h"

#include "widgets/look/fitting_text.h"
#include "widgets/look/painting.h"

#include <QEvent>

#include <cmath>

namespace weft::widgets {

TextLabel::TextLabel(const QString& text, TextStyle style, Role role, QWidget* parent)
    : QLabel(text, parent), style_(style), role_(role) {
    setTextFormat(Qt::PlainText);
    applyTheme();
}

void TextLabel::setRole(Role role) {
    role_ = role;
    applyTheme();
}

void TextLabel::setTextStyle(TextStyle style) {
    style_ = style;
    applyTheme();
}

// Runs again on each change that it causes itself; equal values end that.
void TextLabel::applyTheme() {
    const QFont wanted = Theme::current().font(style_);
    if (font() != wanted) {
        setFont(wanted);
    }
    const QColor color = Theme::current().color(role_);
    if (palette().color(QPalette::Active, QPalette::WindowText) != color) {
        QPalette own; // only what is set here overrides the inherited palette
        own.setColor(QPalette::Active, QPalette::WindowText, color);
        own.setColor(QPalette::Inactive, QPalette::WindowText, color);
        own.setColor(QPalette::Disabled, QPalette::WindowText, Theme::current().color(Role::Faint));
        setPalette(own);
    }
}

void TextLabel::changeEvent(QEvent* event) {
    QLabel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        applyTheme();
    }
}

ElidedLabel::ElidedLabel(const QString& text, TextStyle style, Role role, QWidget* parent)
    : QWidget(parent), text_(text), style_(style), role_(role) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setAccessibleName(text);
}

void ElidedLabel::setText(const QString& text) {
    if (text == text_) {
        return;
    }
    text_ = text;
    setAccessibleName(text);
    setToolTip(isElided() ? text_ : QString());
    updateGeometry();
    update();
}

void ElidedLabel::setRole(Role role) {
    role_ = role;
    update();
}

void ElidedLabel::setElideMode(Qt::TextElideMode mode) {
    mode_ = mode;
    update();
}

void ElidedLabel::setAlignment(Qt::Alignment alignment) {
    alignment_ = alignment;
    update();
}

bool ElidedLabel::isElided() const {
    return textWidth(Theme::current().font(style_), text_) > width() + 0.5;
}

QSize ElidedLabel::sizeHint() const {
    const QFont font = Theme::current().font(style_);
    return {static_cast<int>(std::ceil(textWidth(font, text_))) + 1, QFontMetrics(font).height()};
}

QSize ElidedLabel::minimumSizeHint() const {
    return {std::min(sizeHint().width(), 24), sizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    const QFont font = theme.font(style_);
    paintText(painter, rect(), alignment_,
              mode_ == Qt::ElideRight ? wholeFacts(text_, font, width()) : text_, font,
              theme.color(isEnabled() ? role_ : Role::Faint), mode_);
}

void ElidedLabel::resizeEvent(QResizeEvent*) {
    setToolTip(isElided() ? text_ : QString());
}

} // namespace weft::widgets
