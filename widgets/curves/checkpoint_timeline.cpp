// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/checkpoint_timeline.h"

#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kCheckpointFlagWidth = 10.0;
constexpr double kCheckpointFlagHeight = 16.0;

} // namespace

CheckpointTimeline::CheckpointTimeline(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Checkpoints"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    const auto choose = [this](int index) {
        if (index >= 0 && index != selected_) {
            selected_ = index;
            update();
            emit selectionChanged(index);
        }
    };
    connect(this, &PaintedView::itemActivated, this, choose);
    connect(this, &PaintedView::cursorChanged, this, choose);
}

void CheckpointTimeline::setCheckpoints(std::vector<TimelineCheckpoint> checkpoints) {
    checkpoints_ = std::move(checkpoints);
    if (selected_ >= itemCount()) {
        selected_ = -1;
    }
    itemsChanged();
}

void CheckpointTimeline::setRange(double low, double high) {
    low_ = low;
    high_ = high > low ? high : low + 1.0;
    itemsChanged();
}

void CheckpointTimeline::setMargins(int left, int right) {
    left_ = left;
    right_ = right;
    itemsChanged();
}

void CheckpointTimeline::setCaptions(const QString& left, const QString& right) {
    left_caption_ = left;
    right_caption_ = right;
    update();
}

void CheckpointTimeline::setSelected(int index) {
    selected_ = index < itemCount() ? index : -1;
    setCursorItem(selected_);
    update();
}

/// That of a chart above: it grows with the numbers of its axis.
double CheckpointTimeline::left() const {
    return static_cast<int>(left_ * Theme::current().fontScale());
}

double CheckpointTimeline::xOf(double step, double width) const {
    return left() + (width - left() - right_) * (step - low_) / (high_ - low_);
}

bool CheckpointTimeline::inRange(int index) const {
    const auto step = static_cast<double>(checkpoints_[static_cast<std::size_t>(index)].step);
    return step >= low_ && step <= high_;
}

ViewItem CheckpointTimeline::item(int index) const {
    const TimelineCheckpoint& checkpoint = checkpoints_[static_cast<std::size_t>(index)];
    QString name = tr("step %1").arg(formatCount(checkpoint.step));
    if (checkpoint.best) {
        name += tr(", best");
    }
    if (checkpoint.pinned) {
        name += tr(", pinned");
    }
    if (!checkpoint.present) {
        name += tr(", pruned");
    }
    const double x = xOf(static_cast<double>(checkpoint.step), width());
    const QString tooltip =
        checkpoint.detail.isEmpty() ? name : name + QLatin1Char('\n') + checkpoint.detail;
    return {inRange(index) ? QRectF(x - 8, 2, 16, height() - 4) : QRectF(), name, tooltip};
}

// Where flags stand close, the chosen one is over the best one and that over the others.
std::vector<int> CheckpointTimeline::paintOrder() const {
    std::vector<int> order;
    for (int i = 0; i < itemCount(); ++i) {
        if (inRange(i)) {
            order.push_back(i);
        }
    }
    const auto rank = [this](int index) {
        return index == selected_ ? 2 : checkpoints_[static_cast<std::size_t>(index)].best ? 1 : 0;
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank(a) < rank(b); });
    return order;
}

void CheckpointTimeline::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const QRectF line(0, 0, view_size.width(), view_size.height());
    paintText(painter, line.adjusted(12, 0, left() - view_size.width(), 0),
              Qt::AlignLeft | Qt::AlignVCenter, left_caption_, caption, theme.color(Role::Muted));
    double last_x = left();
    for (const int i : paintOrder()) {
        paintFlag(painter, i, view_size);
        last_x = std::max(last_x,
                          xOf(static_cast<double>(checkpoints_[static_cast<std::size_t>(i)].step),
                              view_size.width()));
    }
    const double free = view_size.width() - right_ - last_x - 24;
    if (textWidth(caption, right_caption_) <= free) {
        paintText(painter, line.adjusted(last_x + 24, 0, -right_, 0),
                  Qt::AlignLeft | Qt::AlignVCenter, right_caption_, caption,
                  theme.color(Role::Muted));
    }
}

void CheckpointTimeline::paintFlag(QPainter& painter, int index, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const TimelineCheckpoint& checkpoint = checkpoints_[static_cast<std::size_t>(index)];
    const double x = std::round(xOf(static_cast<double>(checkpoint.step), view_size.width()));
    const QPointF foot(x, std::round(view_size.height() / 2.0 + kCheckpointFlagHeight / 2.0));
    const bool accent = checkpoint.best || index == selected_;
    const QColor color = theme.color(accent ? Role::Accent : Role::Muted);
    if (index == selected_) {
        paintSurface(painter, QRectF(x - 10, 1, 20, view_size.height() - 2), size::kRadius,
                     theme.color(Role::AccentTint), {});
    } else if (index == hoveredItem()) {
        paintSurface(painter, QRectF(x - 10, 1, 20, view_size.height() - 2), size::kRadius,
                     theme.color(Role::Inset), {});
    }
    painter.setRenderHint(QPainter::Antialiasing);
    if (!checkpoint.present) {
        QPen pen(theme.color(accent ? Role::Accent : Role::Faint), 1.0);
        pen.setDashPattern({2.0, 2.0});
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        painter.drawPath(flagPath(foot + QPointF(0.5, -0.5), kCheckpointFlagWidth - 1,
                                  kCheckpointFlagHeight - 1));
        return;
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPath(flagPath(foot, kCheckpointFlagWidth, kCheckpointFlagHeight));
    if (checkpoint.best) {
        painter.setBrush(theme.color(Role::Surface));
        painter.drawPolygon(starPolygon(foot - QPointF(0, kCheckpointFlagHeight - 6.0), 3.4));
    } else if (checkpoint.pinned) {
        painter.setBrush(theme.color(Role::Surface));
        painter.drawEllipse(foot - QPointF(0, kCheckpointFlagHeight - 5.5), 1.8, 1.8);
    }
}

} // namespace weft::widgets
