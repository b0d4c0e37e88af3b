// SPDX-License-Identifier: GPL-3.0-or-later
// Base of views that paint themselves (timeline, images, bars, tiles): scene transform, hit test,
// keyboard cursor, tooltips, accessible children and export are written here once.
#pragma once

#include "widgets/look/painting.h"

#include <QTransform>
#include <QWidget>

class QPaintDevice;

namespace weft::widgets {

/// One thing in a painted view that can be pointed at, named by a screen reader and reached by key.
struct ViewItem {
    QRectF rect;     // in scene coordinates
    QString name;    // what a screen reader says, e.g. "checkpoint at step 2,750, best"
    QString tooltip; // empty: the name
};

class PaintedView : public QWidget {
    Q_OBJECT
public:
    explicit PaintedView(QWidget* parent = nullptr);

    /// Number of items and one of them (0-based). Cheap: painting and hit tests call them.
    virtual int itemCount() const { return 0; }
    virtual ViewItem item(int index) const;

    /// Topmost item under a widget position, or -1. Views of thousands of items compute it.
    virtual int hitTest(const QPointF& position) const;
    /// The keyboard cursor, or -1.
    int cursorItem() const { return cursor_; }
    void setCursorItem(int index);
    int hoveredItem() const { return hovered_; }

    /// Scene to widget coordinates; identity unless the view allows zoom.
    QTransform sceneTransform() const { return transform_; }
    void setZoomEnabled(bool enabled) { zoom_enabled_ = enabled; }
    void zoomBy(double factor, const QPointF& anchor);
    void resetView();

    /// Paints the view at the given size (device-independent pixels) into any device.
    void renderTo(QPaintDevice* device, const QSize& view_size) const;
    /// Export; false when the file cannot be written.
    bool exportPng(const QString& path, double scale = 2.0) const;
    bool exportSvg(const QString& path) const;

signals:
    void cursorChanged(int index);
    /// Enter, Space, or a click on an item.
    void itemActivated(int index);
    void itemHovered(int index);

protected:
    /// Paints everything for a view of this size, in scene coordinates; must not read width().
    virtual void paintScene(QPainter& painter, const QSizeF& view_size) const = 0;
    /// The item that an arrow key leads to; default walks the list.
    virtual int neighbour(int index, int key) const;
    /// The same for items that stand in rows of `columns`; the item itself at an edge.
    int gridNeighbour(int index, int key, int columns) const;
    /// Call after items changed: keeps the cursor valid, repaints, tells assistive tools.
    void itemsChanged();

    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    bool event(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void setHovered(int index);

    QTransform transform_;
    bool zoom_enabled_ = false;
    bool keyboard_focus_ = false; // the outline shows only for those who use keys
    int cursor_ = -1;
    int hovered_ = -1;
    int pressed_ = -1;
};

} // namespace weft::widgets
