// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/delegates/run_row_delegate.h"

#include "widgets/look/icon.h"
#include "widgets/look/painting.h"

#include <QMouseEvent>
#include <QPainter>

#include <cmath>

namespace weft::widgets {
namespace {

constexpr int kEye = 28;  // width of the eye's part, margin included
constexpr int kLine = 24; // and of the piece of line
constexpr int kRunRowGap = 8;
constexpr int kRunRowMargin = 12;

QRect eyePart(const QRect& row) {
    return {row.left() + kRunRowMargin - 4, row.top(), kEye, row.height()};
}

QRect linePart(const QRect& row) {
    return {eyePart(row).right() + 1, row.top(), kLine, row.height()};
}

} // namespace

RunRowDelegate::RunRowDelegate(QObject* parent) : QStyledItemDelegate(parent) {}

QSize RunRowDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
    return {option.rect.width(),
            static_cast<int>(lineHeight(TextStyle::Body) + lineHeight(TextStyle::Caption)) + 10};
}

void RunRowDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                           const QModelIndex& index) const {
    const Theme& theme = Theme::current();
    const bool shown = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
    const bool current = index.data(Current).toBool();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (current || option.state & QStyle::State_Selected) {
        painter->fillRect(option.rect, theme.color(current ? weft::widgets::Role::AccentTint
                                                           : weft::widgets::Role::Inset));
    } else if (option.state & QStyle::State_MouseOver) {
        painter->fillRect(option.rect, theme.color(weft::widgets::Role::Inset));
    }
    using R = weft::widgets::Role;
    QRectF eye(0, 0, size::kIcon, size::kIcon);
    eye.moveCenter(QRectF(eyePart(option.rect)).center());
    paintIcon(*painter, eye, shown ? QStringLiteral("eye") : QStringLiteral("eye-off"),
              theme.color(shown ? R::Accent : R::Muted));
    const QRectF line = linePart(option.rect);
    painter->setPen(QPen(shown ? theme.series(index.data(Color).toInt()) : theme.color(R::Border),
                         2.0, static_cast<Qt::PenStyle>(index.data(Dash).toInt())));
    painter->drawLine(QPointF(line.left(), line.center().y()),
                      QPointF(line.right(), line.center().y()));

    const QFont mono = theme.font(TextStyle::MonoSmall);
    const QString value = index.data(Value).toString();
    const QString measure = value.isEmpty() ? QString() : index.data(Measure).toString();
    const QFont caption = theme.font(TextStyle::Caption);
    const double value_width =
        value.isEmpty()
            ? 0.0
            : std::ceil(std::max(textWidth(mono, value), textWidth(caption, measure))) + kRunRowGap;
    const double left = line.right() + kRunRowGap;
    QRectF text(left, option.rect.top() + 5,
                option.rect.right() - kRunRowMargin - value_width - left,
                lineHeight(TextStyle::Body));
    paintText(*painter, text, Qt::AlignLeft | Qt::AlignVCenter,
              index.data(Qt::DisplayRole).toString(),
              theme.font(current ? TextStyle::Strong : TextStyle::Body),
              theme.color(shown ? R::Text : R::Muted));
    text.moveTop(text.bottom());
    text.setHeight(lineHeight(TextStyle::Caption));
    paintText(*painter, text, Qt::AlignLeft | Qt::AlignVCenter, index.data(Detail).toString(),
              caption, theme.color(R::Muted));
    QRectF right(option.rect.right() - kRunRowMargin - value_width, option.rect.top() + 5,
                 value_width, lineHeight(TextStyle::Body));
    paintText(*painter, right, Qt::AlignRight | Qt::AlignVCenter, value, mono,
              theme.color(shown ? R::Text : R::Muted), Qt::ElideNone);
    right.moveTop(right.bottom());
    right.setHeight(lineHeight(TextStyle::Caption));
    paintText(*painter, right, Qt::AlignRight | Qt::AlignVCenter, measure, caption,
              theme.color(R::Muted), Qt::ElideNone);
    if (option.state & QStyle::State_HasFocus && option.state & QStyle::State_KeyboardFocusChange) {
        paintFocus(*painter, QRectF(option.rect).adjusted(1, 1, -1, -1), size::kRadius);
    }
    painter->restore();
}

bool RunRowDelegate::editorEvent(QEvent* event, QAbstractItemModel* model,
                                 const QStyleOptionViewItem& option, const QModelIndex& index) {
    const auto toggle = [&] {
        const bool shown = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
        return model->setData(index, shown ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
    };
    if (event->type() == QEvent::MouseButtonRelease) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        const QPoint at = mouse->position().toPoint();
        if (mouse->button() == Qt::LeftButton && eyePart(option.rect).contains(at)) {
            return toggle();
        }
        if (mouse->button() == Qt::LeftButton && linePart(option.rect).contains(at)) {
            emit colorClicked(index, mouse->globalPosition().toPoint());
            return true;
        }
    }
    if (event->type() == QEvent::MouseButtonDblClick) {
        return true; // two clicks, not one more
    }
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Space || key == Qt::Key_Select) {
            return toggle();
        }
    }
    return false;
}

} // namespace weft::widgets
