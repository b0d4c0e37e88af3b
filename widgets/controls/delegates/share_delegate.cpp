// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/delegates/share_delegate.h"

#include "widgets/look/painting.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kShareBarHeight = 8.0;

} // namespace

ShareDelegate::ShareDelegate(int role, QObject* parent)
    : QStyledItemDelegate(parent), role_(role) {}

void ShareDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
    QStyleOptionViewItem blank = option;
    initStyleOption(&blank, index);
    const QString text = blank.text;
    blank.text.clear();
    const QWidget* widget = option.widget;
    widget->style()->drawControl(QStyle::CE_ItemViewItem, &blank, painter, widget);
    if (text.isEmpty()) {
        return;
    }
    const Theme& theme = Theme::current();
    const QFont mono = theme.font(TextStyle::Mono);
    const double figure = std::ceil(textWidth(mono, QStringLiteral("100.0 %")));
    const QRectF room = QRectF(option.rect).adjusted(8, 0, -12, 0);
    paintText(*painter, QRectF(room.right() - figure, room.top(), figure, room.height()),
              Qt::AlignRight | Qt::AlignVCenter, text, mono, theme.color(Role::Text));
    const double width = room.width() - figure - 8.0;
    if (width < 16.0) {
        return;
    }
    const double share = std::clamp(index.data(role_).toDouble() / std::max(full_, 1e-9), 0.0, 1.0);
    const QRectF bar(room.left(), std::round(room.center().y() - kShareBarHeight / 2.0), width,
                     kShareBarHeight);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    paintSurface(*painter, bar, 2.0, theme.color(Role::EmptyBar), {});
    if (share > 0.0) {
        QRectF filled = bar;
        filled.setWidth(std::max(2.0, bar.width() * share));
        paintSurface(*painter, filled, 2.0, theme.color(Role::Accent), {});
    }
    const double mark = mark_role_ < 0 ? 0.0 : index.data(mark_role_).toDouble();
    if (mark > 0.0) {
        const double at = bar.width() * std::min(1.0, mark / std::max(full_, 1e-9));
        painter->fillRect(
            QRectF(std::round(bar.left() + at) - 1.0, bar.top() - 3.0, 2.0, kShareBarHeight + 6.0),
            theme.color(Role::Text));
    }
    painter->restore();
}

} // namespace weft::widgets
