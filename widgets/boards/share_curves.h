// SPDX-License-Identifier: GPL-3.0-or-later
// Shares by step as lines, one for each of some moments of a run: the last one strong, with dots,
// earlier ones faint, each with its name at its end.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

struct ShareCurve {
    QString name;               // "step 1,600"
    std::vector<double> shares; // 0 to 1, one per step
};

class ShareCurves : public PaintedView {
    Q_OBJECT
public:
    explicit ShareCurves(QWidget* parent = nullptr);

    /// In ascending order; all have as many steps.
    void setCurves(std::vector<ShareCurve> curves);
    /// The step that a line marks, from 0; -1: none.
    void setMarked(int step);

    /// Points of the strong curve.
    int itemCount() const override;
    ViewItem item(int index) const override;
    QSize sizeHint() const override { return {420, 170}; }
    QSize minimumSizeHint() const override { return {180, 110}; }

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    double top() const;
    QRectF plotFor(const QSizeF& view_size) const;
    QPointF point(const QRectF& plot, int step, double share) const;
    void paintGrid(QPainter& painter, const QRectF& plot) const;
    void paintCurve(QPainter& painter, const QRectF& plot, const ShareCurve& curve,
                    bool strong) const;

    std::vector<ShareCurve> curves_;
    int marked_ = -1;
};

} // namespace weft::widgets
