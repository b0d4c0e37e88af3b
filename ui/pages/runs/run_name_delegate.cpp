// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/run_name_delegate.h"

#include "ui/models/run_table_model.h"
#include "widgets/look/icon.h"
#include "widgets/look/painting.h"

#include <QApplication>
#include <QMouseEvent>
#include <QPainter>

namespace weft::ui {
namespace {

constexpr int kEyeLeft = 4;
constexpr int kEyeReach = 24; // of the place that a click closes it in
constexpr int kLookLine = 14;

} // namespace

int RunNameDelegate::room() {
    return kEyeReach + kLookLine + 6;
}

void RunNameDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
    const QVariant shown = index.data(RunTableModel::LookRole);
    if (!shown.isValid()) {
        QStyledItemDelegate::paint(painter, option, index);
        return;
    }
    const auto look = shown.value<RunLook>();
    QStyleOptionViewItem name = option;
    initStyleOption(&name, index);
    const QWidget* view = option.widget;
    // The ground of the whole cell, then the name beside what stands before it.
    view->style()->drawPrimitive(QStyle::PE_PanelItemViewItem, &name, painter, view);
    const QRect cell = option.rect;
    const QPixmap eye = widgets::icon(look.shown ? "eye" : "eye-off")
                            .pixmap(QSize(16, 16), view->devicePixelRatioF());
    const int middle = cell.center().y();
    painter->save();
    painter->setClipRect(cell);
    painter->setOpacity(look.shown ? 1.0 : 0.6);
    painter->drawPixmap(cell.left() + kEyeLeft, middle - 7, eye);
    painter->setOpacity(1.0);
    const widgets::Theme& theme = widgets::Theme::current();
    painter->setPen(QPen(look.shown ? theme.series(look.slot) : theme.color(widgets::Role::Faint),
                         3.0, look.dash, Qt::FlatCap));
    painter->drawLine(QPointF(cell.left() + kEyeReach, middle + 0.5),
                      QPointF(cell.left() + kEyeReach + kLookLine, middle + 0.5));
    painter->restore();
    const QVariant color = index.data(Qt::ForegroundRole);
    widgets::paintText(*painter, QRectF(cell.adjusted(room(), 0, -4, 0)),
                       Qt::AlignLeft | Qt::AlignVCenter, name.text, name.font,
                       color.isValid() ? color.value<QColor>() : theme.color(widgets::Role::Text),
                       Qt::ElideMiddle);
}

bool RunNameDelegate::editorEvent(QEvent* event, QAbstractItemModel* model,
                                  const QStyleOptionViewItem& option, const QModelIndex& index) {
    const bool pressed = event->type() == QEvent::MouseButtonPress;
    if ((pressed || event->type() == QEvent::MouseButtonRelease ||
         event->type() == QEvent::MouseButtonDblClick) &&
        index.data(RunTableModel::LookRole).isValid()) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        if (mouse->position().x() < option.rect.left() + kEyeReach) {
            if (event->type() == QEvent::MouseButtonRelease) {
                emit eyeClicked(index);
            }
            return true; // the selection stays
        }
    }
    return QStyledItemDelegate::editorEvent(event, model, option, index);
}

} // namespace weft::ui
