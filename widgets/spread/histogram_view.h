// SPDX-License-Identifier: GPL-3.0-or-later
// How many numbers of an array lie where between its lowest and its highest: bars over an axis that
// names the two. Heights are logarithmic, so that one number far away still shows.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

class HistogramView : public PaintedView {
    Q_OBJECT
public:
    explicit HistogramView(QWidget* parent = nullptr);

    /// Counts in equal parts of the range; none: all numbers are the same.
    void setCounts(std::vector<qint64> counts, double low, double high);
    const std::vector<qint64>& counts() const { return counts_; }

    /// Items are bars.
    int itemCount() const override { return static_cast<int>(counts_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    QRectF barRect(int index, const QSizeF& view_size) const;

    std::vector<qint64> counts_;
    qint64 most_ = 0;
    double low_ = 0;
    double high_ = 0;
};

} // namespace weft::widgets
