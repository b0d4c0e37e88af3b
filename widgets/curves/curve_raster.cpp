// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/curve_raster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace weft::widgets {
namespace {

// Lengths of dashes and gaps in pixels, as Qt's pens of width 1 have them.
std::span<const double> dashesOf(Qt::PenStyle style) {
    static constexpr std::array kDot = {1.0, 2.0};
    static constexpr std::array kDash = {4.0, 2.0};
    static constexpr std::array kDashDot = {4.0, 2.0, 1.0, 2.0};
    switch (style) {
    case Qt::DotLine: return kDot;
    case Qt::DashLine: return kDash;
    case Qt::DashDotLine: return kDashDot;
    default: return {};
    }
}

constexpr double kTurn = 0.5;  // pixels that a line goes back within a column before it counts
constexpr double kSteep = 2.0; // pixels a column
constexpr double kFar = 1e6;   // pixels: nothing out there is seen, and sums stay exact enough

/// Two channels of each, eight bits apart: color * part / 255 + under * (255 - part) / 255,
/// rounded.
inline unsigned blended(unsigned color, unsigned under, unsigned part) {
    const unsigned sum = color * part + under * (255 - part) + 0x800080U;
    return ((sum + ((sum >> 8) & 0xff00ffU)) >> 8) & 0xff00ffU;
}

inline void cover(QRgb& pixel, QRgb color, double share) {
    const auto part = static_cast<unsigned>(static_cast<int>(share * 255.0 + 0.5));
    const unsigned even = blended(color & 0xff00ffU, pixel & 0xff00ffU, part);
    const unsigned odd = blended((color >> 8) & 0xff00ffU, (pixel >> 8) & 0xff00ffU, part);
    pixel = even | (odd << 8);
}

/// Calls `visit` with every column of a picture that the line between two points crosses, and the
/// heights at which it enters and leaves it: neighbours share theirs.
template <class Visit>
void cross(const QPointF& from, const QPointF& to, int columns, const Visit& visit) {
    const double width = columns;
    if (to.x() < 0.0 || from.x() >= width || to.x() < from.x()) {
        return;
    }
    const double left = std::max(0.0, from.x());
    const double right = std::min(width, to.x());
    const int begin = static_cast<int>(left);
    const int last = std::min(static_cast<int>(right), columns - 1);
    if (begin == last && left == from.x() && right == to.x()) {
        visit(last, from.y(), to.y());
        return;
    }
    const double slope = to.x() > from.x() ? (to.y() - from.y()) / (to.x() - from.x()) : 0.0;
    double y = from.y() + (left - from.x()) * slope;
    const double end = to.y() - (to.x() - right) * slope;
    for (int column = begin; column < last; ++column) {
        const double next = from.y() + (column + 1 - from.x()) * slope;
        visit(column, y, next);
        y = next;
    }
    visit(last, y, end);
}

} // namespace

void CurveRaster::begin(const QSize& size) {
    if (image_.size() != size) {
        image_ = QImage(size, QImage::Format_ARGB32_Premultiplied);
    }
    image_.fill(Qt::transparent);
    pixels_ = reinterpret_cast<QRgb*>(image_.bits());
    stride_ = image_.bytesPerLine() / static_cast<qsizetype>(sizeof(QRgb));
    top_row_ = size.height();
    bottom_row_ = -1;
}

QRect CurveRaster::used() const {
    return bottom_row_ < top_row_ ? QRect()
                                  : QRect(0, top_row_, image_.width(), bottom_row_ - top_row_ + 1);
}

/// Says along a line where it is drawn and where it is not.
class CurveRaster::Dashes {
public:
    explicit Dashes(Qt::PenStyle style)
        : lengths_(dashesOf(style)), left_(lengths_.empty() ? 0.0 : lengths_[0]) {
        for (const double length : lengths_) {
            period_ += length;
        }
    }
    bool none() const { return lengths_.empty(); }
    bool drawn() const { return at_ % 2 == 0; }
    /// Not where there are none.
    void advance(double length) {
        left_ -= length < period_ ? length : std::fmod(length, period_);
        while (left_ <= 0.0) {
            at_ = at_ + 1 < lengths_.size() ? at_ + 1 : 0;
            left_ += lengths_[at_];
        }
    }

private:
    std::span<const double> lengths_;
    double period_ = 0.0;
    std::size_t at_ = 0;
    double left_; // of the dash or gap
};

/// The line being drawn.
struct CurveRaster::Stroke {
    QRgb color = 0;
    double width = 1.0;
    Dashes dashes;
    std::optional<double> before{}; // the middle of the column to the left
};

// x does not decrease: a column that the line has left is done.
void CurveRaster::draw(std::span<const QPointF> points, const QColor& color, double width,
                       Qt::PenStyle dash) {
    Stroke stroke{color.rgb(), width, Dashes(dash)};
    Stretch stretch;
    int at = -1; // the column of the stretch
    const auto widen = [&](int column, double from, double to) {
        const double top = std::min(from, to);
        const double bottom = std::max(from, to);
        if (column == at) {
            stretch.top = std::min(stretch.top, top);
            stretch.bottom = std::max(stretch.bottom, bottom);
            stretch.out = to;
            return;
        }
        if (at >= 0) {
            paint(at, stretch, stroke);
        }
        at = column;
        stretch = {top, bottom, from, to};
    };
    const auto near = [](const QPointF& point) {
        return QPointF(point.x(), std::clamp(point.y(), -kFar, kFar));
    };
    const int columns = image_.width();
    QPointF from = points.empty() ? QPointF() : near(points.front());
    for (std::size_t i = 1; i < points.size(); ++i) {
        const QPointF to = near(points[i]);
        cross(from, to, columns, widen);
        from = to;
    }
    if (at >= 0) {
        paint(at, stretch, stroke);
    }
}

void CurveRaster::paint(int column, const Stretch& stretch, Stroke& stroke) {
    if (!stroke.dashes.none()) {
        const double middle = (stretch.top + stretch.bottom) / 2.0;
        const double rise = middle - stroke.before.value_or(middle);
        stroke.dashes.advance(stroke.before ? std::sqrt(1.0 + rise * rise) : 0.0);
        stroke.before = middle;
        // Where a column is longer than dashes are, they would leave single columns of the line.
        const double height = stretch.bottom - stretch.top;
        const bool steep = height > kSteep && height - std::abs(stretch.out - stretch.in) < kTurn;
        if (!steep && !stroke.dashes.drawn()) {
            return;
        }
    }
    paintStretch(column, stretch, stroke.color, stroke.width);
}

// Three shapes: nearly level, steep from one side to the other, and up and down again within the
// column, which is as wide as the line whatever its neighbours do.
void CurveRaster::paintStretch(int column, const Stretch& stretch, QRgb color, double width) {
    const double height = stretch.bottom - stretch.top;
    const double crossed = std::abs(stretch.out - stretch.in);
    if (height > 1.0 && height - crossed < kTurn) {
        fillSlope(column, (stretch.top + stretch.bottom) / 2.0, height, color, width);
        return;
    }
    // What a stroke of this width covers of the column, above and below the line itself.
    const double cap = (std::sqrt(width * width + height * height) - height) / 2.0;
    fill(column, stretch.top - cap, stretch.bottom + cap, color, 1.0);
    for (int away = 1; height - crossed >= kTurn; ++away) {
        const double share = std::min(1.0, (width + 1.0) / 2.0 - away);
        if (share <= 0.0) {
            return;
        }
        for (const int beside : {column - away, column + away}) {
            if (beside >= 0 && beside < image_.width()) {
                fill(beside, stretch.top, stretch.bottom, color, share);
            }
        }
    }
}

void CurveRaster::fill(int column, double top, double bottom, QRgb color, double share) {
    top = std::max(top, 0.0);
    bottom = std::min(bottom, static_cast<double>(image_.height()));
    if (top >= bottom) {
        return;
    }
    const int first = static_cast<int>(top);
    const int last = std::min(static_cast<int>(bottom), image_.height() - 1);
    top_row_ = std::min(top_row_, first);
    bottom_row_ = std::max(bottom_row_, last);
    QRgb* pixel = pixels_ + first * stride_ + column;
    if (first == last) {
        cover(*pixel, color, (bottom - top) * share);
        return;
    }
    cover(*pixel, color, (first + 1 - top) * share);
    for (int row = first + 1; row < last; ++row) {
        pixel += stride_;
        if (share < 1.0) {
            cover(*pixel, color, share);
        } else {
            *pixel = color;
        }
    }
    cover(pixel[stride_], color, (bottom - last) * share);
}

// In each row the line covers `width` pixels around the place where it crosses: so much of them as
// lies in this column. The columns beside it cover the rest.
void CurveRaster::fillSlope(int column, double middle, double height, QRgb color, double width) {
    const double reach = (width + 1.0) / 2.0;
    const double per_row = 1.0 / height;
    const int first = static_cast<int>(std::max(0.0, middle - reach * height));
    const int last = std::min(image_.height() - 1, static_cast<int>(middle + reach * height));
    if (first > last) {
        return;
    }
    top_row_ = std::min(top_row_, first);
    bottom_row_ = std::max(bottom_row_, last);
    QRgb* pixel = pixels_ + first * stride_ + column;
    for (int row = first; row <= last; ++row, pixel += stride_) {
        const double share = reach - std::abs(row + 0.5 - middle) * per_row;
        if (share >= 1.0) {
            *pixel = color;
        } else if (share > 0.0) {
            cover(*pixel, color, share);
        }
    }
}

} // namespace weft::widgets
