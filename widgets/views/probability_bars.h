// SPDX-License-Identifier: GPL-3.0-or-later
// The most probable classes of a prediction as bars, the first one strong.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

struct ProbabilityBar {
    QString name;
    double share = 0; // 0 to 1
};

class ProbabilityBars : public PaintedView {
    Q_OBJECT
public:
    explicit ProbabilityBars(QWidget* parent = nullptr);

    void setBars(std::vector<ProbabilityBar> bars);
    /// Rows for which room is kept, so that nothing jumps when bars come.
    void setRows(int rows);
    const std::vector<ProbabilityBar>& bars() const { return bars_; }

    int itemCount() const override { return static_cast<int>(bars_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    std::vector<ProbabilityBar> bars_;
    int rows_ = 5;
};

} // namespace weft::widgets
