// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/painted_view.h"

#include "widgets/views/painted_view_accessible.h"

#include <QAccessible>
#include <QFileInfo>
#include <QHelpEvent>
#include <QImage>
#include <QMouseEvent>
#include <QSvgGenerator>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::widgets {

PaintedView::PaintedView(QWidget* parent) : QWidget(parent) {
    installPaintedViewAccessibility();
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
}

ViewItem PaintedView::item(int) const {
    return {};
}

int PaintedView::hitTest(const QPointF& position) const {
    const QPointF scene = transform_.inverted().map(position);
    for (int i = itemCount() - 1; i >= 0; --i) {
        if (item(i).rect.contains(scene)) {
            return i;
        }
    }
    return -1;
}

void PaintedView::setCursorItem(int index) {
    const int bounded = index < itemCount() ? index : -1;
    if (bounded == cursor_) {
        return;
    }
    cursor_ = bounded;
    update();
    if (cursor_ >= 0 && hasFocus()) {
        QAccessibleEvent event(this, QAccessible::Focus);
        event.setChild(cursor_);
        QAccessible::updateAccessibility(&event);
    }
    emit cursorChanged(cursor_);
}

void PaintedView::zoomBy(double factor, const QPointF& anchor) {
    QTransform next = transform_;
    next *= QTransform::fromTranslate(-anchor.x(), -anchor.y());
    next *= QTransform::fromScale(factor, factor);
    next *= QTransform::fromTranslate(anchor.x(), anchor.y());
    if (next.m11() < 1.0) {
        next = QTransform();
    }
    transform_ = next;
    update();
}

void PaintedView::resetView() {
    transform_ = QTransform();
    update();
}

void PaintedView::renderTo(QPaintDevice* device, const QSize& view_size) const {
    QPainter painter(device);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(QRect(QPoint(0, 0), view_size), Theme::current().color(Role::Surface));
    paintScene(painter, view_size);
}

bool PaintedView::exportPng(const QString& path, double scale) const {
    QImage image(size() * scale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    renderTo(&image, size());
    return image.save(path, "PNG");
}

bool PaintedView::exportSvg(const QString& path) const {
    QSvgGenerator generator;
    generator.setFileName(path);
    generator.setSize(size());
    generator.setViewBox(QRect(QPoint(0, 0), size()));
    generator.setTitle(accessibleName());
    renderTo(&generator, size());
    return QFileInfo(path).size() > 0;
}

int PaintedView::gridNeighbour(int index, int key, int columns) const {
    const int step = key == Qt::Key_Left    ? -1
                     : key == Qt::Key_Right ? 1
                     : key == Qt::Key_Up    ? -columns
                     : key == Qt::Key_Down  ? columns
                                            : 0;
    const int next = index + step;
    return next >= 0 && next < itemCount() ? next : index;
}

int PaintedView::neighbour(int index, int key) const {
    switch (key) {
    case Qt::Key_Left:
    case Qt::Key_Up: return std::max(0, index - 1);
    case Qt::Key_Right:
    case Qt::Key_Down: return std::min(itemCount() - 1, index + 1);
    default: return index;
    }
}

void PaintedView::itemsChanged() {
    if (cursor_ >= itemCount()) {
        setCursorItem(itemCount() - 1);
    }
    hovered_ = hovered_ < itemCount() ? hovered_ : -1;
    updateGeometry();
    update();
    QAccessibleEvent event(this, QAccessible::ObjectReorder);
    QAccessible::updateAccessibility(&event);
}

void PaintedView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setTransform(transform_, true);
    paintScene(painter, size());
    painter.resetTransform();
    if (keyboard_focus_ && hasFocus() && cursor_ >= 0 && cursor_ < itemCount()) {
        const QRectF rect = transform_.mapRect(item(cursor_).rect).adjusted(-2, -2, 2, 2);
        paintFocus(painter, rect.intersected(QRectF(this->rect())), size::kRadius);
    }
}

void PaintedView::mousePressEvent(QMouseEvent* event) {
    keyboard_focus_ = false;
    pressed_ = event->button() == Qt::LeftButton ? hitTest(event->position()) : -1;
    event->setAccepted(pressed_ >= 0);
}

void PaintedView::mouseMoveEvent(QMouseEvent* event) {
    setHovered(hitTest(event->position()));
}

void PaintedView::mouseReleaseEvent(QMouseEvent* event) {
    const int hit = hitTest(event->position());
    if (const int pressed = std::exchange(pressed_, -1); pressed >= 0 && hit == pressed) {
        setCursorItem(hit);
        emit itemActivated(hit); // may be the end of this view
    }
}

void PaintedView::leaveEvent(QEvent*) {
    setHovered(-1);
}

void PaintedView::wheelEvent(QWheelEvent* event) {
    if (!zoom_enabled_ || !(event->modifiers() & Qt::ControlModifier)) {
        event->ignore();
        return;
    }
    zoomBy(std::pow(1.2, event->angleDelta().y() / 120.0), event->position());
}

void PaintedView::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    const bool known = key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up ||
                       key == Qt::Key_Down || key == Qt::Key_Home || key == Qt::Key_End;
    const bool enter = key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Space;
    if (itemCount() == 0 || (!known && !enter)) {
        QWidget::keyPressEvent(event);
        return;
    }
    keyboard_focus_ = true;
    update();
    if (key == Qt::Key_Home) {
        setCursorItem(0);
    } else if (key == Qt::Key_End) {
        setCursorItem(itemCount() - 1);
    } else if (!enter) {
        setCursorItem(cursor_ < 0 ? 0 : neighbour(cursor_, key));
    } else if (cursor_ >= 0) {
        emit itemActivated(cursor_); // may be the end of this view
    }
}

void PaintedView::focusInEvent(QFocusEvent* event) {
    keyboard_focus_ =
        event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    if (keyboard_focus_ && cursor_ < 0 && itemCount() > 0) {
        setCursorItem(0);
    }
    QWidget::focusInEvent(event);
    update();
}

bool PaintedView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int hit = hitTest(help->pos());
        if (hit >= 0) {
            const ViewItem found = item(hit);
            QToolTip::showText(help->globalPos(),
                               found.tooltip.isEmpty() ? found.name : found.tooltip, this);
            return true;
        }
    }
    return QWidget::event(event);
}

void PaintedView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        updateGeometry();
        update();
    }
    QWidget::changeEvent(event);
}

void PaintedView::setHovered(int index) {
    if (index != hovered_) {
        hovered_ = index;
        update();
        emit itemHovered(index);
    }
}

} // namespace weft::widgets
