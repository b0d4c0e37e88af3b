// SPDX-License-Identifier: GPL-3.0-or-later
// Moments of a run to choose from, as dots on a line: the chosen one large. With many, a slider.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

class StepDots : public PaintedView {
    Q_OBJECT
public:
    explicit StepDots(QWidget* parent = nullptr);

    /// In ascending order. Who looks at the newest goes on to the newest.
    void setSteps(std::vector<qint64> steps);
    /// Index of the chosen one; -1 when there is none.
    int chosen() const { return chosen_; }
    void setChosen(int index);

    int itemCount() const override { return static_cast<int>(steps_.size()); }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override { return {160, 24}; }
    QSize minimumSizeHint() const override { return {60, 24}; }

signals:
    /// By the user, or because a newer one came.
    void chosenChanged(int index);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;

private:
    double xOf(int index, double width) const;
    void choose(int index);

    std::vector<qint64> steps_;
    int chosen_ = -1;
};

} // namespace weft::widgets
