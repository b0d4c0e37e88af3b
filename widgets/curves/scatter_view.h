// SPDX-License-Identifier: GPL-3.0-or-later
// One setting against one result, a dot for each run. A drag brushes a part of it: dots outside are
// faint. A click beside the dots or Escape takes the brush away.
#pragma once

#include "widgets/views/parallel_view.h"

namespace weft::widgets {

class ScatterView : public PaintedView {
    Q_OBJECT
public:
    explicit ScatterView(QWidget* parent = nullptr);

    /// As ParallelView has them: axes of numbers that span more than two orders of magnitude are
    /// logarithmic; texts stand in places of their own.
    void setContent(ParallelAxis across, ParallelAxis up, std::vector<ParallelLine> dots);
    /// Below the axis: "rank correlation -0.71 of 20 runs".
    void setCaption(const QString& caption);
    bool hasBrush() const { return brush_.has_value(); }
    void clearBrush();
    bool isBrushed(int dot) const;
    /// Where a dot stands, in the widget; none where it has no value.
    std::optional<QPointF> dotAt(int dot) const;

    int itemCount() const override { return static_cast<int>(dots_.size()); }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override { return {480, 260}; }
    QSize minimumSizeHint() const override { return {240, 140}; }

signals:
    void brushChanged();

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    /// How the values of an axis become places from 0 to 1.
    struct Scale {
        double low = 0;
        double high = 1;
        bool logarithmic = false;

        static Scale of(const ParallelAxis& axis);
        std::optional<double> place(const std::optional<double>& value) const;
        double valueAt(double place) const;
    };
    QRectF plotRect(const QSizeF& view_size) const;
    std::optional<QPointF> dotIn(int dot, const QRectF& plot) const;
    void paintAxes(QPainter& painter, const QRectF& plot) const;
    void paintDot(QPainter& painter, int dot, const QRectF& plot, bool strong) const;
    QString tickText(const ParallelAxis& axis, const Scale& scale, double place) const;

    ParallelAxis across_;
    ParallelAxis up_;
    Scale across_scale_;
    Scale up_scale_;
    std::vector<ParallelLine> dots_;
    QString caption_;
    std::optional<QRectF> brush_; // in places, 0 to 1 across and up
    std::optional<QPointF> drag_from_;
    bool drag_moved_ = false;
};

} // namespace weft::widgets
