// SPDX-License-Identifier: GPL-3.0-or-later
// Named counts as bars below each other; one can be chosen.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

struct CountBar {
    QString name;
    qint64 count = 0;
};

class BarList : public PaintedView {
    Q_OBJECT
public:
    explicit BarList(QWidget* parent = nullptr);

    /// `unit` is what is counted, in the plural: "samples".
    void setBars(std::vector<CountBar> bars, const QString& unit);
    const std::vector<CountBar>& bars() const { return bars_; }
    /// The others step back; -1: none is chosen.
    void setChosen(int index);
    int chosen() const { return chosen_; }

    int itemCount() const override { return static_cast<int>(bars_.size()); }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    double rowHeight() const;
    double nameWidth(double width) const;
    double figureWidth() const;

    std::vector<CountBar> bars_;
    QString unit_;
    qint64 total_ = 0;
    qint64 most_ = 0;
    int chosen_ = -1;
};

} // namespace weft::widgets
