// SPDX-License-Identifier: GPL-3.0-or-later
// Named counts as bars below each other; one can be chosen. A line between two of them may mark a
// bound.
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
    /// Bars that nothing follows from when they are clicked.
    void setChoosable(bool choosable) { choosable_ = choosable; }
    /// A named line above a bar; below the last one where `bar` is their number; -1: none.
    void setMark(int bar, const QString& name);
    int mark() const { return mark_; }
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
    double rowTop(int index) const;
    double nameWidth(double width) const;
    double figureWidth() const;

    std::vector<CountBar> bars_;
    QString unit_;
    qint64 total_ = 0;
    qint64 most_ = 0;
    int chosen_ = -1;
    bool choosable_ = true;
    int mark_ = -1;
    QString mark_name_;
};

} // namespace weft::widgets
