// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/mesh/dense_band.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

/// Colours by their shares of a column.
class Mean {
public:
    void add(QRgb color, double share) {
        red_ += qRed(color) * share;
        green_ += qGreen(color) * share;
        blue_ += qBlue(color) * share;
        filled_ += share;
    }
    QRgb with(QRgb rest) {
        add(rest, std::max(0.0, 1.0 - filled_));
        const auto channel = [](double value) {
            return std::clamp(static_cast<int>(std::lround(value)), 0, 255);
        };
        return qRgb(channel(red_), channel(green_), channel(blue_));
    }

private:
    double red_ = 0;
    double green_ = 0;
    double blue_ = 0;
    double filled_ = 0;
};

} // namespace

void paintDenseBand(QPainter& painter, const QRectF& place, double first, double last,
                    std::size_t begin, std::size_t behind,
                    const std::function<DenseStretch(std::size_t)>& stretch, QRgb rest) {
    const auto columns = static_cast<int>(place.width());
    const double span = (last - first) / columns;
    std::size_t next = begin;
    QRgb run_color = 0;
    int run_from = 0;
    for (int column = 0; column <= columns; ++column) {
        const double from = first + span * column;
        Mean mean;
        while (next < behind && stretch(next).to <= from) {
            ++next;
        }
        for (std::size_t i = next; i < behind; ++i) {
            const DenseStretch one = stretch(i);
            if (one.from >= from + span) {
                break;
            }
            mean.add(one.color, (std::min(one.to, from + span) - std::max(one.from, from)) / span);
        }
        const QRgb color = column < columns ? mean.with(rest) : 0;
        if (color != run_color) {
            if (column > run_from) {
                painter.fillRect(
                    QRectF(place.left() + run_from, place.top(), column - run_from, place.height()),
                    QColor(run_color));
            }
            run_color = color;
            run_from = column;
        }
    }
}

} // namespace weft::widgets
