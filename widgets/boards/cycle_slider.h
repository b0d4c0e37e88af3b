// SPDX-License-Identifier: GPL-3.0-or-later
// A moment out of all cycles of all steps of a model, the steps below, and a flag where it stops.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

class CycleSlider : public PaintedView {
    Q_OBJECT
public:
    explicit CycleSlider(QWidget* parent = nullptr);

    /// `after`: the step at whose end the model stops, counted from 1; `halts`: of its own accord.
    void setCycles(int steps, int cycles_of_a_step, int after, bool halts);
    int count() const { return steps_ * cycles_; }
    /// The cycle that is shown, from 0; -1: there is none.
    int chosen() const { return chosen_; }
    void setChosen(int cycle);
    /// Cycles that are marked on the line.
    void setMarked(std::vector<int> cycles);

    int itemCount() const override { return count(); }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

signals:
    void chosenChanged(int cycle);

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    struct Line {
        double left = 0, right = 0, y = 0, steps = 0, names = 0;
    };
    Line lineFor(double width) const;
    double xOf(const Line& line, int cycle) const;
    void choose(int cycle);
    void paintSteps(QPainter& painter, const Line& line) const;
    void paintStop(QPainter& painter, const Line& line, double width) const;

    int steps_ = 0, cycles_ = 0, after_ = 0;
    bool halts_ = false;
    int chosen_ = -1;
    std::vector<int> marked_;
};

} // namespace weft::widgets
