// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of Style, by kind of control. Each draws from Theme::current().
#pragma once

#include "widgets/look/style.h"

#include <QStyleOption>

namespace weft::widgets::style_detail {

/// A text as it is seen: "&" marks a letter and goes, "&&" stands for the sign.
QString withoutMnemonic(const QString& text);

ButtonKind kindOf(const QWidget* widget);
bool isCompact(const QWidget* widget);
bool isDerived(const QWidget* widget);
bool isInvalid(const QWidget* widget);
Joined joinedOf(const QWidget* widget);
/// Focus that came by keyboard; a click shows none.
bool showsFocus(const QStyleOption* option);
inline int controlHeight(const QWidget* widget) {
    return isCompact(widget) ? size::kCompactControlHeight : size::kControlHeight;
}

/// The side of an icon or arrow that is `size` beside text of size 1. It grows half as much as the
/// text, so that what is an icon alone needs no more room.
int iconSide(int size = size::kIcon);
/// Of the arrow in the middle of a rectangle's height, `from_right` its centre.
QRect arrowAt(const QRect& rect, int from_right);

struct ButtonLook {
    QColor fill;
    QColor border;
    QColor text;
};
ButtonLook buttonLook(ButtonKind kind, QStyle::State state, bool raised = true);
void paintBevel(QPainter& painter, const QRect& rect, const ButtonLook& look, Joined joined);

// style_buttons.cpp
void drawPushButton(const QStyleOptionButton& option, QPainter& painter, const QWidget* widget);
QSize pushButtonSize(const QStyleOptionButton& option, const QWidget* widget);
void drawToolButton(const QStyleOptionToolButton& option, QPainter& painter, const QWidget* widget);
QSize toolButtonSize(const QStyleOptionToolButton& option, const QWidget* widget);
void drawCheckIndicator(const QStyleOption& option, QPainter& painter, bool round);

// style_fields.cpp
void drawField(const QStyleOption& option, QPainter& painter, const QWidget* widget);
void drawComboBox(const QStyleOptionComboBox& option, QPainter& painter, const QWidget* widget);
void drawComboBoxLabel(const QStyleOptionComboBox& option, QPainter& painter,
                       const QWidget* widget);
void drawSpinBox(const QStyleOptionSpinBox& option, QPainter& painter, const QWidget* widget);
QRect spinBoxRect(const QStyleOptionSpinBox& option, QStyle::SubControl control);
QRect comboBoxRect(const QStyleOptionComboBox& option, QStyle::SubControl control);
void drawSlider(const QStyleOptionSlider& option, QPainter& painter);
void drawScrollBar(const QStyleOptionSlider& option, QPainter& painter, const QRect& handle);
QRect scrollBarRect(const QStyleOptionSlider& option, QStyle::SubControl control);
void drawProgressBar(const QStyleOptionProgressBar& option, QPainter& painter);

// style_lists.cpp
void drawItemPanel(const QStyleOptionViewItem& option, QPainter& painter, const QWidget* widget);
void drawBranch(const QStyleOption& option, QPainter& painter);
int headerSectionWidth(const QStyleOptionHeader& option);
void drawHeader(const QStyleOptionHeader& option, QPainter& painter);
void drawMenuItem(const QStyleOptionMenuItem& option, QPainter& painter);
QSize menuItemSize(const QStyleOptionMenuItem& option, const QSize& contents);
void drawMenuBarItem(const QStyleOptionMenuItem& option, QPainter& painter);
void drawTabShape(const QStyleOptionTab& option, QPainter& painter);
void drawTabLabel(const QStyleOptionTab& option, QPainter& painter);
void drawDockTitle(const QStyleOptionDockWidget& option, QPainter& painter);

} // namespace weft::widgets::style_detail
