// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/delegates/mark_delegate.h"

#include "widgets/look/painting.h"

namespace weft::widgets {
namespace {

constexpr int kRoom = 14;
constexpr double kMarkRadius = 3.5;

} // namespace

MarkDelegate::MarkDelegate(int role, QObject* parent) : QStyledItemDelegate(parent), role_(role) {}

void MarkDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
    const int mark = index.data(role_).toInt();
    QStyledItemDelegate::paint(painter, option, index);
    if (mark == None) {
        return;
    }
    const Theme& theme = Theme::current();
    const QPointF center(option.rect.right() - kRoom / 2.0, option.rect.center().y() + 0.5);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    // Clear of a long name under it.
    painter->setPen(
        QPen(theme.color(option.state & QStyle::State_Selected ? Role::AccentTint : Role::Surface),
             4.0));
    painter->setBrush(Qt::NoBrush);
    painter->drawEllipse(center, kMarkRadius + 2.0, kMarkRadius + 2.0);
    painter->setPen(QPen(theme.color(Role::Accent), 1.5));
    painter->setBrush(mark == Dot ? theme.color(Role::Accent) : theme.color(Role::Surface));
    painter->drawEllipse(center, kMarkRadius, kMarkRadius);
    painter->restore();
}

} // namespace weft::widgets
