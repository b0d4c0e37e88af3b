// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels against the ceilings of a machine: arithmetic intensity (FLOP a byte, x) against achieved
// rate (FLOP/s, y), both logarithmic; the slope is what memory can feed, the flat parts what the
// units compute (S. Williams et al., "Roofline", CACM 52(4), 2009). The area of a point is its
// time.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

struct RooflinePoint {
    double intensity = 0; // FLOP a byte, > 0
    double rate = 0;      // FLOP/s, > 0
    double share = 0;     // of the time, 0 to 1
    QString label;        // drawn beside it when there is room
    QString name;         // what a screen reader and the tooltip say
};

struct RooflineCeiling {
    double rate = 0; // FLOP/s
    QString label;   // "bf16 7.1 TFLOP/s"
};

class RooflineChart : public PaintedView {
    Q_OBJECT
public:
    explicit RooflineChart(QWidget* parent = nullptr);

    /// `bandwidth` in bytes a second, 0 where it is not known; ceilings in any order.
    void setData(std::vector<RooflinePoint> points, std::vector<RooflineCeiling> ceilings,
                 double bandwidth, const QString& bandwidth_label);
    const std::vector<RooflinePoint>& points() const { return points_; }
    /// The point that stands out; -1: none.
    void setMarked(int point);

    /// Where a point of these values is drawn in a view of some size.
    QPointF place(double intensity, double rate, const QSizeF& view_size) const;
    int itemCount() const override { return static_cast<int>(points_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override { return {320, 240}; }
    QSize minimumSizeHint() const override { return {200, 130}; }

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    /// Decades that are shown.
    struct Range {
        double low = 0; // log10
        double high = 1;
    };
    QRectF plotRect(const QSizeF& view_size) const;
    double radius(const RooflinePoint& point) const;
    void paintAxes(QPainter& painter, const QRectF& plot, const QSizeF& view_size) const;
    void paintCeilings(QPainter& painter, const QRectF& plot, const QSizeF& view_size) const;
    void paintPoints(QPainter& painter, const QRectF& plot, const QSizeF& view_size) const;

    std::vector<RooflinePoint> points_; // the largest first: small ones stay visible
    std::vector<RooflineCeiling> ceilings_;
    double bandwidth_ = 0;
    QString bandwidth_label_;
    Range x_;
    Range y_;
    int marked_ = -1;
};

} // namespace weft::widgets
