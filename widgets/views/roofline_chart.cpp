// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/roofline_chart.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kRooflineTop = 10.0;
constexpr double kRooflineRight = 14.0;
constexpr double kLargestPoint = 14.0; // radius of all of the time
constexpr double kSmallestPoint = 3.0;
constexpr double kReach = 9.0; // of a hit around a small point

/// "0.01", "1", "1,000"; "1e6" where that is long.
QString decadeText(int decade) {
    if (decade < -3 || decade > 5) {
        return QStringLiteral("1e%1").arg(decade);
    }
    return decade < 0 ? QString::number(std::pow(10.0, decade), 'f', -decade)
                      : formatCount(std::llround(std::pow(10.0, decade)));
}

/// The unit of an axis of rates, so that most of its decades are short numbers.
struct RateUnit {
    int decade = 0;
    const char* name = "FLOP/s";
};
RateUnit rateUnit(double high) {
    static constexpr RateUnit kUnits[] = {
        {15, "PFLOP/s"}, {12, "TFLOP/s"}, {9, "GFLOP/s"}, {6, "MFLOP/s"}};
    for (const RateUnit& unit : kUnits) {
        if (high >= unit.decade) {
            return unit;
        }
    }
    return {};
}

/// Where a ceiling's label stands: above its line; below where the next line is so near that their
/// labels would meet.
QRectF ceilingLabel(const RooflineChart& chart, const std::vector<RooflineCeiling>& all,
                    const RooflineCeiling& ceiling, double right, const QSizeF& view_size) {
    const double line = captionHeight();
    const double y = chart.place(1.0, ceiling.rate, view_size).y();
    const bool crowded = std::any_of(all.begin(), all.end(), [&](const RooflineCeiling& other) {
        const double above = y - chart.place(1.0, other.rate, view_size).y();
        return above > 0 && above < 2.0 * line;
    });
    const double width =
        std::ceil(textWidth(Theme::current().font(TextStyle::Caption), ceiling.label)) + 2.0;
    return {right - width, crowded ? y + 1.0 : y - line - 1.0, width, line};
}

} // namespace

RooflineChart::RooflineChart(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Roofline: achieved rate against arithmetic intensity"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void RooflineChart::setData(std::vector<RooflinePoint> points,
                            std::vector<RooflineCeiling> ceilings, double bandwidth,
                            const QString& bandwidth_label) {
    points_ = std::move(points);
    std::stable_sort(points_.begin(), points_.end(),
                     [](const auto& a, const auto& b) { return a.share > b.share; });
    ceilings_ = std::move(ceilings);
    bandwidth_ = bandwidth;
    bandwidth_label_ = bandwidth_label;
    marked_ = -1;
    double low_x = 0, high_x = 0, low_y = 1e300, high_y = 1;
    for (const RooflinePoint& point : points_) {
        low_x = std::min(low_x, std::log10(point.intensity));
        high_x = std::max(high_x, std::log10(point.intensity));
        low_y = std::min(low_y, point.rate);
        high_y = std::max(high_y, point.rate);
    }
    for (const RooflineCeiling& ceiling : ceilings_) {
        high_y = std::max(high_y, ceiling.rate);
        if (bandwidth_ > 0) { // the ridge, where the slope meets it, is in sight
            high_x = std::max(high_x, std::log10(ceiling.rate / bandwidth_) + 0.5);
        }
    }
    low_y = std::min(low_y, high_y / 100);
    x_ = {std::floor(low_x - 0.1), std::ceil(high_x + 0.1)};
    y_ = {std::floor(std::log10(low_y) - 0.1), std::log10(high_y) + 0.4};
    itemsChanged();
}

void RooflineChart::setMarked(int point) {
    if (point != marked_) {
        marked_ = point;
        update();
    }
}

QRectF RooflineChart::plotRect(const QSizeF& view_size) const {
    const QFont mono = Theme::current().font(TextStyle::MonoSmall);
    double numbers = 0;
    const RateUnit unit = rateUnit(y_.high);
    for (int decade = static_cast<int>(std::ceil(y_.low)); decade <= y_.high; ++decade) {
        numbers = std::max(numbers, std::ceil(textWidth(mono, decadeText(decade - unit.decade))));
    }
    const double left = 12.0 + numbers + 8.0;
    const double top = kRooflineTop + captionHeight();
    const double bottom = view_size.height() - 2 * captionHeight() - 8.0;
    return {left, top, std::max(1.0, view_size.width() - left - kRooflineRight),
            std::max(1.0, bottom - top)};
}

QPointF RooflineChart::place(double intensity, double rate, const QSizeF& view_size) const {
    const QRectF plot = plotRect(view_size);
    const double x = (std::log10(intensity) - x_.low) / (x_.high - x_.low);
    const double y = (std::log10(rate) - y_.low) / (y_.high - y_.low);
    return {plot.left() + plot.width() * x, plot.bottom() - plot.height() * y};
}

double RooflineChart::radius(const RooflinePoint& point) const {
    return std::max(kSmallestPoint, kLargestPoint * std::sqrt(std::clamp(point.share, 0.0, 1.0)));
}

ViewItem RooflineChart::item(int index) const {
    const RooflinePoint& point = points_[static_cast<std::size_t>(index)];
    const QPointF center = place(point.intensity, point.rate, size());
    const double reach = std::max(kReach, radius(point));
    return {QRectF(center.x() - reach, center.y() - reach, 2 * reach, 2 * reach), point.name,
            point.name};
}

void RooflineChart::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (points_.empty() && ceilings_.empty()) {
        return;
    }
    const QRectF plot = plotRect(view_size);
    painter.save();
    paintAxes(painter, plot, view_size);
    painter.setRenderHint(QPainter::Antialiasing);
    paintCeilings(painter, plot, view_size);
    paintPoints(painter, plot, view_size);
    painter.restore();
}

void RooflineChart::paintAxes(QPainter& painter, const QRectF& plot,
                              const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const QFont caption = theme.font(TextStyle::Caption);
    const QColor ink = theme.color(Role::Muted);
    const double line = captionHeight();
    const RateUnit unit = rateUnit(y_.high);
    for (int decade = static_cast<int>(std::ceil(y_.low)); decade <= y_.high; ++decade) {
        const double y = std::round(place(1.0, std::pow(10.0, decade), view_size).y());
        paintHairline(painter, {plot.left(), y}, {plot.right(), y}, theme.color(Role::Hairline));
        paintText(painter, QRectF(0, y - line / 2.0, plot.left() - 8.0, line),
                  Qt::AlignRight | Qt::AlignVCenter, decadeText(decade - unit.decade), mono, ink,
                  Qt::ElideNone);
    }
    double free_from = 0;
    for (int decade = static_cast<int>(std::ceil(x_.low)); decade <= x_.high; ++decade) {
        const double x =
            std::round(place(std::pow(10.0, decade), std::pow(10.0, y_.low), view_size).x());
        paintHairline(painter, {x, plot.top()}, {x, plot.bottom()}, theme.color(Role::Hairline));
        const QString text = decadeText(decade);
        const double half = textWidth(mono, text) / 2.0;
        const double left = std::min(x - half, plot.right() + kRooflineRight - 2 * half - 2.0);
        if (left > free_from) {
            paintText(painter, QRectF(left, plot.bottom() + 4.0, 2 * half + 1.0, line),
                      Qt::AlignLeft | Qt::AlignVCenter, text, mono, ink, Qt::ElideNone);
            free_from = left + 2 * half + 6.0;
        }
    }
    paintText(painter, QRectF(12.0, 2.0, plot.width(), line), Qt::AlignLeft | Qt::AlignVCenter,
              QString::fromLatin1(unit.name), caption, ink);
    paintText(painter, QRectF(plot.left(), plot.bottom() + 4.0 + line, plot.width(), line),
              Qt::AlignRight | Qt::AlignVCenter, tr("FLOP a byte"), caption, ink);
}

void RooflineChart::paintCeilings(QPainter& painter, const QRectF& plot,
                                  const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const double line = captionHeight();
    double highest = 0;
    for (const RooflineCeiling& ceiling : ceilings_) {
        highest = std::max(highest, ceiling.rate);
    }
    painter.setPen(QPen(theme.color(Role::Text), 1.5));
    if (bandwidth_ > 0) {
        // From the left or lower edge, whichever it meets first, to the highest ceiling.
        const double most = highest > 0 ? highest : std::pow(10.0, y_.high);
        const double from = std::max(std::pow(10.0, x_.low), std::pow(10.0, y_.low) / bandwidth_);
        const QPointF start = place(from, from * bandwidth_, view_size);
        const QPointF end = place(most / bandwidth_, most, view_size);
        painter.drawLine(start, end);
        const double angle = std::atan2(end.y() - start.y(), end.x() - start.x());
        const double length = std::hypot(end.x() - start.x(), end.y() - start.y());
        const double width = std::ceil(textWidth(caption, bandwidth_label_)) + 4.0;
        if (width < length * 0.9) {
            painter.save();
            painter.translate((start + end) / 2.0);
            painter.rotate(angle * 180.0 / 3.14159265358979);
            paintText(painter, QRectF(-width / 2.0, -line - 2.0, width, line), Qt::AlignCenter,
                      bandwidth_label_, caption, theme.color(Role::Muted), Qt::ElideNone);
            painter.restore();
        }
    }
    for (const RooflineCeiling& ceiling : ceilings_) {
        const double ridge = bandwidth_ > 0 ? ceiling.rate / bandwidth_ : std::pow(10.0, x_.low);
        const QPointF left =
            place(std::max(ridge, std::pow(10.0, x_.low)), ceiling.rate, view_size);
        const bool top = ceiling.rate >= highest;
        painter.setPen(QPen(theme.color(top ? Role::Text : Role::Muted), top ? 1.5 : 1.0,
                            top ? Qt::SolidLine : Qt::DashLine));
        painter.drawLine(left, QPointF(plot.right(), left.y()));
        paintText(painter, ceilingLabel(*this, ceilings_, ceiling, plot.right(), view_size),
                  Qt::AlignRight | Qt::AlignVCenter, ceiling.label, caption,
                  theme.color(top ? Role::Text : Role::Muted), Qt::ElideNone);
    }
}

// A label stands beside its point, and is left out where another point or label stands.
void RooflineChart::paintPoints(QPainter& painter, const QRectF& plot,
                                const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const double line = captionHeight();
    std::vector<QRectF> taken;
    for (const RooflineCeiling& ceiling : ceilings_) {
        taken.push_back(ceilingLabel(*this, ceilings_, ceiling, plot.right(), view_size));
    }
    for (int i = 0; i < itemCount(); ++i) {
        const RooflinePoint& point = points_[static_cast<std::size_t>(i)];
        const QPointF at = place(point.intensity, point.rate, view_size);
        const double r = radius(point);
        const bool lit = i == hoveredItem() || i == cursorItem();
        QColor fill = theme.color(i == marked_ ? Role::Warning : Role::Accent);
        fill.setAlphaF(0.75F);
        painter.setPen(QPen(theme.color(lit ? Role::Text : Role::Surface), lit ? 1.6 : 1.0));
        painter.setBrush(fill);
        painter.drawEllipse(at, r, r);
        taken.push_back(QRectF(at.x() - r, at.y() - r, 2 * r, 2 * r));
    }
    const auto free = [&](const QRectF& rect) {
        return plot.adjusted(-2, -line, kRooflineRight, 0).contains(rect) &&
               std::none_of(taken.begin(), taken.end(),
                            [&](const QRectF& other) { return other.intersects(rect); });
    };
    for (int i = 0; i < itemCount(); ++i) {
        const RooflinePoint& point = points_[static_cast<std::size_t>(i)];
        const QPointF at = place(point.intensity, point.rate, view_size);
        const double r = radius(point) + 3.0;
        const double width = std::ceil(textWidth(caption, point.label)) + 2.0;
        for (const QRectF& rect : {QRectF(at.x() + r, at.y() - line / 2.0, width, line),
                                   QRectF(at.x() - r - width, at.y() - line / 2.0, width, line),
                                   QRectF(at.x() - width / 2.0, at.y() + r, width, line),
                                   QRectF(at.x() - width / 2.0, at.y() - r - line, width, line)}) {
            if (free(rect)) {
                paintText(painter, rect, Qt::AlignLeft | Qt::AlignVCenter, point.label, caption,
                          theme.color(i == marked_ ? Role::Text : Role::Muted), Qt::ElideNone);
                taken.push_back(rect);
                break;
            }
        }
    }
}

} // namespace weft::widgets
