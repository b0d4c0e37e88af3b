// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/boards/cycle_slider.h"

#include <QMouseEvent>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kSliderGap = 8.0;
constexpr double kKnob = 6.0;
constexpr double kMarkDot = 2.5;
constexpr double kStepBar = 3.0;

} // namespace

CycleSlider::CycleSlider(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Cycle"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(this, &PaintedView::itemActivated, this, &CycleSlider::choose);
    connect(this, &PaintedView::cursorChanged, this, &CycleSlider::choose);
}

void CycleSlider::setCycles(int steps, int cycles_of_a_step, int after, bool halts) {
    const bool same = steps == steps_ && cycles_of_a_step == cycles_;
    steps_ = steps;
    cycles_ = cycles_of_a_step;
    after_ = after;
    halts_ = halts;
    if (!same) {
        itemsChanged();
        chosen_ = count() > 0 ? std::clamp(chosen_, 0, count() - 1) : -1;
    }
    update();
}

void CycleSlider::setChosen(int cycle) {
    choose(cycle);
    setCursorItem(chosen_);
}

void CycleSlider::choose(int cycle) {
    if (cycle >= 0 && cycle < count() && cycle != chosen_) {
        chosen_ = cycle;
        update();
        emit chosenChanged(cycle);
    }
}

void CycleSlider::setMarked(std::vector<int> cycles) {
    marked_ = std::move(cycles);
    update();
}

QSize CycleSlider::sizeHint() const {
    return {480, static_cast<int>(std::ceil(3 * captionHeight() + 10))};
}

CycleSlider::Line CycleSlider::lineFor(double width) const {
    const QFont caption = Theme::current().font(TextStyle::Caption);
    const double names = std::max(textWidth(caption, tr("Cycle")), textWidth(caption, tr("step")));
    const double figure = textWidth(Theme::current().font(TextStyle::MonoSmall),
                                    tr("%1 of %2").arg(count()).arg(count()));
    const double y = captionHeight() * 1.5;
    return {std::ceil(names) + kSliderGap + kKnob, width - figure - kSliderGap - kKnob, y,
            captionHeight() * 2.0 + 4.0, std::ceil(names)};
}

double CycleSlider::xOf(const Line& line, int cycle) const {
    return line.left + (line.right - line.left) * (cycle + 1) / std::max(1, count());
}

ViewItem CycleSlider::item(int index) const {
    const Line line = lineFor(width());
    const double x = xOf(line, index);
    return {QRectF(x - kKnob, line.y - kKnob, 2 * kKnob, 2 * kKnob),
            tr("cycle %1 of %2, step %3")
                .arg(index + 1)
                .arg(count())
                .arg(index / std::max(1, cycles_) + 1),
            {}};
}

int CycleSlider::hitTest(const QPointF& position) const {
    if (count() == 0 || !rect().contains(position.toPoint())) {
        return -1;
    }
    const Line line = lineFor(width());
    const double share = (position.x() - line.left) / std::max(1.0, line.right - line.left);
    return std::clamp(static_cast<int>(std::lround(share * count())) - 1, 0, count() - 1);
}

void CycleSlider::mouseMoveEvent(QMouseEvent* event) {
    PaintedView::mouseMoveEvent(event);
    if (event->buttons() & Qt::LeftButton) {
        setChosen(hitTest(event->position()));
    }
}

// A bar for each step, filled as far as has been gone; its number below where there is room.
void CycleSlider::paintSteps(QPainter& painter, const Line& line) const {
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::MonoSmall);
    const double each = (line.right - line.left) / steps_;
    const double room = textWidth(font, QString::number(steps_)) + 6.0;
    const int every = std::max(1, static_cast<int>(std::ceil(room / each)));
    for (int step = 0; step < steps_; ++step) {
        const double x = line.left + step * each;
        const double gone =
            std::clamp((chosen_ + 1 - step * cycles_) / static_cast<double>(cycles_), 0.0, 1.0);
        const QRectF bar(x, line.steps - kStepBar, each - 2.0, kStepBar);
        painter.fillRect(bar, theme.color(step < after_ ? Role::Border : Role::EmptyBar));
        painter.fillRect(QRectF(bar.topLeft(), QSizeF(bar.width() * gone, bar.height())),
                         theme.color(Role::Accent));
        if ((step + 1) % every == 0 || every == 1) {
            paintText(painter, QRectF(x, line.steps + 1, each, captionHeight()), Qt::AlignCenter,
                      QString::number(step + 1), font,
                      theme.color(step < after_ ? Role::Text : Role::Muted), Qt::ElideNone);
        }
    }
}

void CycleSlider::paintStop(QPainter& painter, const Line& line, double width) const {
    const Theme& theme = Theme::current();
    const double x = xOf(line, after_ * cycles_ - 1);
    const QColor color = theme.color(halts_ ? Role::Success : Role::Muted);
    paintHairline(painter, {x, 2.0}, {x, line.steps}, color);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPolygon(QPolygonF{QPointF(x, 2.0), QPointF(x + 8.0, 2.0), QPointF(x + 5.5, 5.5),
                                  QPointF(x + 8.0, 9.0), QPointF(x, 9.0)});
    painter.setBrush(Qt::NoBrush);
    const QString words = !halts_ ? tr("goes on to the end")
                          : after_ == steps_
                              ? tr("stops here")
                              : tr("stops here; evaluation goes on to %1").arg(steps_);
    const QFont font = theme.font(TextStyle::Caption);
    const double needed = textWidth(font, words);
    const bool behind = x + 12.0 + needed <= width;
    const QRectF rect(behind ? x + 12.0 : std::max(0.0, x - 6.0 - needed), 0, needed + 1,
                      captionHeight());
    paintText(painter, rect, Qt::AlignLeft | Qt::AlignVCenter, words, font, color);
}

void CycleSlider::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (count() == 0) {
        return;
    }
    const Theme& theme = Theme::current();
    const Line line = lineFor(view_size.width());
    const QFont caption = theme.font(TextStyle::Caption);
    const double high = captionHeight();
    paintText(painter, QRectF(0, line.y - high / 2, line.names, high),
              Qt::AlignLeft | Qt::AlignVCenter, tr("Cycle"), caption, theme.color(Role::Text));
    paintText(painter, QRectF(0, line.steps + 1, line.names, high),
              Qt::AlignLeft | Qt::AlignVCenter, tr("step"), caption, theme.color(Role::Muted));
    const double chosen = xOf(line, chosen_);
    painter.setPen(QPen(theme.color(Role::Border), 2.0));
    painter.drawLine(QPointF(line.left, line.y), QPointF(line.right, line.y));
    painter.setPen(QPen(theme.color(Role::Accent), 2.0));
    painter.drawLine(QPointF(line.left, line.y), QPointF(chosen, line.y));
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.color(Role::Muted));
    for (const int cycle : marked_) {
        painter.drawEllipse(QPointF(xOf(line, cycle), line.y), kMarkDot, kMarkDot);
    }
    painter.setBrush(Qt::NoBrush);
    paintStop(painter, line, view_size.width());
    paintSteps(painter, line);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.color(Role::Accent));
    painter.drawEllipse(QPointF(chosen, line.y), kKnob, kKnob);
    painter.setBrush(Qt::NoBrush);
    paintText(
        painter,
        QRectF(line.right + kKnob, line.y - high / 2, view_size.width() - line.right - kKnob, high),
        Qt::AlignRight | Qt::AlignVCenter, tr("%1 of %2").arg(chosen_ + 1).arg(count()),
        theme.font(TextStyle::MonoSmall), theme.color(Role::Text), Qt::ElideNone);
}

} // namespace weft::widgets
