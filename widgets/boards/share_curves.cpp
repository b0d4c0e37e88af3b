// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/boards/share_curves.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kMostShareTicks = 4.0;
constexpr double kShareDot = 3.0;
constexpr double kFaintLine = 0.45;
constexpr double kLeastTop = 0.1; // of the scale

} // namespace

ShareCurves::ShareCurves(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Share of solved boards by step"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void ShareCurves::setCurves(std::vector<ShareCurve> curves) {
    curves_ = std::move(curves);
    itemsChanged();
}

void ShareCurves::setMarked(int step) {
    marked_ = step;
    update();
}

int ShareCurves::itemCount() const {
    return curves_.empty() ? 0 : static_cast<int>(curves_.back().shares.size());
}

double ShareCurves::top() const {
    double most = kLeastTop;
    for (const ShareCurve& curve : curves_) {
        for (const double share : curve.shares) {
            most = std::max(most, share);
        }
    }
    return std::min(1.0, most * 1.1);
}

QRectF ShareCurves::plotFor(const QSizeF& view_size) const {
    const double left = textWidth(Theme::current().font(TextStyle::MonoSmall), "0.00") + 8.0;
    return {left, 8.0, view_size.width() - left - 10.0,
            view_size.height() - captionHeight() - 14.0};
}

QPointF ShareCurves::point(const QRectF& plot, int step, double share) const {
    const double each = plot.width() / std::max(1, itemCount());
    return {plot.left() + (step + 0.5) * each, plot.bottom() - plot.height() * share / top()};
}

ViewItem ShareCurves::item(int index) const {
    const QRectF plot = plotFor(size());
    const double share = curves_.back().shares[static_cast<std::size_t>(index)];
    const QPointF at = point(plot, index, share);
    const double each = plot.width() / itemCount();
    return {QRectF(at.x() - each / 2, 0, each, height()),
            tr("step %1: %2 of the boards solved").arg(index + 1).arg(formatNumber(share)),
            {}};
}

void ShareCurves::paintGrid(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::MonoSmall);
    const double tick = tickStep(top(), kMostShareTicks);
    for (double value = 0; value <= top() + 1e-9; value += tick) {
        const double y = std::round(point(plot, 0, value).y());
        paintHairline(painter, {plot.left(), y}, {plot.right(), y},
                      theme.color(value > 0 ? Role::Hairline : Role::Border));
        paintText(painter, QRectF(0, y - captionHeight() / 2, plot.left() - 6.0, captionHeight()),
                  Qt::AlignRight | Qt::AlignVCenter, formatDecimals(value, tick < 0.1 ? 2 : 1),
                  font, theme.color(Role::Muted), Qt::ElideNone);
    }
    const double each = plot.width() / itemCount();
    const double room = textWidth(font, QString::number(itemCount())) + 6.0;
    const int every = std::max(1, static_cast<int>(std::ceil(room / each)));
    for (int i = 0; i < itemCount(); ++i) {
        if ((i + 1) % every == 0 || every == 1) {
            paintText(painter,
                      QRectF(plot.left() + i * each, plot.bottom() + 3, each, captionHeight()),
                      Qt::AlignCenter, QString::number(i + 1), font,
                      theme.color(i == marked_ ? Role::Text : Role::Muted), Qt::ElideNone);
        }
    }
}

void ShareCurves::paintCurve(QPainter& painter, const QRectF& plot, const ShareCurve& curve,
                             bool strong) const {
    const Theme& theme = Theme::current();
    const QColor color =
        strong ? theme.color(Role::Accent)
               : mixed(theme.color(Role::Accent), theme.color(Role::Surface), kFaintLine);
    QPolygonF line;
    for (std::size_t i = 0; i < curve.shares.size(); ++i) {
        line << point(plot, static_cast<int>(i), curve.shares[i]);
    }
    painter.setPen(QPen(color, strong ? 2.0 : 1.5));
    painter.drawPolyline(line);
    if (strong) {
        painter.setBrush(theme.color(Role::Surface));
        for (const QPointF& at : line) {
            painter.drawEllipse(at, kShareDot, kShareDot);
        }
        painter.setBrush(Qt::NoBrush);
    }
    if (!strong && !line.isEmpty()) {
        const QFont font = theme.font(TextStyle::Caption);
        const double width = textWidth(font, curve.name) + 2.0;
        paintText(painter,
                  QRectF(plot.right() - width, line.back().y() + 2.0, width, captionHeight()),
                  Qt::AlignRight | Qt::AlignVCenter, curve.name, font, theme.color(Role::Muted));
    }
}

void ShareCurves::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (itemCount() == 0) {
        return;
    }
    const Theme& theme = Theme::current();
    const QRectF plot = plotFor(view_size);
    paintGrid(painter, plot);
    if (marked_ >= 0 && marked_ < itemCount()) {
        const double x = point(plot, marked_, 0).x();
        painter.setPen(QPen(theme.color(Role::Muted), 1.0, Qt::DotLine));
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    }
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        paintCurve(painter, plot, curves_[i], i + 1 == curves_.size());
    }
    if (marked_ >= 0 && marked_ < itemCount()) {
        const double share = curves_.back().shares[static_cast<std::size_t>(marked_)];
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.color(Role::Accent));
        painter.drawEllipse(point(plot, marked_, share), kShareDot + 1, kShareDot + 1);
        painter.setBrush(Qt::NoBrush);
    }
}

} // namespace weft::widgets
