// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/scatter_view.h"

#include <QKeyEvent>
#include <QMouseEvent>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kScatterLogarithmicFrom = 100; // largest to smallest
constexpr double kDotRadius = 4.5;
constexpr double kDotReach = 8;
constexpr double kScatterSlack = 4; // a shorter drag is a click
constexpr int kScatterTicks = 4;
constexpr double kScatterLeft = 64;

} // namespace

ScatterView::ScatterView(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("A setting against a result"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

ScatterView::Scale ScatterView::Scale::of(const ParallelAxis& axis) {
    Scale scale;
    if (!axis.categories.isEmpty()) {
        scale.high = std::max(1.0, static_cast<double>(axis.categories.size()) - 1);
        return scale;
    }
    bool any = false;
    for (const std::optional<double>& value : axis.values) {
        if (value && std::isfinite(*value)) {
            scale.low = any ? std::min(scale.low, *value) : *value;
            scale.high = any ? std::max(scale.high, *value) : *value;
            any = true;
        }
    }
    scale.logarithmic = any && scale.low > 0 && scale.high / scale.low >= kScatterLogarithmicFrom;
    return scale;
}

std::optional<double> ScatterView::Scale::place(const std::optional<double>& value) const {
    if (!value || !std::isfinite(*value)) {
        return std::nullopt;
    }
    if (high <= low) {
        return 0.5;
    }
    return logarithmic ? std::log(*value / low) / std::log(high / low)
                       : (*value - low) / (high - low);
}

double ScatterView::Scale::valueAt(double place) const {
    return logarithmic ? low * std::pow(high / low, place) : low + place * (high - low);
}

void ScatterView::setContent(ParallelAxis across, ParallelAxis up, std::vector<ParallelLine> dots) {
    const bool other = across.name != across_.name || up.name != up_.name;
    across_ = std::move(across);
    up_ = std::move(up);
    across_scale_ = Scale::of(across_);
    up_scale_ = Scale::of(up_);
    dots_ = std::move(dots);
    if (other) {
        brush_.reset();
    }
    itemsChanged();
}

void ScatterView::setCaption(const QString& caption) {
    caption_ = caption;
    update();
}

void ScatterView::clearBrush() {
    if (brush_) {
        brush_.reset();
        update();
        emit brushChanged();
    }
}

bool ScatterView::isBrushed(int dot) const {
    if (!brush_) {
        return true;
    }
    const auto at = static_cast<std::size_t>(dot);
    const auto x = across_scale_.place(across_.values[at]);
    const auto y = up_scale_.place(up_.values[at]);
    return x && y && *x >= brush_->left() && *x <= brush_->right() && *y >= brush_->top() &&
           *y <= brush_->bottom();
}

QRectF ScatterView::plotRect(const QSizeF& view_size) const {
    const double line = lineHeight(TextStyle::Caption);
    return QRectF(QPointF(kScatterLeft, line + 14),
                  QPointF(view_size.width() - 24, view_size.height() - 2 * line - 18));
}

std::optional<QPointF> ScatterView::dotIn(int dot, const QRectF& plot) const {
    const auto at = static_cast<std::size_t>(dot);
    const auto x = across_scale_.place(across_.values[at]);
    const auto y = up_scale_.place(up_.values[at]);
    if (!x || !y) {
        return std::nullopt;
    }
    return QPointF(plot.left() + *x * plot.width(), plot.bottom() - *y * plot.height());
}

std::optional<QPointF> ScatterView::dotAt(int dot) const {
    return dotIn(dot, plotRect(size()));
}

ViewItem ScatterView::item(int index) const {
    const auto at = static_cast<std::size_t>(index);
    const auto text = [&](const ParallelAxis& axis) {
        return axis.name + ' ' + (axis.texts[at].isEmpty() ? tr("none") : axis.texts[at]);
    };
    const QString& name = dots_[at].name;
    const QPointF place = dotAt(index).value_or(QPointF(-100, -100));
    return {QRectF(place.x() - 6, place.y() - 6, 12, 12),
            name + ": " + text(across_) + ", " + text(up_),
            name + '\n' + text(across_) + '\n' + text(up_)};
}

int ScatterView::hitTest(const QPointF& position) const {
    const QRectF plot = plotRect(size());
    int nearest = -1;
    double best = kDotReach;
    for (int dot = 0; dot < itemCount(); ++dot) {
        if (const auto at = dotIn(dot, plot)) {
            const QPointF away = position - *at;
            const double distance = std::hypot(away.x(), away.y());
            if (distance < best) {
                best = distance;
                nearest = dot;
            }
        }
    }
    return nearest;
}

void ScatterView::mousePressEvent(QMouseEvent* event) {
    drag_moved_ = false;
    drag_from_.reset();
    if (event->button() == Qt::LeftButton) {
        drag_from_ = event->position();
    }
    PaintedView::mousePressEvent(event);
    event->accept();
}

void ScatterView::mouseMoveEvent(QMouseEvent* event) {
    if (!drag_from_ || !(event->buttons() & Qt::LeftButton)) {
        PaintedView::mouseMoveEvent(event);
        return;
    }
    drag_moved_ =
        drag_moved_ || (event->position() - *drag_from_).manhattanLength() > kScatterSlack;
    if (!drag_moved_) {
        return;
    }
    const QRectF plot = plotRect(size());
    const auto place = [&](const QPointF& at) {
        return QPointF(std::clamp((at.x() - plot.left()) / plot.width(), -0.05, 1.05),
                       std::clamp((plot.bottom() - at.y()) / plot.height(), -0.05, 1.05));
    };
    brush_ = QRectF(place(*drag_from_), place(event->position())).normalized();
    update();
    emit brushChanged();
}

void ScatterView::mouseReleaseEvent(QMouseEvent* event) {
    drag_from_.reset();
    if (drag_moved_) {
        return;
    }
    if (hitTest(event->position()) < 0) {
        clearBrush();
    }
    PaintedView::mouseReleaseEvent(event);
}

void ScatterView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && brush_) {
        clearBrush();
        return;
    }
    PaintedView::keyPressEvent(event);
}

QString ScatterView::tickText(const ParallelAxis& axis, const Scale& scale, double place) const {
    if (!axis.categories.isEmpty()) {
        const auto at = static_cast<qsizetype>(std::lround(scale.valueAt(place)));
        return at >= 0 && at < axis.categories.size() ? axis.categories[at] : QString();
    }
    return formatNumber(scale.valueAt(place));
}

void ScatterView::paintAxes(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const double line = lineHeight(TextStyle::Caption);
    const auto steps = [](const ParallelAxis& axis) {
        return axis.categories.isEmpty()
                   ? kScatterTicks
                   : std::max(1, static_cast<int>(axis.categories.size()) - 1);
    };
    const int up = steps(up_);
    for (int i = 0; i <= up; ++i) {
        const double y = std::round(plot.bottom() - plot.height() * i / up) + 0.5;
        paintHairline(painter, {plot.left(), y}, {plot.right(), y}, theme.color(Role::Hairline));
        paintText(painter, QRectF(0, y - line / 2, plot.left() - 8, line),
                  Qt::AlignRight | Qt::AlignVCenter,
                  tickText(up_, up_scale_, static_cast<double>(i) / up),
                  theme.font(TextStyle::MonoSmall), theme.color(Role::Muted));
    }
    const int along = steps(across_);
    const double room = plot.width() / (along + 1);
    for (int i = 0; i <= along; ++i) {
        const double x = plot.left() + plot.width() * i / along;
        paintText(painter, QRectF(x - room / 2, plot.bottom() + 4, room, line), Qt::AlignCenter,
                  tickText(across_, across_scale_, static_cast<double>(i) / along),
                  theme.font(TextStyle::MonoSmall), theme.color(Role::Muted));
    }
    paintHairline(painter, plot.bottomLeft(), plot.bottomRight(), theme.color(Role::Border));
    const auto named = [](const ParallelAxis& axis, const Scale& scale) {
        return scale.logarithmic ? tr("%1, log").arg(axis.name) : axis.name;
    };
    paintText(painter, QRectF(8, 4, plot.width(), line), Qt::AlignLeft | Qt::AlignVCenter,
              named(up_, up_scale_), theme.font(TextStyle::CaptionStrong), theme.color(Role::Text));
    const QRectF below(plot.left(), plot.bottom() + line + 8, plot.width(), line);
    paintText(painter, below, Qt::AlignLeft | Qt::AlignVCenter, caption_, caption,
              theme.color(Role::Muted));
    paintText(painter, below, Qt::AlignRight | Qt::AlignVCenter, named(across_, across_scale_),
              theme.font(TextStyle::CaptionStrong), theme.color(Role::Text));
}

void ScatterView::paintDot(QPainter& painter, int dot, const QRectF& plot, bool strong) const {
    const auto at = dotIn(dot, plot);
    if (!at) {
        return;
    }
    const Theme& theme = Theme::current();
    const int slot = dots_[static_cast<std::size_t>(dot)].slot;
    QColor color = slot < 0 ? theme.color(Role::Accent) : theme.series(slot);
    if (!isBrushed(dot)) {
        color = theme.color(Role::Muted);
        color.setAlphaF(0.3F);
    }
    painter.setPen(QPen(theme.color(Role::Surface), 1.0));
    painter.setBrush(color);
    painter.drawEllipse(*at, strong ? kDotRadius + 2 : kDotRadius,
                        strong ? kDotRadius + 2 : kDotRadius);
    painter.setBrush(Qt::NoBrush);
}

void ScatterView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const QRectF plot = plotRect(view_size);
    painter.fillRect(QRectF(QPointF(), view_size), Theme::current().color(Role::Surface));
    if (dots_.empty() || plot.height() < 20) {
        return;
    }
    paintAxes(painter, plot);
    painter.setRenderHint(QPainter::Antialiasing);
    const int strong = hoveredItem() >= 0 ? hoveredItem() : cursorItem();
    for (int dot = 0; dot < itemCount(); ++dot) {
        paintDot(painter, dot, plot, dot == strong);
    }
    if (brush_) {
        QColor fill = Theme::current().color(Role::Accent);
        painter.setPen(QPen(fill, 1.5));
        fill.setAlphaF(0.12F);
        painter.setBrush(fill);
        painter.drawRect(QRectF(plot.left() + brush_->left() * plot.width(),
                                plot.bottom() - brush_->bottom() * plot.height(),
                                brush_->width() * plot.width(), brush_->height() * plot.height()));
        painter.setBrush(Qt::NoBrush);
    }
}

} // namespace weft::widgets
