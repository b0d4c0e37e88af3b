// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/delegates/tag_delegate.h"

#include "widgets/look/painting.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {

TagDelegate::TagDelegate(int role, QObject* parent) : QStyledItemDelegate(parent), role_(role) {}

void TagDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const {
    QStyleOptionViewItem blank = option;
    initStyleOption(&blank, index);
    blank.text.clear();
    const QWidget* widget = option.widget;
    widget->style()->drawControl(QStyle::CE_ItemViewItem, &blank, painter, widget);
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::MonoSmall);
    const bool enabled = option.state & QStyle::State_Enabled;
    const double height = std::ceil(QFontMetricsF(font).height()) + 2.0;
    QRectF rest = QRectF(option.rect).adjusted(8, 0, -4, 0);
    const QStringList names = index.data(role_).toStringList();
    for (qsizetype i = 0; i < names.size(); ++i) {
        const QString& name = names[i];
        const auto more = [&](qsizetype count) { return QStringLiteral("+%1").arg(count); };
        const qsizetype after = names.size() - i - 1;
        const double kept = after > 0 ? 4.0 + std::ceil(textWidth(font, more(after))) : 0.0;
        const double wanted = std::ceil(textWidth(font, name)) + 10.0;
        if (i > 0 && wanted + kept > rest.width()) {
            paintText(*painter, rest, Qt::AlignLeft | Qt::AlignVCenter, more(after + 1), font,
                      theme.color(enabled ? Role::Muted : Role::Faint), Qt::ElideNone);
            return;
        }
        const double width = std::min(rest.width() - kept, wanted);
        if (width < height) {
            return;
        }
        const QRectF tag(rest.left(), std::round(rest.center().y() - height / 2.0), width, height);
        paintSurface(*painter, tag, size::kRadius, theme.color(Role::Surface),
                     theme.color(Role::Border));
        paintText(*painter, tag.adjusted(5, 0, -5, 0), Qt::AlignCenter, name, font,
                  theme.color(enabled ? Role::Text : Role::Faint));
        rest.setLeft(tag.right() + 4.0);
    }
}

} // namespace weft::widgets
