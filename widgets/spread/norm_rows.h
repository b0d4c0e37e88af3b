// SPDX-License-Identifier: GPL-3.0-or-later
// A number of each layer over a few steps: a line a layer, all on one logarithmic scale, its last
// number at the right. What is not finite is marked at its step.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

struct NormRow {
    QString name;
    std::vector<double> values; // one a step; NaN: not known, or not finite
    std::vector<bool> bad;      // not finite
};

class NormRows : public PaintedView {
    Q_OBJECT
public:
    explicit NormRows(QWidget* parent = nullptr);

    void setRows(std::vector<NormRow> rows, std::vector<qint64> steps);
    const std::vector<NormRow>& rows() const { return rows_; }

    /// Items are rows.
    int itemCount() const override { return static_cast<int>(rows_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    struct Room; // of names, lines and figures
    Room room(double width) const;
    double rowHeight() const;
    QString lastOf(const NormRow& row) const;
    void paintLine(QPainter& painter, const NormRow& row, const QRectF& place) const;

    std::vector<NormRow> rows_;
    std::vector<qint64> steps_;
    double low_ = 0, high_ = 0; // logarithms of the least and the largest
};

} // namespace weft::widgets
