// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/look/style_internal.h"

#include "widgets/look/icon.h"
#include "widgets/look/painting.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets::style_detail {
namespace {

constexpr int kMenuIconColumn = 32;
constexpr int kMenuEnd = 16;
constexpr int kSortArrowRoom = 16; // in a header

} // namespace

void drawItemPanel(const QStyleOptionViewItem& option, QPainter& painter, const QWidget*) {
    const Theme& theme = Theme::current();
    if (option.state & QStyle::State_Selected) {
        painter.fillRect(option.rect, theme.color(Role::AccentTint));
    } else if ((option.state & QStyle::State_MouseOver) && (option.state & QStyle::State_Enabled)) {
        painter.fillRect(option.rect, theme.color(Role::Inset));
    } else if (option.backgroundBrush.style() != Qt::NoBrush) {
        painter.fillRect(option.rect, option.backgroundBrush);
    }
}

void drawBranch(const QStyleOption& option, QPainter& painter) {
    if (option.state & QStyle::State_Selected) {
        painter.fillRect(option.rect, Theme::current().color(Role::AccentTint));
    }
    if (!(option.state & QStyle::State_Children)) {
        return;
    }
    QRectF place(0, 0, 12, 12);
    place.moveCenter(QRectF(option.rect).center());
    const bool open = option.state & QStyle::State_Open;
    paintIcon(painter, place,
              open ? QStringLiteral("chevron-down") : QStringLiteral("chevron-right"),
              Theme::current().color(Role::Muted));
}

// By the font of the header, in which Qt puts dots to what is too long, and by that of its words.
int headerSectionWidth(const QStyleOptionHeader& option) {
    const double text =
        std::max<double>(option.fontMetrics.horizontalAdvance(option.text),
                         textWidth(Theme::current().font(TextStyle::Caption), option.text));
    const int arrow = option.sortIndicator != QStyleOptionHeader::None ? kSortArrowRoom : 0;
    return static_cast<int>(std::ceil(text)) + arrow + 2 * space::kControl;
}

void drawHeader(const QStyleOptionHeader& option, QPainter& painter) {
    const Theme& theme = Theme::current();
    painter.fillRect(option.rect, theme.color(Role::Surface));
    paintHairline(painter, option.rect.bottomLeft(),
                  option.rect.bottomLeft() + QPoint(option.rect.width(), 0),
                  theme.color(Role::Hairline));
    const bool right = option.textAlignment & Qt::AlignRight;
    QRectF rect = QRectF(option.rect).adjusted(space::kControl, 0, -space::kControl, 0);
    if (option.sortIndicator != QStyleOptionHeader::None) {
        right ? rect.setLeft(rect.left() + kSortArrowRoom)
              : rect.setRight(rect.right() - kSortArrowRoom);
        const double text =
            std::min(rect.width(), textWidth(theme.font(TextStyle::Caption), option.text));
        // On the side of the text that leaves it where the values below it begin or end.
        const double x = right ? rect.right() - text - kSortArrowRoom : rect.left() + text + 4.0;
        const QRectF arrow(std::round(x), rect.center().y() - 6, 12, 12);
        // Qt calls the arrow by where it points to, not by the order.
        paintIcon(painter, arrow,
                  option.sortIndicator == QStyleOptionHeader::SortUp
                      ? QStringLiteral("chevron-up")
                      : QStringLiteral("chevron-down"),
                  theme.color(Role::Muted));
    }
    paintText(painter, rect, option.textAlignment | Qt::AlignVCenter, option.text,
              theme.font(TextStyle::Caption), theme.color(Role::Muted));
}

void drawMenuItem(const QStyleOptionMenuItem& option, QPainter& painter) {
    const Theme& theme = Theme::current();
    const QRect& r = option.rect;
    if (option.menuItemType == QStyleOptionMenuItem::Separator) {
        paintHairline(painter, QPointF(r.left() + 8, r.center().y()),
                      QPointF(r.right() - 7, r.center().y()), theme.color(Role::Hairline));
        return;
    }
    const bool enabled = option.state & QStyle::State_Enabled;
    if (enabled && (option.state & QStyle::State_Selected)) {
        paintSurface(painter, QRectF(r).adjusted(4, 0, -4, 0), size::kRadius,
                     theme.color(Role::AccentTint), {});
    }
    const QColor text = theme.color(enabled ? Role::Text : Role::Faint);
    const int side = iconSide();
    const QRect mark(r.left() + 20 - side / 2, r.center().y() + 1 - side / 2, side, side);
    if (option.checkType != QStyleOptionMenuItem::NotCheckable && option.checked) {
        paintIcon(painter, mark, QStringLiteral("check"),
                  theme.color(enabled ? Role::Accent : Role::Faint));
    } else if (!option.icon.isNull()) {
        option.icon.paint(&painter, mark, Qt::AlignCenter,
                          enabled ? QIcon::Normal : QIcon::Disabled);
    }
    const QStringList parts = option.text.split(QLatin1Char('\t'));
    QRectF place = QRectF(r).adjusted(kMenuIconColumn + 4, 0, -kMenuEnd, 0);
    if (option.menuItemType == QStyleOptionMenuItem::SubMenu) {
        paintIcon(painter, arrowAt(r, 16), QStringLiteral("chevron-right"), text);
    } else if (parts.size() > 1) {
        paintText(painter, place, Qt::AlignRight | Qt::AlignVCenter, parts[1],
                  theme.font(TextStyle::MonoSmall),
                  theme.color(enabled ? Role::Muted : Role::Faint));
    }
    paintText(painter, place, Qt::AlignLeft | Qt::AlignVCenter, withoutMnemonic(parts[0]),
              theme.font(TextStyle::Body), text);
}

QSize menuItemSize(const QStyleOptionMenuItem& option, const QSize& contents) {
    if (option.menuItemType == QStyleOptionMenuItem::Separator) {
        return {contents.width(), 9};
    }
    const Theme& theme = Theme::current();
    const QStringList parts = option.text.split(QLatin1Char('\t'));
    double width = textWidth(theme.font(TextStyle::Body), withoutMnemonic(parts[0]));
    if (parts.size() > 1) {
        width += 32.0 + textWidth(theme.font(TextStyle::MonoSmall), parts[1]);
    }
    const int height = QFontMetrics(theme.font(TextStyle::Body)).height();
    return {static_cast<int>(width) + kMenuIconColumn + 8 + kMenuEnd + 12,
            std::max(size::kControlHeight, height + 8)};
}

void drawMenuBarItem(const QStyleOptionMenuItem& option, QPainter& painter) {
    const Theme& theme = Theme::current();
    painter.fillRect(option.rect, theme.color(Role::Background));
    const bool enabled = option.state & QStyle::State_Enabled;
    if (enabled && (option.state & QStyle::State_Selected)) {
        paintSurface(
            painter, QRectF(option.rect).adjusted(1, 2, -1, -2), size::kRadius,
            theme.color(option.state & QStyle::State_Sunken ? Role::AccentTint : Role::EmptyBar),
            {});
    }
    paintText(painter, option.rect, Qt::AlignCenter, withoutMnemonic(option.text),
              theme.font(TextStyle::Body), theme.color(enabled ? Role::Text : Role::Faint),
              Qt::ElideNone);
}

void drawTabShape(const QStyleOptionTab& option, QPainter& painter) {
    const Theme& theme = Theme::current();
    const QRect& r = option.rect;
    const bool selected = option.state & QStyle::State_Selected;
    if (selected) {
        const bool top = option.shape == QTabBar::RoundedSouth;
        painter.fillRect(QRect(r.left(), top ? r.top() : r.bottom() - 1, r.width(), 2),
                         theme.color(Role::Accent));
    } else if (option.state & QStyle::State_MouseOver) {
        painter.fillRect(r, theme.color(Role::Inset));
    }
    if (showsFocus(&option)) {
        paintFocus(painter, QRectF(r).adjusted(2, 2, -2, -4), size::kRadius);
    }
}

void drawTabLabel(const QStyleOptionTab& option, QPainter& painter) {
    const Theme& theme = Theme::current();
    const bool enabled = option.state & QStyle::State_Enabled;
    const bool selected = option.state & QStyle::State_Selected;
    QRect rect = option.rect.adjusted(8, 0, -8, 0);
    if (!option.icon.isNull()) {
        const int side = iconSide();
        const QRect place(rect.left(), rect.center().y() + 1 - side / 2, side, side);
        option.icon.paint(&painter, place, Qt::AlignCenter,
                          enabled ? QIcon::Normal : QIcon::Disabled);
        rect.setLeft(place.right() + 1 + space::kTight);
    }
    const Role role = !enabled ? Role::Faint : selected ? Role::Text : Role::Muted;
    paintText(painter, rect, Qt::AlignCenter, withoutMnemonic(option.text),
              theme.font(TextStyle::Body), theme.color(role));
}

void drawDockTitle(const QStyleOptionDockWidget& option, QPainter& painter) {
    const Theme& theme = Theme::current();
    painter.fillRect(option.rect, theme.color(Role::Surface));
    paintHairline(painter, option.rect.bottomLeft(),
                  option.rect.bottomLeft() + QPoint(option.rect.width(), 0),
                  theme.color(Role::Hairline));
    paintText(painter, QRectF(option.rect).adjusted(12, 0, -48, 0),
              Qt::AlignLeft | Qt::AlignVCenter, option.title, theme.font(TextStyle::Strong),
              theme.color(Role::Text));
}

} // namespace weft::widgets::style_detail
