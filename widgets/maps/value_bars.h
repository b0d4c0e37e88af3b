// SPDX-License-Identifier: GPL-3.0-or-later
// A bar for each number of a row, upwards above zero and downwards below.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

class ValueBars : public PaintedView {
    Q_OBJECT
public:
    explicit ValueBars(QWidget* parent = nullptr);

    void setValues(std::vector<float> values);
    const std::vector<float>& values() const { return values_; }

    int itemCount() const override { return static_cast<int>(values_.size()); }
    /// "unit 12: 0.530"
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override { return {420, 200}; }
    QSize minimumSizeHint() const override { return {160, 100}; }

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    struct Scale {
        QRectF room;
        double low = 0, high = 0; // of all numbers and zero
        double y(double value) const {
            return room.bottom() - (value - low) / (high - low) * room.height();
        }
    };
    Scale scaleFor(const QSizeF& view_size) const;
    QRectF bar(int index, const Scale& scale) const;

    std::vector<float> values_;
    float low_ = 0, high_ = 0;
};

} // namespace weft::widgets
