// SPDX-License-Identifier: GPL-3.0-or-later
// A learning-rate curve at a glance, with the point where a resumed run enters it again.
#pragma once

#include "widgets/views/painted_view.h"

#include <optional>
#include <span>
#include <vector>

namespace weft::widgets {

class LrCurve : public PaintedView {
    Q_OBJECT
public:
    explicit LrCurve(QWidget* parent = nullptr);

    /// The curve as the engine's own schedule computes it; x ascending.
    void setCurve(std::span<const double> x, std::span<const double> y);
    /// What lies before `x` is drawn as done (muted), what follows in accent.
    void setReentry(std::optional<double> x, const QString& label = {});
    double valueAt(double x) const;

    int itemCount() const override { return reentry_ ? 1 : 0; }
    ViewItem item(int index) const override;
    QSize sizeHint() const override { return {280, 80}; }
    QSize minimumSizeHint() const override { return {120, 48}; }

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    QPointF toScene(double x, double y, const QSizeF& view_size) const;

    std::vector<double> x_;
    std::vector<double> y_;
    std::optional<double> reentry_;
    QString label_;
};

} // namespace weft::widgets
