// SPDX-License-Identifier: GPL-3.0-or-later
// Parallel coordinates: an axis for each setting and metric, a line for each run. The line under
// the cursor or chosen by arrow keys stands out, with its values at the axes.
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

    int itemCount() const override { return static_cast<int>(lines_.size()); }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override { return {720, 260}; }
    QSize minimumSizeHint() const override { return {240, 140}; }

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;

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

    std::vector<ParallelAxis> axes_;
    std::vector<ParallelLine> lines_;
    std::vector<Range> ranges_;
};

} // namespace weft::widgets
