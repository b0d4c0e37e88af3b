// SPDX-License-Identifier: GPL-3.0-or-later
// Rings at the points of a series: a long run has a thousand evaluations, and to stroke as many
// circles takes longer than all the rest of a chart. On screen a few of them are stroked, one for
// each place of its centre within a pixel, and stamped wherever a point lies.
#include "widgets/curves/line_chart_private.h"

#include <QPaintEngine>

#include <array>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kRingRadius = 4.0;
constexpr double kStroke = 2.0;
constexpr double kRingReach = kRingRadius + kStroke / 2.0 + 1.0; // with its soft edge
constexpr int kPlaces = 4;                                       // within a pixel, each way

struct Ring {
    QColor stroke;
    QColor fill;

    void paint(QPainter& painter, const QPointF& center) const {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(stroke, kStroke));
        painter.setBrush(fill);
        painter.drawEllipse(center, kRingRadius, kRingRadius);
    }
};

/// A ring as pictures, `ratio` of their pixels for each of the painter's.
class Stamps {
public:
    Stamps(const Ring& ring, double ratio)
        : ring_(ring), ratio_(ratio),
          side_(2 * static_cast<int>(std::ceil(kRingReach * ratio)) + 1) {}

    void paint(QPainter& painter, const QPointF& center) {
        const QPointF at = center * ratio_;
        const QPointF pixel(std::floor(at.x()), std::floor(at.y()));
        const auto column = static_cast<std::size_t>((at.x() - pixel.x()) * kPlaces);
        const auto row = static_cast<std::size_t>((at.y() - pixel.y()) * kPlaces);
        QImage& stamp = stamps_[row * kPlaces + column];
        if (stamp.isNull()) {
            stamp = stamped(column, row);
        }
        const QPointF corner = pixel - QPointF(side_ / 2, side_ / 2);
        painter.drawImage(QRectF(corner / ratio_, QSizeF(side_, side_) / ratio_), stamp,
                          stamp.rect());
    }

private:
    QImage stamped(std::size_t column, std::size_t row) const {
        QImage image(side_, side_, QImage::Format_ARGB32_Premultiplied);
        image.fill(Qt::transparent);
        QPainter painter(&image);
        painter.scale(ratio_, ratio_);
        const auto place = [&](std::size_t index) {
            return (side_ / 2 + (static_cast<double>(index) + 0.5) / kPlaces) / ratio_;
        };
        ring_.paint(painter, QPointF(place(column), place(row)));
        return image;
    }

    Ring ring_;
    double ratio_;
    int side_; // in pixels of the picture
    std::array<QImage, kPlaces * kPlaces> stamps_;
};

} // namespace

void LineChart::Private::paintRings(QPainter& painter) {
    const Theme& theme = Theme::current();
    const QRectF area = plot->axisRect()->rect();
    const QRectF seen = area.adjusted(-kRingReach, -kRingReach, kRingReach, kRingReach);
    const bool raster_engine = painter.paintEngine()->type() == QPaintEngine::Raster;
    painter.save();
    painter.setClipRect(area, Qt::IntersectClip);
    for (const auto& entry : series) {
        if (entry->spec.form != SeriesForm::Markers || !entry->isDrawn()) {
            continue;
        }
        const Ring ring{theme.series(entry->spec.slot),
                        theme.color(theme.isDark() ? Role::Text : Role::Surface)};
        Stamps stamps(ring, painter.deviceTransform().m11());
        for (const QCPGraphData& point : *entry->line->data()) {
            const QPointF center(px(point.key), py(point.value));
            if (!seen.contains(center)) {
                continue;
            }
            raster_engine ? stamps.paint(painter, center) : ring.paint(painter, center);
        }
    }
    painter.restore();
}

} // namespace weft::widgets
