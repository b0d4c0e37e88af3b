// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of one pixel: what they show and how they are painted. Other lines are QCustomPlot's
// graphs.
#include "widgets/curves/line_chart_private.h"

#include <QPaintEngine>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

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

void LineChart::Private::paintLines(QPainter& painter) {
    const std::vector<const DrawnLine*> lines = drawnLines();
    const QRect area = plot->axisRect()->rect();
    if (lines.empty() || area.isEmpty()) {
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
}

} // namespace weft::widgets
