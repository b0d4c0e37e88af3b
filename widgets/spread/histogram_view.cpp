// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/spread/histogram_view.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kHistogramPlot = 48; // height of the bars
constexpr double kHistogramGap = 1;   // between two
constexpr double kAxisGap = 3;

} // namespace

HistogramView::HistogramView(QWidget* parent) : PaintedView(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void HistogramView::setCounts(std::vector<qint64> counts, double low, double high) {
    counts_ = std::move(counts);
    low_ = low;
    high_ = high;
    most_ = counts_.empty() ? 0 : *std::max_element(counts_.begin(), counts_.end());
    setAccessibleDescription(tr("from %1 to %2").arg(formatNumber(low_), formatNumber(high_)));
    itemsChanged();
}

ViewItem HistogramView::item(int index) const {
    const double width = (high_ / 2 - low_ / 2) / static_cast<double>(counts_.size());
    const auto edge = [&](int at) { return low_ + 2 * width * at; };
    return {barRect(index, size()),
            tr("%1 from %2 to %3")
                .arg(formatCount(counts_[static_cast<std::size_t>(index)]),
                     formatNumber(edge(index)), formatNumber(edge(index + 1))),
            {}};
}

QSize HistogramView::sizeHint() const {
    return {260, static_cast<int>(std::ceil(kHistogramPlot + kAxisGap + captionHeight()))};
}

QSize HistogramView::minimumSizeHint() const {
    return {120, sizeHint().height()};
}

// Whole pixels: bars of one width, whatever is left stays at the right.
QRectF HistogramView::barRect(int index, const QSizeF& view_size) const {
    const double step = view_size.width() / static_cast<double>(counts_.size());
    const double left = std::round(step * index);
    const double right = std::round(step * (index + 1)) - kHistogramGap;
    return {left, 0, std::max(1.0, right - left), kHistogramPlot};
}

void HistogramView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    for (int i = 0; i < itemCount(); ++i) {
        const qint64 count = counts_[static_cast<std::size_t>(i)];
        if (count == 0) {
            continue;
        }
        const QRectF room = barRect(i, view_size);
        const double share =
            std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(most_));
        const double height = std::max(2.0, std::round(room.height() * share));
        painter.fillRect(QRectF(room.left(), room.bottom() - height, room.width(), height),
                         theme.color(i == hoveredItem() ? Role::Text : Role::Accent));
    }
    paintHairline(painter, QPointF(0, kHistogramPlot), QPointF(view_size.width(), kHistogramPlot),
                  theme.color(Role::Border));
    const QFont font = theme.font(TextStyle::MonoSmall);
    const QRectF axis(0, kHistogramPlot + kAxisGap, view_size.width(), captionHeight());
    const QColor muted = theme.color(Role::Muted);
    paintText(painter, axis, Qt::AlignLeft | Qt::AlignVCenter, formatNumber(low_), font, muted);
    if (high_ != low_) {
        paintText(painter, axis, Qt::AlignRight | Qt::AlignVCenter, formatNumber(high_), font,
                  muted);
    }
}

} // namespace weft::widgets
