// SPDX-License-Identifier: GPL-3.0-or-later
// After how many steps a model stops: a column per step, the boards that are right then below those
// that are not. A column that is far higher than the others is broken off.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

class HaltingChart : public PaintedView {
    Q_OBJECT
public:
    explicit HaltingChart(QWidget* parent = nullptr);

    /// One number of each per step.
    void setCounts(std::vector<qint64> right, std::vector<qint64> wrong);
    /// Mean number of steps; 0 without counts.
    double mean() const;

    int itemCount() const override { return static_cast<int>(right_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override { return {420, 170}; }
    QSize minimumSizeHint() const override { return {180, 110}; }

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    qint64 total(int index) const;
    double highest() const;
    QRectF plotFor(const QSizeF& view_size) const;
    void paintColumn(QPainter& painter, const QRectF& plot, int index) const;

    std::vector<qint64> right_, wrong_;
};

} // namespace weft::widgets
