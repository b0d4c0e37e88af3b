// SPDX-License-Identifier: GPL-3.0-or-later
// Parallel coordinates: an axis for each setting and metric, a line for each run. The line under
// the cursor or chosen by arrow keys stands out, with its values at the axes. Where it is allowed,
// a drag along an axis brushes a stretch of it: lines that miss one are faint. A click on the axis
// takes its brush away, Escape all of them.
#pragma once

#include "widgets/views/painted_view.h"

#include <optional>
#include <vector>

namespace weft::widgets {

struct ParallelAxis {
    QString name;
    std::vector<std::optional<double>> values; // of each line; none: the line has a gap here
    std::vector<QString> texts;                // the same as they are written
    /// Texts of the places 0, 1, 2, … from the bottom; empty: an axis of numbers.
    QStringList categories;
    bool result = false; // a metric: its axis is drawn stronger
};

struct ParallelLine {
    QString name;
    int slot = -1; // colour; -1: like the many
};

class ParallelView : public PaintedView {
    Q_OBJECT
public:
    explicit ParallelView(QWidget* parent = nullptr);

    /// Every axis has a value for each line.
    void setContent(std::vector<ParallelAxis> axes, std::vector<ParallelLine> lines);
    int axisCount() const { return static_cast<int>(axes_.size()); }
    /// Numbers that span more than two orders of magnitude stand on a logarithmic axis.
    bool isLogarithmic(int axis) const;
    /// The place of a value on its axis: 0 at the bottom, 1 at the top; none where the line has a
    /// gap.
    std::optional<double> place(int axis, int line) const;

    void setBrushable(bool brushable);
    /// Of places on the axis, 0 to 1; none: all of it.
    struct Brush {
        double low = 0;
        double high = 1;
    };
    void setBrush(int axis, std::optional<Brush> brush);
    std::optional<Brush> brush(int axis) const;
    bool hasBrush() const;
    void clearBrushes();
    /// Whether a line passes every brush. Without one, all do.
    bool isBrushed(int line) const;
    /// Where an axis stands, in the widget; for a test's mouse.
    QLineF axisLine(int axis) const;

    int itemCount() const override { return static_cast<int>(lines_.size()); }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override { return {720, 260}; }
    QSize minimumSizeHint() const override { return {240, 140}; }

signals:
    void brushChanged();

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Range {
        double low = 0;
        double high = 1;
        bool logarithmic = false;
    };
    QRectF plotRect(const QSizeF& view_size) const;
    double axisX(int axis, const QRectF& plot) const;
    /// Of a text at an axis, so that it does not reach into that of the next.
    double textRoom(const QRectF& plot) const;
    QStringList categoryTexts(int axis, const QRectF& plot) const;
    /// Stretches of neighbouring axes at which the line has values.
    std::vector<QPolygonF> polylines(int line, const QRectF& plot) const;
    void paintAxes(QPainter& painter, const QRectF& plot) const;
    void paintCategories(QPainter& painter, const QRectF& plot) const;
    void paintLine(QPainter& painter, int line, const QRectF& plot, bool strong) const;
    void paintValues(QPainter& painter, int line, const QRectF& plot) const;
    QString endText(int axis, bool top) const;
    int axisAt(const QPointF& position) const;
    double placeAt(double y) const;
    void paintBrushes(QPainter& painter, const QRectF& plot) const;

    std::vector<std::optional<Brush>> brushes_; // of the axes
    bool brushable_ = false;
    int dragged_axis_ = -1;
    double drag_from_ = 0;
    bool drag_moved_ = false;
    std::vector<ParallelAxis> axes_;
    std::vector<ParallelLine> lines_;
    std::vector<Range> ranges_;
};

} // namespace weft::widgets
