// SPDX-License-Identifier: GPL-3.0-or-later
// The look of standard Qt controls, drawn from Theme::current() on top of Fusion: 28-px controls,
// radius 4, 1-px borders, a 2-px accent outline for keyboard focus.
#pragma once

#include "widgets/look/theme.h"

#include <QProxyStyle>

class QAbstractButton;

namespace weft::widgets {

/// How loud a button is. One Primary per area: what happens next.
enum class ButtonKind { Normal, Primary, Flat, Danger };

/// Marks a button; the style reads it. Compact makes it 24 px high with caption text.
void setButtonKind(QAbstractButton* button, ButtonKind kind);
void setCompact(QWidget* control, bool compact = true);
/// A control whose text is not Body: gives it this font, now and at every text size.
void setTextStyle(QWidget* widget, TextStyle style);
/// Every widget takes its font from the current theme again (Qt does not tell those that have a
/// font of their own); called by ThemeController.
void renewFonts();
/// A dashed border for fields that are derived and cannot be edited.
void setDerived(QWidget* field, bool derived = true);
/// Red border for a field with an invalid value; say the reason beside it too.
void setInvalid(QWidget* field, bool invalid = true);

/// Joins neighbouring buttons into one shape: which side of this one is shared.
enum class Joined { None, First, Middle, Last };
void setJoined(QWidget* button, Joined joined);

class Style : public QProxyStyle {
    Q_OBJECT
public:
    Style();

    void polish(QWidget* widget) override;
    void polish(QPalette& palette) override;
    using QProxyStyle::polish;
    int pixelMetric(PixelMetric metric, const QStyleOption* option,
                    const QWidget* widget) const override;
    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* result) const override;
    QIcon standardIcon(StandardPixmap which, const QStyleOption* option,
                       const QWidget* widget) const override;
    QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& contents,
                           const QWidget* widget) const override;
    QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl sub,
                         const QWidget* widget) const override;
    QRect subElementRect(SubElement element, const QStyleOption* option,
                         const QWidget* widget) const override;
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                            QPainter* painter, const QWidget* widget) const override;
};

} // namespace weft::widgets
