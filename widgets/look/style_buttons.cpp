// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/look/style_internal.h"

#include "widgets/look/icon.h"
#include "widgets/look/painting.h"

#include <QToolButton>

#include <cmath>

namespace weft::widgets::style_detail {
namespace {

constexpr int kButtonIconGap = 8;
constexpr int kArrowRoom = 18;

bool is(const QWidget* widget, const char* property) {
    return widget && widget->property(property).toInt() != 0;
}

// Studio icons take the colour of the text beside them; alone, or foreign, they keep their own.
void paintButtonIcon(QPainter& painter, const QRect& rect, const QIcon& icon, const QColor& color,
                     QStyle::State state, bool with_text) {
    if (with_text && isIconName(icon.name())) {
        paintIcon(painter, rect, icon.name(), color);
    } else {
        icon.paint(&painter, rect, Qt::AlignCenter,
                   state & QStyle::State_Enabled ? QIcon::Normal : QIcon::Disabled,
                   state & QStyle::State_On ? QIcon::On : QIcon::Off);
    }
}

// Compact buttons look their font up, so that it follows the font scale.
QFont buttonFont(const QWidget* widget, const QFont& fallback) {
    if (isCompact(widget)) {
        return Theme::current().font(TextStyle::Caption);
    }
    return widget ? widget->font() : fallback;
}

// Icon and text as one group; centred, or from the left when `left` is not negative.
void paintContents(QPainter& painter, const QRect& rect, const QIcon& icon, const QSize& icon_size,
                   const QString& text, const QFont& font, const QColor& color, QStyle::State state,
                   int left = -1) {
    const QString shown = withoutMnemonic(text);
    const double text_width = shown.isEmpty() ? 0.0 : textWidth(font, shown);
    const int icon_width = icon.isNull() ? 0 : icon_size.width();
    const int gap = icon_width > 0 && !shown.isEmpty() ? kButtonIconGap : 0;
    const double total = icon_width + gap + text_width;
    double x = left >= 0 ? rect.left() + left : rect.left() + (rect.width() - total) / 2.0;
    x = std::max(std::round(x), rect.left() + 4.0);
    if (icon_width > 0) {
        const QRect icon_rect(
            QPoint(static_cast<int>(x), rect.center().y() + 1 - icon_size.height() / 2), icon_size);
        paintButtonIcon(painter, icon_rect, icon, color, state, !shown.isEmpty());
        x += icon_width + gap;
    }
    if (!shown.isEmpty()) {
        paintText(painter, QRectF(x, rect.top(), rect.right() - 3.0 - x, rect.height()),
                  Qt::AlignLeft | Qt::AlignVCenter, shown, font, color);
    }
}

} // namespace

QString withoutMnemonic(const QString& text) {
    QString result;
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (text[i] == QLatin1Char('&') && ++i == text.size()) {
            break;
        }
        result += text[i]; // of "&&" the second
    }
    return result;
}

ButtonKind kindOf(const QWidget* widget) {
    return widget ? static_cast<ButtonKind>(widget->property("weftKind").toInt())
                  : ButtonKind::Normal;
}

bool isCompact(const QWidget* widget) {
    return is(widget, "weftCompact");
}
bool isDerived(const QWidget* widget) {
    return is(widget, "weftDerived");
}
bool isInvalid(const QWidget* widget) {
    return is(widget, "weftInvalid");
}

Joined joinedOf(const QWidget* widget) {
    return widget ? static_cast<Joined>(widget->property("weftJoined").toInt()) : Joined::None;
}

QRect arrowAt(const QRect& rect, int from_right) {
    const int side = iconSide(12);
    return {rect.right() - from_right - side / 2, rect.center().y() + 1 - side / 2, side, side};
}

int iconSide(int size) {
    return qRound(size * (1.0 + Theme::current().fontScale()) / 2.0);
}

bool showsFocus(const QStyleOption* option) {
    return (option->state & QStyle::State_HasFocus) &&
           (option->state & QStyle::State_KeyboardFocusChange);
}

ButtonLook buttonLook(ButtonKind kind, QStyle::State state, bool raised) {
    const Theme& theme = Theme::current();
    const QColor surface = theme.color(Role::Surface);
    const QColor text = theme.color(Role::Text);
    const bool enabled = state & QStyle::State_Enabled;
    const bool hover = enabled && (state & QStyle::State_MouseOver);
    const bool down = enabled && (state & QStyle::State_Sunken);
    const bool on = state & QStyle::State_On;
    const double shade = down ? 0.10 : hover ? 0.05 : 0.0;
    if (!enabled) {
        const bool bare = kind == ButtonKind::Flat || !raised;
        return {bare ? QColor() : surface, bare ? QColor() : theme.color(Role::Hairline),
                theme.color(Role::Faint)};
    }
    if (on) {
        return {theme.color(Role::AccentTint),
                raised ? theme.color(Role::Border) : theme.color(Role::Accent),
                theme.color(Role::Accent)};
    }
    switch (kind) {
    case ButtonKind::Primary: {
        const QColor accent = theme.color(Role::Accent);
        const QColor fill = mixed(theme.color(Role::OnAccent), accent, shade * 2.0);
        return {fill, fill, theme.color(Role::OnAccent)};
    }
    case ButtonKind::Danger: {
        const QColor error = theme.color(Role::Error);
        return {hover || down ? theme.color(Role::ErrorTint) : surface, mixed(error, surface, 0.6),
                error};
    }
    case ButtonKind::Flat:
        return {hover || down ? mixed(text, surface, shade + 0.03) : QColor(), {}, text};
    case ButtonKind::Normal: break;
    }
    if (!raised) {
        return {hover || down ? mixed(text, surface, shade + 0.03) : QColor(), {}, text};
    }
    return {mixed(text, surface, shade), theme.color(Role::Border), text};
}

// The shared side of joined buttons is the left edge of the right one, drawn once.
void paintBevel(QPainter& painter, const QRect& rect, const ButtonLook& look, Joined joined) {
    if (!look.fill.isValid() && !look.border.isValid()) {
        return;
    }
    QRectF shape = rect;
    painter.save();
    if (joined != Joined::None) {
        painter.setClipRect(rect, Qt::IntersectClip);
    }
    if (joined == Joined::First || joined == Joined::Middle) {
        shape.setRight(shape.right() + 8.0);
    }
    const bool square_left = joined == Joined::Middle || joined == Joined::Last;
    if (square_left) {
        shape.setLeft(shape.left() - 8.0);
    }
    paintSurface(painter, shape, size::kRadius, look.fill, look.border);
    if (square_left && look.border.isValid()) {
        paintHairline(painter, rect.topLeft(), rect.topLeft() + QPoint(0, rect.height()),
                      look.border);
    }
    painter.restore();
}

void drawPushButton(const QStyleOptionButton& option, QPainter& painter, const QWidget* widget) {
    const bool flat = option.features & QStyleOptionButton::Flat;
    const ButtonKind kind = flat ? ButtonKind::Flat : kindOf(widget);
    const ButtonLook look = buttonLook(kind, option.state);
    paintBevel(painter, option.rect, look, joinedOf(widget));
    QFont font = buttonFont(widget, painter.font());
    if (kind == ButtonKind::Primary || (option.state & QStyle::State_On)) {
        font.setWeight(QFont::DemiBold);
    }
    QRect content = option.rect;
    const bool has_menu = option.features & QStyleOptionButton::HasMenu;
    if (has_menu && !option.text.isEmpty()) {
        content.setRight(content.right() - kArrowRoom);
        paintIcon(painter, arrowAt(option.rect, kArrowRoom - 3), QStringLiteral("chevron-down"),
                  look.text);
    }
    paintContents(painter, content, option.icon, option.iconSize, option.text, font, look.text,
                  option.state);
    if (showsFocus(&option)) {
        paintFocus(painter, option.rect, size::kRadius);
    }
}

QSize pushButtonSize(const QStyleOptionButton& option, const QWidget* widget) {
    const int height = controlHeight(widget);
    QFont font = buttonFont(widget, {});
    font.setWeight(QFont::DemiBold); // room for the checked or primary look
    const QString text = withoutMnemonic(option.text);
    const int text_width = text.isEmpty() ? 0 : static_cast<int>(std::ceil(textWidth(font, text)));
    const int icon_width = option.icon.isNull() ? 0 : option.iconSize.width();
    if (text.isEmpty()) {
        return {height, height};
    }
    const int gap = icon_width > 0 ? kButtonIconGap : 0;
    const int padding = isCompact(widget) ? 10 : 12;
    const int arrow = option.features & QStyleOptionButton::HasMenu ? kArrowRoom : 0;
    const int text_height = QFontMetrics(font).height();
    return {text_width + icon_width + gap + arrow + 2 * padding, std::max(height, text_height + 6)};
}

void drawToolButton(const QStyleOptionToolButton& option, QPainter& painter,
                    const QWidget* widget) {
    const bool raised = !(option.state & QStyle::State_AutoRaise);
    const ButtonLook look = buttonLook(kindOf(widget), option.state, raised);
    paintBevel(painter, option.rect, look, joinedOf(widget));
    QRect content = option.rect;
    const bool arrow = option.features &
                       (QStyleOptionToolButton::HasMenu | QStyleOptionToolButton::MenuButtonPopup);
    if (arrow && option.toolButtonStyle != Qt::ToolButtonIconOnly) {
        content.setRight(content.right() - kArrowRoom);
        paintIcon(painter, arrowAt(option.rect, kArrowRoom - 3), QStringLiteral("chevron-down"),
                  look.text);
    }
    const bool text_only = option.toolButtonStyle == Qt::ToolButtonTextOnly;
    const bool icon_only = option.toolButtonStyle == Qt::ToolButtonIconOnly;
    const QSize icon_size(iconSide(), iconSide());
    paintContents(painter, content, text_only ? QIcon() : option.icon, icon_size,
                  icon_only && !option.icon.isNull() ? QString() : option.text,
                  buttonFont(widget, option.font), look.text, option.state);
    if (showsFocus(&option)) {
        paintFocus(painter, option.rect, size::kRadius);
    }
}

QSize toolButtonSize(const QStyleOptionToolButton& option, const QWidget* widget) {
    const int height = controlHeight(widget);
    const bool has_text =
        !option.text.isEmpty() &&
        (option.toolButtonStyle != Qt::ToolButtonIconOnly || option.icon.isNull());
    if (!has_text) {
        return {height, height};
    }
    const bool has_icon = !option.icon.isNull() && option.toolButtonStyle != Qt::ToolButtonTextOnly;
    const bool arrow = option.features &
                       (QStyleOptionToolButton::HasMenu | QStyleOptionToolButton::MenuButtonPopup);
    const QFont font = buttonFont(widget, option.font);
    const int text = static_cast<int>(std::ceil(textWidth(font, withoutMnemonic(option.text))));
    return {text + (has_icon ? iconSide() + kButtonIconGap : 0) + (arrow ? kArrowRoom : 0) + 20,
            std::max(height, QFontMetrics(font).height() + 6)};
}

void drawCheckIndicator(const QStyleOption& option, QPainter& painter, bool round) {
    const Theme& theme = Theme::current();
    const bool enabled = option.state & QStyle::State_Enabled;
    const bool on = option.state & QStyle::State_On;
    const bool partial = option.state & QStyle::State_NoChange;
    QRectF box(0, 0, size::kIcon, size::kIcon);
    box.moveCenter(QRectF(option.rect).center());
    box.moveTopLeft(box.topLeft().toPoint());
    const double radius = round ? box.width() / 2.0 : 3.0;
    const bool filled = (on || partial) && enabled;
    const QColor fill = filled ? theme.color(Role::Accent) : theme.color(Role::Surface);
    const QColor border = !enabled                                 ? theme.color(Role::Hairline)
                          : filled                                 ? fill
                          : option.state & QStyle::State_MouseOver ? theme.color(Role::Muted)
                                                                   : theme.color(Role::Border);
    paintSurface(painter, box, radius, fill, border);
    const QColor sign = theme.color(enabled ? Role::OnAccent : Role::Faint);
    if (on && round) {
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(sign);
        painter.drawEllipse(box.center(), 3.0, 3.0);
        painter.restore();
    } else if (on) {
        paintIcon(painter, box.adjusted(2, 2, -2, -2), QStringLiteral("check"), sign);
    } else if (partial) {
        painter.fillRect(QRectF(box.left() + 4, box.center().y() - 1, box.width() - 8, 2), sign);
    }
    if (showsFocus(&option)) {
        paintFocus(painter, box.adjusted(-2, -2, 2, 2), radius + 2.0);
    }
}

} // namespace weft::widgets::style_detail
