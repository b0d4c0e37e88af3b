// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/look/style_internal.h"

#include "widgets/look/icon.h"
#include "widgets/look/painting.h"

#include <QStyle>

#include <algorithm>

namespace weft::widgets::style_detail {

void drawField(const QStyleOption& option, QPainter& painter, const QWidget* widget) {
    const Theme& theme = Theme::current();
    const bool enabled = option.state & QStyle::State_Enabled;
    const bool focused = enabled && (option.state & QStyle::State_HasFocus);
    const bool derived = isDerived(widget);
    const QColor fill = theme.color(enabled && !derived ? Role::Surface : Role::Background);
    if (focused && !derived) {
        paintSurface(painter, option.rect, size::kRadius, fill,
                     theme.color(isInvalid(widget) ? Role::Error : Role::Accent), Qt::SolidLine,
                     2.0);
        return;
    }
    const Role border = isInvalid(widget) ? Role::Error : enabled ? Role::Border : Role::Hairline;
    paintSurface(painter, option.rect, size::kRadius, fill, theme.color(border),
                 derived ? Qt::DashLine : Qt::SolidLine);
}

void drawComboBox(const QStyleOptionComboBox& option, QPainter& painter, const QWidget* widget) {
    const Theme& theme = Theme::current();
    if (option.editable) {
        drawField(option, painter, widget);
    } else {
        QStyle::State state = option.state;
        state.setFlag(QStyle::State_On, false);
        ButtonLook look = buttonLook(ButtonKind::Normal, state);
        if (isInvalid(widget)) {
            look.border = theme.color(Role::Error);
        }
        paintBevel(painter, option.rect, look, Joined::None);
        if (showsFocus(&option)) {
            paintFocus(painter, option.rect, size::kRadius);
        }
    }
    const bool enabled = option.state & QStyle::State_Enabled;
    paintIcon(painter, arrowAt(option.rect, 13), QStringLiteral("chevron-down"),
              theme.color(enabled ? Role::Muted : Role::Faint));
}

void drawComboBoxLabel(const QStyleOptionComboBox& option, QPainter& painter,
                       const QWidget* widget) {
    if (option.editable) {
        return;
    }
    const Theme& theme = Theme::current();
    const bool enabled = option.state & QStyle::State_Enabled;
    QRect rect = comboBoxRect(option, QStyle::SC_ComboBoxEditField);
    if (!option.currentIcon.isNull()) {
        const int side = iconSide();
        const QRect place(rect.left(), rect.center().y() + 1 - side / 2, side, side);
        option.currentIcon.paint(&painter, place, Qt::AlignCenter,
                                 enabled ? QIcon::Normal : QIcon::Disabled);
        rect.setLeft(place.right() + 1 + space::kControl);
    }
    paintText(painter, rect, Qt::AlignLeft | Qt::AlignVCenter, option.currentText,
              widget ? widget->font() : painter.font(),
              theme.color(enabled ? Role::Text : Role::Faint));
}

QRect comboBoxRect(const QStyleOptionComboBox& option, QStyle::SubControl control) {
    const QRect& r = option.rect;
    switch (control) {
    case QStyle::SC_ComboBoxArrow: return {r.right() - 25, r.top(), 26, r.height()};
    case QStyle::SC_ComboBoxEditField:
        return option.editable ? r.adjusted(2, 1, -26, -1) : r.adjusted(10, 1, -28, -1);
    case QStyle::SC_ComboBoxListBoxPopup:
    case QStyle::SC_ComboBoxFrame:
    default: return r;
    }
}

void drawSpinBox(const QStyleOptionSpinBox& option, QPainter& painter, const QWidget* widget) {
    drawField(option, painter, widget);
    if (option.buttonSymbols == QAbstractSpinBox::NoButtons || isDerived(widget)) {
        return;
    }
    const Theme& theme = Theme::current();
    const auto arrow = [&](QStyle::SubControl control, const QString& name, bool usable) {
        const QRect rect = spinBoxRect(option, control);
        const bool hot = option.activeSubControls == control;
        const Role role = !usable ? Role::Faint : hot ? Role::Accent : Role::Muted;
        const int shift = control == QStyle::SC_SpinBoxUp ? 1 : -1;
        const int side = iconSide(10);
        const QRect place(rect.center().x() + 1 - side / 2,
                          rect.center().y() + 1 - side / 2 + shift, side, side);
        paintIcon(painter, place, name, theme.color(role));
    };
    const bool enabled = option.state & QStyle::State_Enabled;
    arrow(QStyle::SC_SpinBoxUp, QStringLiteral("chevron-up"),
          enabled && (option.stepEnabled & QAbstractSpinBox::StepUpEnabled));
    arrow(QStyle::SC_SpinBoxDown, QStringLiteral("chevron-down"),
          enabled && (option.stepEnabled & QAbstractSpinBox::StepDownEnabled));
}

QRect spinBoxRect(const QStyleOptionSpinBox& option, QStyle::SubControl control) {
    const QRect& r = option.rect;
    const int width = option.buttonSymbols == QAbstractSpinBox::NoButtons ? 0 : 20;
    const int half = r.height() / 2;
    switch (control) {
    case QStyle::SC_SpinBoxUp: return {r.right() - width, r.top() + 1, width, half - 1};
    case QStyle::SC_SpinBoxDown: return {r.right() - width, r.top() + half, width, half - 1};
    case QStyle::SC_SpinBoxEditField: return r.adjusted(4, 1, -width - 2, -1);
    default: return r;
    }
}

void drawSlider(const QStyleOptionSlider& option, QPainter& painter) {
    const Theme& theme = Theme::current();
    const bool enabled = option.state & QStyle::State_Enabled;
    constexpr int kHandle = 14;
    const int room = option.rect.width() - kHandle;
    const int at = QStyle::sliderPositionFromValue(option.minimum, option.maximum,
                                                   option.sliderPosition, room, option.upsideDown);
    const double y = option.rect.center().y();
    const double x = option.rect.left() + at + kHandle / 2.0;
    const double left = option.rect.left() + kHandle / 2.0;
    painter.fillRect(QRectF(left, y, room, 2),
                     theme.color(enabled ? Role::Border : Role::Hairline));
    const QColor accent = theme.color(enabled ? Role::Accent : Role::Faint);
    painter.fillRect(QRectF(left, y, x - left, 2), accent);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(accent);
    const bool hot = enabled && (option.state & QStyle::State_MouseOver);
    painter.drawEllipse(QPointF(x, y + 1.0), hot ? 6.0 : 5.0, hot ? 6.0 : 5.0);
    painter.restore();
    if (showsFocus(&option)) {
        paintFocus(painter, QRectF(x - 9, y - 8, 18, 18), 9.0);
    }
}

QRect scrollBarRect(const QStyleOptionSlider& option, QStyle::SubControl control) {
    const bool horizontal = option.orientation == Qt::Horizontal;
    const QRect& r = option.rect;
    const int length = horizontal ? r.width() : r.height();
    const int range = option.maximum - option.minimum;
    int handle = length;
    if (range > 0) {
        handle = static_cast<int>(static_cast<qint64>(length) * option.pageStep /
                                  (range + std::max(1, option.pageStep)));
        handle = std::clamp(handle, std::min(28, length), length);
    }
    const int start = QStyle::sliderPositionFromValue(
        option.minimum, option.maximum, option.sliderPosition, length - handle, option.upsideDown);
    const auto part = [&](int from, int size) {
        return horizontal ? QRect(r.left() + from, r.top(), size, r.height())
                          : QRect(r.left(), r.top() + from, r.width(), size);
    };
    switch (control) {
    case QStyle::SC_ScrollBarSlider: return part(start, handle);
    case QStyle::SC_ScrollBarGroove: return r;
    case QStyle::SC_ScrollBarSubPage: return part(0, start);
    case QStyle::SC_ScrollBarAddPage: return part(start + handle, length - start - handle);
    default: return {};
    }
}

void drawScrollBar(const QStyleOptionSlider& option, QPainter& painter, const QRect& handle) {
    if (option.maximum <= option.minimum) {
        return;
    }
    const Theme& theme = Theme::current();
    const bool hot = option.state & (QStyle::State_MouseOver | QStyle::State_Sunken);
    const QColor color =
        mixed(theme.color(Role::Muted), theme.color(Role::Surface), hot ? 0.75 : 0.45);
    const bool horizontal = option.orientation == Qt::Horizontal;
    const QRectF bar =
        horizontal ? QRectF(handle).adjusted(2, 2, -2, -2) : QRectF(handle).adjusted(2, 2, -2, -2);
    paintSurface(painter, bar, 3.0, color, {});
}

void drawProgressBar(const QStyleOptionProgressBar& option, QPainter& painter) {
    const Theme& theme = Theme::current();
    QRectF bar = option.rect;
    const double height = std::min(6.0, bar.height());
    bar = QRectF(bar.left(), bar.center().y() - height / 2.0, bar.width(), height);
    paintSurface(painter, bar, height / 2.0, theme.color(Role::EmptyBar), {});
    const double range = option.maximum - option.minimum;
    const double share = range > 0 ? (option.progress - option.minimum) / range : 0.0;
    if (share > 0) {
        QRectF filled = bar;
        filled.setWidth(std::max(height, bar.width() * std::min(1.0, share)));
        paintSurface(painter, filled, height / 2.0, theme.color(Role::Accent), {});
    }
}

} // namespace weft::widgets::style_detail
