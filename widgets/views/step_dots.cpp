// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/step_dots.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kStepMargin = 7.0;
constexpr double kStepDot = 2.5;
constexpr double kChosen = 6.0;
constexpr double kDense = 7.0; // pixels between dots; closer ones become a plain line

} // namespace

StepDots::StepDots(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Step"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(this, &PaintedView::itemActivated, this, &StepDots::choose);
    connect(this, &PaintedView::cursorChanged, this, &StepDots::choose);
}

void StepDots::setSteps(std::vector<qint64> steps) {
    const bool at_newest = chosen_ < 0 || chosen_ + 1 >= itemCount();
    const qint64 step =
        chosen_ >= 0 && chosen_ < itemCount() ? steps_[static_cast<std::size_t>(chosen_)] : -1;
    steps_ = std::move(steps);
    const auto same = std::find(steps_.begin(), steps_.end(), step);
    const int next = at_newest || same == steps_.end() ? itemCount() - 1
                                                       : static_cast<int>(same - steps_.begin());
    const bool moved =
        next < 0 || next != chosen_ || steps_[static_cast<std::size_t>(next)] != step;
    chosen_ = next;
    setCursorItem(chosen_);
    itemsChanged();
    if (moved) {
        emit chosenChanged(chosen_);
    }
}

void StepDots::setChosen(int index) {
    choose(index);
    setCursorItem(chosen_);
}

void StepDots::choose(int index) {
    if (index >= 0 && index < itemCount() && index != chosen_) {
        chosen_ = index;
        update();
        emit chosenChanged(index);
    }
}

double StepDots::xOf(int index, double width) const {
    const int last = itemCount() - 1;
    return last <= 0 ? width - kStepMargin
                     : kStepMargin + (width - 2 * kStepMargin) * index / static_cast<double>(last);
}

ViewItem StepDots::item(int index) const {
    const double x = xOf(index, width());
    return {QRectF(x - kStepMargin, 0, 2 * kStepMargin, height()),
            tr("step %1").arg(formatCount(steps_[static_cast<std::size_t>(index)])),
            {}};
}

// The nearest one: with many of them a dot is no target.
int StepDots::hitTest(const QPointF& position) const {
    if (steps_.empty() || !rect().contains(position.toPoint())) {
        return -1;
    }
    const double span = width() - 2 * kStepMargin;
    const double share = span > 0 ? (position.x() - kStepMargin) / span : 1.0;
    return std::clamp(static_cast<int>(std::lround(share * (itemCount() - 1))), 0, itemCount() - 1);
}

void StepDots::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (steps_.empty()) {
        return;
    }
    const Theme& theme = Theme::current();
    const double y = std::round(view_size.height() / 2.0);
    const double left = xOf(0, view_size.width());
    const double right = xOf(itemCount() - 1, view_size.width());
    painter.setPen(QPen(theme.color(Role::Border), 1.0));
    painter.drawLine(QPointF(left, y + 0.5), QPointF(right, y + 0.5));
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.color(Role::Muted));
    const bool dense = itemCount() > 1 && (right - left) / (itemCount() - 1) < kDense;
    for (int i = 0; i < itemCount() && !dense; ++i) {
        const double radius = i == hoveredItem() ? kStepDot + 1.5 : kStepDot;
        painter.drawEllipse(QPointF(xOf(i, view_size.width()), y + 0.5), radius, radius);
    }
    if (chosen_ >= 0) {
        painter.setBrush(theme.color(Role::Accent));
        painter.drawEllipse(QPointF(xOf(chosen_, view_size.width()), y + 0.5), kChosen, kChosen);
    }
    painter.setBrush(Qt::NoBrush);
}

} // namespace weft::widgets
