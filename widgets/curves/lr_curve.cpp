// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/lr_curve.h"

#include <algorithm>

namespace weft::widgets {
namespace {

constexpr double kLrMargin = 6.0;

} // namespace

LrCurve::LrCurve(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Learning rate"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
}

void LrCurve::setCurve(std::span<const double> x, std::span<const double> y) {
    const std::size_t count = std::min(x.size(), y.size());
    x_.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count));
    y_.assign(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(count));
    itemsChanged();
}

void LrCurve::setReentry(std::optional<double> x, const QString& label) {
    reentry_ = x;
    label_ = label;
    itemsChanged();
}

double LrCurve::valueAt(double x) const {
    if (x_.empty()) {
        return 0.0;
    }
    const auto after = std::lower_bound(x_.begin(), x_.end(), x);
    if (after == x_.begin()) {
        return y_.front();
    }
    if (after == x_.end()) {
        return y_.back();
    }
    const auto i = static_cast<std::size_t>(after - x_.begin());
    const double span = x_[i] - x_[i - 1];
    const double t = span > 0 ? (x - x_[i - 1]) / span : 1.0;
    return y_[i - 1] + t * (y_[i] - y_[i - 1]);
}

QPointF LrCurve::toScene(double x, double y, const QSizeF& view_size) const {
    const double high = *std::max_element(y_.begin(), y_.end());
    const double x_span = std::max(1e-12, x_.back() - x_.front());
    const double y_span = high > 0 ? high : 1.0;
    return {kLrMargin + (view_size.width() - 2 * kLrMargin) * (x - x_.front()) / x_span,
            view_size.height() - kLrMargin - 1 -
                (view_size.height() - 2 * kLrMargin - 6) * std::max(0.0, y) / y_span};
}

ViewItem LrCurve::item(int) const {
    if (x_.empty() || !reentry_) {
        return {};
    }
    const QPointF at = toScene(*reentry_, valueAt(*reentry_), size());
    const QString text = label_.isEmpty() ? formatNumber(valueAt(*reentry_)) : label_;
    return {QRectF(at - QPointF(8, 8), QSizeF(16, 16)), text, {}};
}

void LrCurve::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const double floor = view_size.height() - kLrMargin;
    paintHairline(painter, QPointF(0, floor), QPointF(view_size.width(), floor),
                  theme.color(Role::Border));
    if (x_.size() < 2) {
        return;
    }
    QPolygonF before;
    QPolygonF after;
    const double split = reentry_.value_or(x_.front());
    for (std::size_t i = 0; i < x_.size(); ++i) {
        (x_[i] <= split && reentry_ ? before : after) << toScene(x_[i], y_[i], view_size);
    }
    const QPointF at = toScene(split, valueAt(split), view_size);
    if (reentry_) {
        before << at;
        after.prepend(at);
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.color(Role::Faint), 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(before);
    painter.setPen(
        QPen(theme.color(Role::Accent), 2.0, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(after);
    if (!reentry_) {
        return;
    }
    painter.setPen(QPen(theme.color(Role::Accent), 1.0, Qt::DotLine));
    painter.drawLine(QPointF(at.x(), 2), QPointF(at.x(), floor));
    painter.setPen(QPen(theme.color(Role::Surface), 1.5));
    painter.setBrush(theme.color(Role::Accent));
    painter.drawEllipse(at, 4.5, 4.5);
    const QFont caption = theme.font(TextStyle::Caption);
    const double width = textWidth(caption, label_);
    const bool right = at.x() + 10 + width <= view_size.width();
    QRectF box(right ? at.x() + 10 : at.x() - 10 - width, std::max(0.0, at.y() - 24), width, 16);
    // Above the curve, else below it: a rising or falling rate is not covered.
    double above = at.y();
    double below = at.y();
    for (const QPolygonF& part : {before, after}) {
        for (const QPointF& point : part) {
            if (point.x() >= box.left() - 2 && point.x() <= box.right() + 2) {
                above = std::min(above, point.y());
                below = std::max(below, point.y());
            }
        }
    }
    if (above - 4 >= box.height()) {
        box.moveBottom(std::min(box.bottom(), above - 4));
    } else if (below + 4 + box.height() < floor) {
        box.moveTop(below + 4);
    }
    painter.fillRect(box.adjusted(-2, 0, 2, 0), theme.color(Role::Surface));
    paintText(painter, box, Qt::AlignLeft | Qt::AlignVCenter, label_, caption,
              theme.color(Role::Text), Qt::ElideNone);
}

} // namespace weft::widgets
