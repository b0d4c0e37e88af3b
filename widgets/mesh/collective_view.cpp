// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/mesh/collective_view.h"

#include "widgets/mesh/device_palette.h"

#include <QPainterPathStroker>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kCollectiveMargin = 12.0;
constexpr double kThinArrow = 1.25;
constexpr double kThickArrow = 5.0;
constexpr double kArrowReach = 10.0; // pixels around an arrow that count as pointing at it
constexpr double kArrowHead = 4.0;   // of an arrow's point, beside its line
constexpr double kFadedArrow = 0.18;
constexpr double kWidest = 150.0; // between devices of a row
constexpr double kHighest = 84.0;
constexpr double kDash = 26.0; // of a legend's sample
constexpr double kLegendGap = 16.0;
constexpr int kMostColumns = 16;

/// Dashes as long on thick lines as on thin ones.
QPen linePen(int axes, double width) {
    QPen out(Theme::current().series(axes), width, Qt::SolidLine, Qt::FlatCap);
    const auto pixels = [&](std::initializer_list<double> lengths) {
        QList<qreal> pattern;
        for (const double length : lengths) {
            pattern.append(length / width);
        }
        out.setDashPattern(pattern);
    };
    switch (seriesDash(axes)) {
    case Qt::DotLine: pixels({3.0, 3.0}); break;
    case Qt::DashLine: pixels({9.0, 4.0}); break;
    case Qt::DashDotLine: pixels({9.0, 3.0, 3.0, 3.0}); break;
    default: break;
    }
    return out;
}

double legendHeight() {
    return std::ceil(QFontMetricsF(Theme::current().font(TextStyle::Caption)).height()) + 10.0;
}

} // namespace

CollectiveView::CollectiveView(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("What the devices send to each other"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void CollectiveView::setGraph(CollectiveGraph graph) {
    graph_ = std::move(graph);
    fewest_ = most_ = graph_.arrows.empty() ? 0 : graph_.arrows.front().bytes;
    for (const CollectiveArrow& arrow : graph_.arrows) {
        fewest_ = std::min(fewest_, arrow.bytes);
        most_ = std::max(most_, arrow.bytes);
    }
    itemsChanged();
}

void CollectiveView::setStale(bool stale) {
    if (stale != stale_) {
        stale_ = stale;
        update();
    }
}

double CollectiveView::thickness(qint64 bytes) const {
    const double low = std::log2(static_cast<double>(std::max<qint64>(1, fewest_)));
    const double high = std::log2(static_cast<double>(std::max<qint64>(1, most_)));
    if (high <= low) {
        return (kThinArrow + kThickArrow) / 2.0;
    }
    const double at = std::log2(static_cast<double>(std::max<qint64>(1, bytes)));
    return kThinArrow +
           (kThickArrow - kThinArrow) * std::clamp((at - low) / (high - low), 0.0, 1.0);
}

// As many as the last axis has, or as fit.
int CollectiveView::columnCount() const {
    const int count = std::max(1, static_cast<int>(graph_.devices.size()));
    int devices = 1;
    for (const int size : graph_.mesh) {
        devices *= size;
    }
    const int last = graph_.mesh.empty() || count < devices ? count : graph_.mesh.back();
    return std::clamp(std::min(last, count), 1, kMostColumns);
}

CollectiveView::Frame CollectiveView::frame(const QSizeF& view_size) const {
    Frame out;
    out.columns = columnCount();
    const int count = std::max(1, static_cast<int>(graph_.devices.size()));
    const int rows = (count + out.columns - 1) / out.columns;
    const double width = std::max(1.0, view_size.width() - 2.0 * kCollectiveMargin);
    const double height = std::max(1.0, view_size.height() - legendHeight() - kCollectiveMargin);
    out.pitch_x = std::min(kWidest, width / out.columns);
    out.pitch_y = std::min(kHighest, height / rows);
    out.left = (view_size.width() - out.pitch_x * (out.columns - 1)) / 2.0;
    out.top = kCollectiveMargin / 2.0 + (height - out.pitch_y * (rows - 1)) / 2.0;
    out.radius = std::clamp(std::min(out.pitch_x, out.pitch_y) * 0.24, 7.0, 15.0);
    return out;
}

QPointF CollectiveView::place(int device, const Frame& frame) const {
    const auto found = std::lower_bound(graph_.devices.begin(), graph_.devices.end(), device);
    const auto index = static_cast<int>(found - graph_.devices.begin());
    return {frame.left + frame.pitch_x * (index % frame.columns),
            frame.top + frame.pitch_y * (index / frame.columns)};
}

// A curve to the left of its direction, so that both directions of a pair are seen; longer ways and
// later axes bend further.
QPainterPath CollectiveView::path(const CollectiveArrow& arrow, const Frame& frame) const {
    const QPointF a = place(arrow.from, frame);
    const QPointF b = place(arrow.to, frame);
    const QPointF way = b - a;
    const double length = std::max(1.0, std::hypot(way.x(), way.y()));
    const QPointF along = way / length;
    const QPointF aside(along.y(), -along.x());
    const double pitch = std::min(frame.pitch_x, frame.pitch_y);
    const double bend = std::min(0.16 * length + 6.0 + 7.0 * arrow.axes, 0.9 * pitch);
    const QPointF control = (a + b) / 2.0 + aside * bend;
    const auto towards = [&](const QPointF& from) {
        const QPointF to_control = control - from;
        const double size = std::max(1.0, std::hypot(to_control.x(), to_control.y()));
        return from + to_control / size * frame.radius;
    };
    QPainterPath out(towards(a));
    out.quadTo(control, towards(b));
    return out;
}

QPointF CollectiveView::middle(int arrow) const {
    return path(graph_.arrows[static_cast<std::size_t>(arrow)], frame(size())).pointAtPercent(0.5);
}

ViewItem CollectiveView::item(int index) const {
    const CollectiveArrow& arrow = graph_.arrows[static_cast<std::size_t>(index)];
    return {path(arrow, frame(size())).boundingRect().adjusted(-3, -3, 3, 3), arrow.name, {}};
}

// The nearest one in reach.
int CollectiveView::hitTest(const QPointF& position) const {
    const Frame now = frame(size());
    int best = -1;
    double least = kArrowReach;
    for (int i = 0; i < itemCount(); ++i) {
        const CollectiveArrow& arrow = graph_.arrows[static_cast<std::size_t>(i)];
        const QPainterPath line = path(arrow, now);
        if (!line.controlPointRect()
                 .adjusted(-kArrowReach, -kArrowReach, kArrowReach, kArrowReach)
                 .contains(position)) {
            continue;
        }
        constexpr int kSamples = 24;
        for (int k = 0; k <= kSamples; ++k) {
            const QPointF away = line.pointAtPercent(static_cast<double>(k) / kSamples) - position;
            const double distance = std::hypot(away.x(), away.y()) - thickness(arrow.bytes) / 2.0;
            if (distance < least) {
                least = distance;
                best = i;
            }
        }
    }
    return best;
}

void CollectiveView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Frame now = frame(view_size);
    painter.save();
    painter.setOpacity(stale_ ? kStaleOpacity : 1.0);
    const int chosen = hoveredItem() >= 0 ? hoveredItem() : hasFocus() ? cursorItem() : -1;
    for (int i = 0; i < itemCount(); ++i) {
        if (i != chosen) {
            painter.setOpacity((stale_ ? kStaleOpacity : 1.0) * (chosen >= 0 ? kFadedArrow : 1.0));
            paintArrow(painter, graph_.arrows[static_cast<std::size_t>(i)], now);
        }
    }
    painter.setOpacity(stale_ ? kStaleOpacity : 1.0);
    if (chosen >= 0 && chosen < itemCount()) {
        paintArrow(painter, graph_.arrows[static_cast<std::size_t>(chosen)], now);
    }
    paintDevices(painter, now);
    paintLegend(painter, view_size);
    painter.restore();
}

void CollectiveView::paintArrow(QPainter& painter, const CollectiveArrow& arrow,
                                const Frame& frame) const {
    const QPainterPath line = path(arrow, frame);
    const QPen own = linePen(arrow.axes, thickness(arrow.bytes));
    const double head = kArrowHead + own.widthF();
    // The line ends where its point begins.
    const QPointF tip = line.pointAtPercent(1.0);
    const QPointF before = line.pointAtPercent(std::max(0.0, 1.0 - head / line.length()));
    const QPointF way = tip - before;
    const double length = std::max(0.01, std::hypot(way.x(), way.y()));
    const QPointF along = way / length;
    const QPointF aside(-along.y(), along.x());
    painter.setPen(own);
    painter.setBrush(Qt::NoBrush);
    QPainterPath shown(line.elementAt(0));
    shown.quadTo(line.elementAt(1), before);
    painter.drawPath(shown);
    painter.setPen(Qt::NoPen);
    painter.setBrush(own.color());
    painter.drawPolygon(QPolygonF{tip, before + aside * (kArrowHead / 2.0 + own.widthF() / 2.0),
                                  before - aside * (kArrowHead / 2.0 + own.widthF() / 2.0)});
}

void CollectiveView::paintDevices(QPainter& painter, const Frame& frame) const {
    const std::vector<QColor> colors = devicePalette(graph_.mesh);
    const int devices = static_cast<int>(colors.size());
    const double height = std::min(20.0, 2.0 * frame.radius - 3.0);
    const double width = std::min(std::max(height, deviceBadgeWidth(devices)), frame.pitch_x - 3.0);
    for (const int device : graph_.devices) {
        const QPointF center = place(device, frame);
        const QRectF badge(std::round(center.x() - width / 2.0),
                           std::round(center.y() - height / 2.0), width, height);
        paintDeviceBadge(painter, badge, device, colors[static_cast<std::size_t>(device)]);
    }
}

void CollectiveView::paintLegend(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const double height = legendHeight();
    const double y = view_size.height() - height / 2.0;
    double x = kCollectiveMargin;
    const auto word = [&](const QString& text) {
        const double width = std::ceil(textWidth(caption, text)) + 2.0;
        paintText(painter, QRectF(x, y - height / 2.0, width, height),
                  Qt::AlignLeft | Qt::AlignVCenter, text, caption, theme.color(Role::Muted),
                  Qt::ElideNone);
        x += width;
    };
    const auto sample = [&](const QPen& line) {
        painter.setPen(line);
        painter.drawLine(QPointF(x, y), QPointF(x + kDash, y));
        x += kDash + 6.0;
    };
    for (int i = 0; i < graph_.axes.size(); ++i) {
        sample(linePen(i, 2.5));
        word(graph_.axes[i]);
        x += kLegendGap;
    }
    if (graph_.arrows.empty()) {
        return;
    }
    x += kLegendGap;
    sample(QPen(theme.color(Role::Muted), thickness(fewest_), Qt::SolidLine, Qt::FlatCap));
    word(formatMemory(fewest_));
    if (most_ > fewest_) {
        x += kLegendGap;
        sample(QPen(theme.color(Role::Muted), thickness(most_), Qt::SolidLine, Qt::FlatCap));
        word(tr("%1 a step").arg(formatMemory(most_)));
    }
}

} // namespace weft::widgets
