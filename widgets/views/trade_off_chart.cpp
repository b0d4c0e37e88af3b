// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/trade_off_chart.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kLeftPad = 12.0;
constexpr double kAxisNumberGap = 8.0; // between a number and its axis
constexpr double kTradeOffTop = 14.0;
constexpr double kTradeOffRight = 20.0;

double roundStep(double range, int count) {
    const double raw = range / std::max(1, count);
    const double decade = std::pow(10.0, std::floor(std::log10(std::max(raw, 1e-12))));
    const double mantissa = raw / decade;
    return decade * (mantissa <= 1.0 ? 1.0 : mantissa <= 2.0 ? 2.0 : mantissa <= 5.0 ? 5.0 : 10.0);
}

} // namespace

TradeOffChart::TradeOffChart(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Memory against cost"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void TradeOffChart::setPoints(std::vector<TradeOffPoint> points) {
    points_ = std::move(points);
    std::stable_sort(points_.begin(), points_.end(),
                     [](const auto& a, const auto& b) { return a.x < b.x; });
    low_x_ = points_.empty() ? 0.0 : points_.front().x;
    high_x_ = points_.empty() ? 1.0 : points_.back().x;
    const double margin = std::max((high_x_ - low_x_) * 0.08, high_x_ * 0.01);
    low_x_ -= margin;
    high_x_ += margin > 0.0 ? margin : 1.0;
    high_y_ = 1.0;
    for (const TradeOffPoint& point : points_) {
        high_y_ = std::max(high_y_, static_cast<double>(point.bytes) * 1.1);
    }
    itemsChanged();
}

void TradeOffChart::setAxis(const QString& name, bool numbers) {
    axis_name_ = name;
    axis_numbers_ = numbers;
    update();
}

void TradeOffChart::setStale(bool stale) {
    if (stale != stale_) {
        stale_ = stale;
        update();
    }
}

/// Round numbers on the memory axis; the highest has the unit.
std::vector<TradeOffChart::Tick> TradeOffChart::memoryTicks() const {
    double unit = 1.0;
    int power = 0;
    while (power < 4 && high_y_ >= unit * 1024.0) {
        unit *= 1024.0;
        ++power;
    }
    static const char* const kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    const double step = roundStep(high_y_ / unit, 3);
    const int decimals = step >= 1.0 ? 0 : static_cast<int>(std::ceil(-std::log10(step)));
    std::vector<Tick> out;
    for (int i = 0; i * step * unit <= high_y_; ++i) {
        out.push_back({i * step * unit, QString::number(i * step, 'f', decimals)});
    }
    out.back().text += QLatin1Char(' ') + QString::fromLatin1(kUnits[power]);
    return out;
}

QRectF TradeOffChart::plotRect(const QSizeF& view_size) const {
    const QFont mono = Theme::current().font(TextStyle::MonoSmall);
    double numbers = 0;
    for (const Tick& tick : memoryTicks()) {
        numbers = std::max(numbers, std::ceil(textWidth(mono, tick.text)));
    }
    const double left = kLeftPad + numbers + kAxisNumberGap;
    const double bottom = view_size.height() - captionHeight() - 8.0;
    return {left, kTradeOffTop, std::max(1.0, view_size.width() - left - kTradeOffRight),
            std::max(1.0, bottom - kTradeOffTop)};
}

QPointF TradeOffChart::place(const TradeOffPoint& point, const QRectF& plot) const {
    return {plot.left() + plot.width() * (point.x - low_x_) / (high_x_ - low_x_),
            plot.bottom() - plot.height() * static_cast<double>(point.bytes) / high_y_};
}

ViewItem TradeOffChart::item(int index) const {
    const TradeOffPoint& point = points_[static_cast<std::size_t>(index)];
    const QPointF center = place(point, plotRect(size()));
    return {QRectF(center.x() - 9, center.y() - 9, 18, 18), point.name, point.name};
}

void TradeOffChart::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (points_.empty()) {
        return;
    }
    const Theme& theme = Theme::current();
    const QRectF plot = plotRect(view_size);
    painter.save();
    painter.setOpacity(stale_ ? kStaleOpacity : 1.0);
    paintAxes(painter, plot);
    QPolygonF line;
    for (const TradeOffPoint& point : points_) {
        if (point.best) {
            line << place(point, plot);
        }
    }
    painter.setPen(QPen(theme.color(Role::Muted), 1.0));
    painter.drawPolyline(line);
    for (int i = 0; i < itemCount(); ++i) {
        const TradeOffPoint& point = points_[static_cast<std::size_t>(i)];
        const bool accent = point.current || i == hoveredItem() || i == cursorItem();
        const double radius = point.current ? 5.5 : accent ? 4.5 : 3.0;
        painter.setPen(QPen(theme.color(accent ? Role::Accent : Role::Muted), accent ? 1.6 : 1.0));
        painter.setBrush(point.current ? theme.color(Role::Accent)
                         : point.best  ? theme.color(accent ? Role::Surface : Role::Muted)
                                       : theme.color(Role::Surface));
        painter.drawEllipse(place(point, plot), radius, radius);
    }
    paintLabels(painter, plot);
    painter.restore();
}

void TradeOffChart::paintAxes(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const double line = captionHeight();
    for (const Tick& tick : memoryTicks()) {
        const double y = std::round(plot.bottom() - plot.height() * tick.bytes / high_y_);
        paintHairline(painter, {plot.left(), y}, {plot.right(), y},
                      theme.color(tick.bytes == 0 ? Role::Border : Role::Hairline));
        paintText(painter, QRectF(0, y - line / 2.0, plot.left() - kAxisNumberGap, line),
                  Qt::AlignRight | Qt::AlignVCenter, tick.text, mono, theme.color(Role::Muted),
                  Qt::ElideNone);
    }
    const double x_step = roundStep(high_x_ - low_x_, 4);
    const int x_decimals = x_step >= 1.0 ? 0 : static_cast<int>(std::ceil(-std::log10(x_step)));
    const QRectF row(0, plot.bottom() + 6.0, plot.right() + kTradeOffRight, line);
    const double name_left =
        row.right() - textWidth(theme.font(TextStyle::Caption), axis_name_) - 4.0;
    for (double x = std::ceil(low_x_ / x_step) * x_step; axis_numbers_ && x <= high_x_;
         x += x_step) {
        const double at = plot.left() + plot.width() * (x - low_x_) / (high_x_ - low_x_);
        const QString text = QString::number(x, 'f', x_decimals);
        const double half = textWidth(mono, text) / 2.0;
        if (at + half + 8.0 < name_left) {
            paintText(painter, QRectF(at - half, row.top(), half * 2.0, line), Qt::AlignHCenter,
                      text, mono, theme.color(Role::Muted), Qt::ElideNone);
        }
    }
    paintText(painter, row, Qt::AlignRight, axis_name_, theme.font(TextStyle::Caption),
              theme.color(Role::Muted), Qt::ElideNone);
}

// A label stands right of its point, left of it at the edge, and is left out where another stands.
void TradeOffChart::paintLabels(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const double line = captionHeight();
    std::vector<QRectF> taken;
    for (const TradeOffPoint& point : points_) {
        taken.push_back(QRectF(place(point, plot) - QPointF(5, 5), QSizeF(10, 10)));
    }
    const auto free = [&](const QRectF& rect) {
        return rect.left() >= plot.left() && rect.right() <= plot.right() + kTradeOffRight &&
               rect.top() >= 0.0 &&
               std::none_of(taken.begin(), taken.end(),
                            [&](const QRectF& other) { return other.intersects(rect); });
    };
    for (const TradeOffPoint& point : points_) {
        if (point.label.isEmpty()) {
            continue;
        }
        const QPointF at = place(point, plot);
        const double width = std::ceil(textWidth(caption, point.label)) + 2.0;
        const QRectF places[] = {QRectF(at.x() + 9, at.y() - line, width, line),
                                 QRectF(at.x() - 9 - width, at.y() - line, width, line),
                                 QRectF(at.x() - width / 2.0, at.y() - line - 8.0, width, line),
                                 QRectF(at.x() - width / 2.0, at.y() + 8.0, width, line)};
        for (const QRectF& rect : places) {
            if (free(rect)) {
                paintText(painter, rect, Qt::AlignLeft | Qt::AlignVCenter, point.label, caption,
                          theme.color(point.current ? Role::Text : Role::Muted), Qt::ElideNone);
                taken.push_back(rect);
                break;
            }
        }
    }
}

} // namespace weft::widgets
