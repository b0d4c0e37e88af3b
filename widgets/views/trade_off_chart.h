// SPDX-License-Identifier: GPL-3.0-or-later
// Ways to do one thing as points of cost (x) against memory (y): the best ones joined by a line,
// the one in use filled. Clicking a point, or Enter on it, asks for it.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

struct TradeOffPoint {
    double x = 0;     // cost: milliseconds, FLOPs
    qint64 bytes = 0; // memory
    QString label;    // drawn beside the point when there is room; empty: only said
    QString name;     // what a screen reader and the tooltip say
    bool current = false;
    bool best = true; // on the line: no other point is better in both
};

class TradeOffChart : public PaintedView {
    Q_OBJECT
public:
    explicit TradeOffChart(QWidget* parent = nullptr);

    /// Sorted by x inside, so that arrow keys walk along the line.
    void setPoints(std::vector<TradeOffPoint> points);
    const std::vector<TradeOffPoint>& points() const { return points_; }
    /// Words of the axis, e.g. "ms a step". Without numbers it only says in which direction there
    /// is more.
    void setAxis(const QString& name, bool numbers = true);
    void setStale(bool stale);

    int itemCount() const override { return static_cast<int>(points_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override { return {300, 160}; }
    QSize minimumSizeHint() const override { return {200, 140}; }

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    struct Tick {
        double bytes = 0;
        QString text;
    };
    std::vector<Tick> memoryTicks() const;
    QRectF plotRect(const QSizeF& view_size) const;
    QPointF place(const TradeOffPoint& point, const QRectF& plot) const;
    void paintAxes(QPainter& painter, const QRectF& plot) const;
    void paintLabels(QPainter& painter, const QRectF& plot) const;

    std::vector<TradeOffPoint> points_;
    QString axis_name_;
    bool axis_numbers_ = true;
    double low_x_ = 0, high_x_ = 1, high_y_ = 1;
    bool stale_ = false;
};

} // namespace weft::widgets
