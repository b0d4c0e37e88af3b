// SPDX-License-Identifier: GPL-3.0-or-later
// Who sends how much to whom: the devices of a mesh in rows along its last axis, an arrow for each
// pair. The arrow's thickness is its bytes, colour and dashes the axis. Pointing at an arrow, or
// the cursor on it, fades the others.
#pragma once

#include "widgets/views/painted_view.h"

#include <QStringList>

#include <vector>

namespace weft::widgets {

/// What one device sends to another, all its collectives over the same axes together.
struct CollectiveArrow {
    int from = 0;
    int to = 0;
    qint64 bytes = 0;
    int axes = 0; // index of CollectiveGraph::axes
    QString name; // "0 → 1: 3.0 MiB a step, 12 times, all-reduce over model"
};

struct CollectiveGraph {
    std::vector<int> mesh;    // sizes of its axes, major to minor
    std::vector<int> devices; // those drawn, ascending
    QStringList axes;         // "model", "data × model"
    std::vector<CollectiveArrow> arrows;
};

class CollectiveView : public PaintedView {
    Q_OBJECT
public:
    explicit CollectiveView(QWidget* parent = nullptr);

    void setGraph(CollectiveGraph graph);
    const CollectiveGraph& graph() const { return graph_; }
    /// Values that a newer plan will replace are drawn faint.
    void setStale(bool stale);

    /// Pixels across an arrow of so many bytes: by the logarithm, between the fewest and the most
    /// that are drawn.
    double thickness(qint64 bytes) const;
    /// The middle of an arrow, where it lies apart from its opposite.
    QPointF middle(int arrow) const;

    int itemCount() const override { return static_cast<int>(graph_.arrows.size()); }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override { return {420, 180}; }
    QSize minimumSizeHint() const override { return {200, 64}; }

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    /// Where devices stand in a view of some size.
    struct Frame {
        double left = 0;
        double top = 0;
        double pitch_x = 0;
        double pitch_y = 0;
        double radius = 0; // around a device, where arrows begin
        int columns = 1;
    };

    Frame frame(const QSizeF& view_size) const;
    int columnCount() const;
    QPointF place(int device, const Frame& frame) const;
    QPainterPath path(const CollectiveArrow& arrow, const Frame& frame) const;
    void paintArrow(QPainter& painter, const CollectiveArrow& arrow, const Frame& frame) const;
    void paintDevices(QPainter& painter, const Frame& frame) const;
    void paintLegend(QPainter& painter, const QSizeF& view_size) const;

    CollectiveGraph graph_;
    qint64 fewest_ = 0;
    qint64 most_ = 0;
    bool stale_ = false;
};

} // namespace weft::widgets
