// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of one pixel: what they show and how they are painted. Other lines are QCustomPlot's
// graphs.
#include "widgets/curves/line_chart_private.h"

#include <QPaintEngine>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr float kBandAlpha = 0.18F;

/// Where points lie in the plot, in pixels from `origin`, `ratio` of them for each of the widget's.
class PixelMap {
public:
    PixelMap(const QCustomPlot& plot, bool log, const QPointF& origin, double ratio)
        : log_(log), x_(plot.xAxis->range()), y_(plot.yAxis->range()),
          left_((plot.xAxis->coordToPixel(x_.lower) - origin.x()) * ratio),
          per_x_(((plot.xAxis->coordToPixel(x_.upper) - origin.x()) * ratio - left_) / x_.size()),
          bottom_((plot.yAxis->coordToPixel(y_.lower) - origin.y()) * ratio),
          per_y_(((plot.yAxis->coordToPixel(y_.upper) - origin.y()) * ratio - bottom_) /
                 (log ? std::log(y_.upper / y_.lower) : y_.size())) {}

    QPointF operator()(const SeriesPoint& point) const {
        const double up = log_ ? std::log(point.y / y_.lower) : point.y - y_.lower;
        return {left_ + (point.x - x_.lower) * per_x_, bottom_ + up * per_y_};
    }

private:
    bool log_;
    QCPRange x_;
    QCPRange y_;
    double left_;
    double per_x_;
    double bottom_;
    double per_y_;
};

} // namespace

// Faint ones below, wide ones over thin ones.
std::vector<const DrawnLine*> LineChart::Private::drawnLines() const {
    std::vector<const DrawnLine*> lines;
    for (const auto which : {&ChartSeries::raw, &ChartSeries::main}) {
        const auto from = static_cast<std::ptrdiff_t>(lines.size());
        for (const auto& entry : series) {
            const DrawnLine& line = (*entry).*which;
            if (line.shown) {
                lines.push_back(&line);
            }
        }
        std::stable_sort(lines.begin() + from, lines.end(),
                         [](const auto* a, const auto* b) { return a->width < b->width; });
    }
    return lines;
}

// From the lower edge to the right and back along the upper one.
void LineChart::Private::paintBands(QPainter& painter) {
    painter.save();
    painter.setClipRect(plot->axisRect()->rect(), Qt::IntersectClip);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    const PixelMap map(*plot, log, {}, 1.0);
    for (const auto& entry : series) {
        if (!entry->band || !entry->isDrawn()) {
            continue;
        }
        QPolygonF outline;
        for (const SeriesPoint& point : entry->band->low_line.points) {
            outline << map(point);
        }
        const std::vector<SeriesPoint>& above = entry->band->high_line.points;
        for (auto point = above.rbegin(); point != above.rend(); ++point) {
            outline << map(*point);
        }
        QColor color = Theme::current().series(entry->spec.slot);
        color.setAlphaF(kBandAlpha);
        painter.setBrush(color);
        painter.drawPolygon(outline);
    }
    painter.restore();
}

// The last picture of the lines where its part of the axes lies now.
void LineChart::Private::paintPicture(QPainter& painter, const QRect& area) {
    const QPointF top_left(px(picture_x.low), py(picture_y.high));
    const QPointF bottom_right(px(picture_x.high), py(picture_y.low));
    const QSizeF whole = QSizeF(raster.image().size()) / picture_ratio;
    const QRect used = raster.used();
    if (used.isEmpty() || whole.isEmpty()) {
        return;
    }
    const double across = (bottom_right.x() - top_left.x()) / whole.width();
    const double down = (bottom_right.y() - top_left.y()) / whole.height();
    const QRectF from(QPointF(used.topLeft()) / picture_ratio, QSizeF(used.size()) / picture_ratio);
    painter.save();
    painter.setClipRect(area, Qt::IntersectClip);
    painter.drawImage(QRectF(top_left.x() + from.left() * across, top_left.y() + from.top() * down,
                             from.width() * across, from.height() * down),
                      raster.image(), used);
    painter.restore();
}

void LineChart::Private::paintHighlighted(QPainter& painter, const QRect& area) {
    const ChartSeries* entry = swift ? find(highlighted) : nullptr;
    if (entry == nullptr || !entry->main.shown) {
        return;
    }
    const PixelMap map(*plot, log, {}, 1.0);
    QPolygonF line;
    for (const SeriesPoint& point : entry->main.points) {
        line << map(point);
    }
    painter.save();
    painter.setClipRect(area, Qt::IntersectClip);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(Theme::current().color(Role::Surface), 4.5));
    painter.drawPolyline(line);
    painter.setPen(QPen(entry->main.color, 2.5));
    painter.drawPolyline(line);
    painter.restore();
}

void LineChart::Private::paintLines(QPainter& painter) {
    const QRect area = plot->axisRect()->rect();
    if (area.isEmpty()) {
        return;
    }
    paintBands(painter);
    if (picture_kept && picture_ratio > 0.0) {
        paintPicture(painter, area);
        paintHighlighted(painter, area);
        return;
    }
    const std::vector<const DrawnLine*> lines = drawnLines();
    picture_ratio = 0.0;
    if (lines.empty()) {
        return;
    }
    const bool raster_engine = painter.paintEngine()->type() == QPaintEngine::Raster;
    const double ratio = raster_engine ? painter.deviceTransform().m11() : 1.0;
    const PixelMap map(*plot, log, raster_engine ? QPointF(area.topLeft()) : QPointF(), ratio);
    const auto mapped = [&](const DrawnLine& line) -> const std::vector<QPointF>& {
        scratch_pixels.clear();
        for (const SeriesPoint& point : line.points) {
            scratch_pixels.push_back(map(point));
        }
        return scratch_pixels;
    };
    if (raster_engine) {
        raster.begin((QSizeF(area.size()) * ratio).toSize());
        for (const DrawnLine* line : lines) {
            const double width = line->width > 1.0 ? line->width * ratio : 1.0;
            raster.draw(mapped(*line), line->color, width, line->dash);
        }
        const QRect used = raster.used();
        painter.drawImage(QRectF(QPointF(area.topLeft()) + QPointF(used.topLeft()) / ratio,
                                 QSizeF(used.size()) / ratio),
                          raster.image(), used);
        picture_ratio = ratio;
        picture_x = q->xRange();
        picture_y = q->yRange();
        paintHighlighted(painter, area);
        return;
    }
    painter.save();
    painter.setClipRect(area, Qt::IntersectClip);
    for (const DrawnLine* line : lines) {
        const std::vector<QPointF>& points = mapped(*line);
        painter.setPen(QPen(line->color, line->width, line->dash));
        painter.drawPolyline(points.data(), static_cast<int>(points.size()));
    }
    painter.restore();
    paintHighlighted(painter, area);
}

} // namespace weft::widgets
