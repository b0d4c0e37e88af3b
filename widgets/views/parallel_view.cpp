// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/parallel_view.h"

#include "widgets/look/fitting_text.h"

#include <QKeyEvent>
#include <QMouseEvent>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kParallelSide = 72; // room for names of the outer axes
constexpr double kLineReach = 6;     // pixels from a line that still point at it
constexpr double kAxisReach = 9;     // and from an axis
constexpr double kBrushSlack = 4;    // a shorter drag is a click
constexpr double kBrushWidth = 12;
constexpr std::size_t kManyLines = 24;   // more: each is faint
constexpr double kLogarithmicFrom = 100; // largest to smallest

double distance(const QPointF& point, const QPointF& a, const QPointF& b) {
    const QPointF along = b - a;
    const double length = QPointF::dotProduct(along, along);
    const double t =
        length > 0 ? std::clamp(QPointF::dotProduct(point - a, along) / length, 0.0, 1.0) : 0.0;
    const QPointF off = point - (a + t * along);
    return std::hypot(off.x(), off.y());
}

} // namespace

ParallelView::ParallelView(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Parallel coordinates"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void ParallelView::setContent(std::vector<ParallelAxis> axes, std::vector<ParallelLine> lines) {
    const std::vector<ParallelAxis> axes_before = std::exchange(axes_, std::move(axes));
    // A brush stays on its axis while that is there.
    std::vector<std::optional<Brush>> brushes(axes_.size());
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        const auto before =
            std::find_if(axes_before.begin(), axes_before.end(),
                         [&](const auto& axis) { return axis.name == axes_[i].name; });
        if (before != axes_before.end()) {
            brushes[i] = brushes_[static_cast<std::size_t>(before - axes_before.begin())];
        }
    }
    brushes_ = std::move(brushes);
    lines_ = std::move(lines);
    ranges_.clear();
    for (const ParallelAxis& axis : axes_) {
        Range& range = ranges_.emplace_back();
        if (!axis.categories.isEmpty()) {
            range.high = std::max(1.0, static_cast<double>(axis.categories.size()) - 1);
            continue;
        }
        bool any = false;
        for (const std::optional<double>& value : axis.values) {
            if (value && std::isfinite(*value)) {
                range.low = any ? std::min(range.low, *value) : *value;
                range.high = any ? std::max(range.high, *value) : *value;
                any = true;
            }
        }
        range.logarithmic = any && range.low > 0 && range.high / range.low >= kLogarithmicFrom;
    }
    itemsChanged();
}

void ParallelView::setBrushable(bool brushable) {
    brushable_ = brushable;
}

void ParallelView::setBrush(int axis, std::optional<Brush> brush) {
    brushes_[static_cast<std::size_t>(axis)] = brush;
    update();
    emit brushChanged();
}

std::optional<ParallelView::Brush> ParallelView::brush(int axis) const {
    return brushes_[static_cast<std::size_t>(axis)];
}

bool ParallelView::hasBrush() const {
    return std::any_of(brushes_.begin(), brushes_.end(), [](const auto& brush) { return !!brush; });
}

void ParallelView::clearBrushes() {
    if (hasBrush()) {
        brushes_.assign(axes_.size(), std::nullopt);
        update();
        emit brushChanged();
    }
}

bool ParallelView::isBrushed(int line) const {
    for (int axis = 0; axis < axisCount(); ++axis) {
        const std::optional<Brush>& brush = brushes_[static_cast<std::size_t>(axis)];
        if (!brush) {
            continue;
        }
        const auto at = place(axis, line);
        if (!at || *at < brush->low || *at > brush->high) {
            return false;
        }
    }
    return true;
}

QLineF ParallelView::axisLine(int axis) const {
    const QRectF plot = plotRect(size());
    const double x = axisX(axis, plot);
    return {x, plot.bottom(), x, plot.top()};
}

int ParallelView::axisAt(const QPointF& position) const {
    for (int axis = 0; axis < axisCount(); ++axis) {
        const QLineF line = axisLine(axis);
        if (std::abs(position.x() - line.x1()) <= kAxisReach &&
            position.y() <= line.y1() + kAxisReach && position.y() >= line.y2() - kAxisReach) {
            return axis;
        }
    }
    return -1;
}

double ParallelView::placeAt(double y) const {
    const QRectF plot = plotRect(size());
    const double at = (plot.bottom() - y) / plot.height();
    const double near = kBrushSlack / plot.height(); // to an end: what lies there counts
    return at < near ? 0.0 : at > 1 - near ? 1.0 : at;
}

void ParallelView::mousePressEvent(QMouseEvent* event) {
    dragged_axis_ =
        brushable_ && event->button() == Qt::LeftButton ? axisAt(event->position()) : -1;
    drag_from_ = event->position().y();
    drag_moved_ = false;
    if (dragged_axis_ < 0) {
        PaintedView::mousePressEvent(event);
    }
}

void ParallelView::mouseMoveEvent(QMouseEvent* event) {
    if (dragged_axis_ < 0) {
        setCursor(brushable_ && axisAt(event->position()) >= 0 ? Qt::SizeVerCursor
                                                               : Qt::ArrowCursor);
        PaintedView::mouseMoveEvent(event);
        return;
    }
    const double y = event->position().y();
    drag_moved_ = drag_moved_ || std::abs(y - drag_from_) > kBrushSlack;
    if (drag_moved_) {
        const auto [low, high] = std::minmax({placeAt(drag_from_), placeAt(y)});
        setBrush(dragged_axis_, Brush{low, high});
    }
}

void ParallelView::mouseReleaseEvent(QMouseEvent* event) {
    const int axis = std::exchange(dragged_axis_, -1);
    if (axis < 0) {
        PaintedView::mouseReleaseEvent(event);
    } else if (!drag_moved_) {
        setBrush(axis, std::nullopt);
    }
}

void ParallelView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && hasBrush()) {
        clearBrushes();
        return;
    }
    PaintedView::keyPressEvent(event);
}

bool ParallelView::isLogarithmic(int axis) const {
    return ranges_[static_cast<std::size_t>(axis)].logarithmic;
}

std::optional<double> ParallelView::place(int axis, int line) const {
    const std::optional<double>& value =
        axes_[static_cast<std::size_t>(axis)].values[static_cast<std::size_t>(line)];
    if (!value || !std::isfinite(*value)) {
        return std::nullopt;
    }
    const Range& range = ranges_[static_cast<std::size_t>(axis)];
    if (range.high <= range.low) {
        return 0.5;
    }
    return range.logarithmic ? std::log(*value / range.low) / std::log(range.high / range.low)
                             : (*value - range.low) / (range.high - range.low);
}

ViewItem ParallelView::item(int index) const {
    const auto line = static_cast<std::size_t>(index);
    QStringList parts;
    for (const ParallelAxis& axis : axes_) {
        parts << axis.name + " " + (axis.texts[line].isEmpty() ? tr("none") : axis.texts[line]);
    }
    const QString name = lines_[line].name + ": " + parts.join(", ");
    return {plotRect(size()), name, lines_[line].name + "\n" + parts.join("\n")};
}

QRectF ParallelView::plotRect(const QSizeF& view_size) const {
    const double line = QFontMetricsF(Theme::current().font(TextStyle::Caption)).height();
    // Names at the ends of an axis are half a line higher and lower than it.
    return QRectF(QPointF(kParallelSide, 2.5 * line + 8),
                  QPointF(view_size.width() - kParallelSide, view_size.height() - 1.5 * line - 8));
}

double ParallelView::axisX(int axis, const QRectF& plot) const {
    const int gaps = std::max(1, axisCount() - 1);
    return std::round(plot.left() + plot.width() * axis / gaps) + 0.5;
}

double ParallelView::textRoom(const QRectF& plot) const {
    const double apart = axisCount() > 1 ? plot.width() / (axisCount() - 1) - 8 : plot.width();
    return std::min(std::max(apart, 40.0), 2 * kParallelSide);
}

// Between its axis and the next one; those of the last stand at its left.
QStringList ParallelView::categoryTexts(int axis, const QRectF& plot) const {
    const bool shared = axis + 2 >= axisCount() && !axes_.back().categories.isEmpty();
    const double room = shared ? textRoom(plot) / 2 : textRoom(plot);
    return elidedApart(axes_[static_cast<std::size_t>(axis)].categories,
                       Theme::current().font(TextStyle::Caption), room - 8);
}

std::vector<QPolygonF> ParallelView::polylines(int line, const QRectF& plot) const {
    std::vector<QPolygonF> out(1);
    for (int axis = 0; axis < axisCount(); ++axis) {
        if (const auto at = place(axis, line)) {
            out.back() << QPointF(axisX(axis, plot), plot.bottom() - *at * plot.height());
        } else if (!out.back().isEmpty()) {
            out.emplace_back();
        }
    }
    return out;
}

int ParallelView::hitTest(const QPointF& position) const {
    const QRectF plot = plotRect(size());
    int nearest = -1;
    double best = kLineReach;
    for (int line = 0; line < itemCount(); ++line) {
        for (const QPolygonF& polygon : polylines(line, plot)) {
            for (int i = 0; i + 1 < polygon.size(); ++i) {
                const double away = distance(position, polygon[i], polygon[i + 1]);
                if (away < best) {
                    best = away;
                    nearest = line;
                }
            }
        }
    }
    return nearest;
}

// Up and down walk through the lines as they stand on the last axis.
int ParallelView::neighbour(int index, int key) const {
    if (axisCount() == 0 || (key != Qt::Key_Up && key != Qt::Key_Down)) {
        return PaintedView::neighbour(index, key);
    }
    std::vector<int> order(lines_.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = static_cast<int>(i);
    }
    const int last = axisCount() - 1;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return place(last, a).value_or(-1) < place(last, b).value_or(-1);
    });
    const auto at = std::find(order.begin(), order.end(), index);
    if (at == order.end()) {
        return order.empty() ? -1 : order.back();
    }
    if (key == Qt::Key_Up) {
        return at + 1 == order.end() ? index : *(at + 1);
    }
    return at == order.begin() ? index : *(at - 1);
}

QString ParallelView::endText(int axis, bool top) const {
    const ParallelAxis& shown = axes_[static_cast<std::size_t>(axis)];
    const Range& range = ranges_[static_cast<std::size_t>(axis)];
    if (!shown.categories.isEmpty()) {
        return {};
    }
    if (range.high <= range.low && !top) {
        return {};
    }
    const double end = top ? range.high : range.low;
    constexpr double kMostWhole = 1e7;
    return end == std::round(end) && std::abs(end) < kMostWhole ? formatCount(std::llround(end))
                                                                : formatNumber(end);
}

void ParallelView::paintAxes(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const QFont strong = theme.font(TextStyle::CaptionStrong);
    const double line = QFontMetricsF(caption).height();
    const double width = textRoom(plot);
    QStringList names;
    for (int axis = 0; axis < axisCount(); ++axis) {
        const QString& name = axes_[static_cast<std::size_t>(axis)].name;
        names << (isLogarithmic(axis) ? tr("%1, log").arg(name) : name);
    }
    names = elidedApart(names, strong, width);
    for (int axis = 0; axis < axisCount(); ++axis) {
        const ParallelAxis& shown = axes_[static_cast<std::size_t>(axis)];
        const double x = axisX(axis, plot);
        paintHairline(painter, {x, plot.top()}, {x, plot.bottom()},
                      theme.color(shown.result ? Role::Accent : Role::Border));
        const QRectF title(x - width / 2, plot.top() - 2.5 * line - 6, width, line);
        paintText(painter, title, Qt::AlignCenter, names[axis], shown.result ? strong : caption,
                  theme.color(Role::Text), Qt::ElideNone);
        paintText(painter, title.translated(0, line + 2), Qt::AlignCenter, endText(axis, true),
                  caption, theme.color(Role::Muted));
        paintText(painter, QRectF(title.left(), plot.bottom() + line / 2 + 3, width, line),
                  Qt::AlignCenter, endText(axis, false), caption, theme.color(Role::Muted));
    }
}

// Over the lines, which mostly run through them.
void ParallelView::paintCategories(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const double line = QFontMetricsF(caption).height();
    for (int axis = 0; axis < axisCount(); ++axis) {
        const ParallelAxis& shown = axes_[static_cast<std::size_t>(axis)];
        const double x = axisX(axis, plot);
        const auto count = shown.categories.size();
        const bool right = axis + 1 < axisCount();
        const QStringList names = categoryTexts(axis, plot);
        for (qsizetype i = 0; i < count; ++i) {
            const double y =
                plot.bottom() - plot.height() * static_cast<double>(i) /
                                    std::max<double>(1.0, static_cast<double>(count) - 1);
            if (count > 1 && plot.height() / static_cast<double>(count - 1) < line && i % 2 == 1) {
                continue; // no room for every name
            }
            paintHairline(painter, {x - 3, y}, {x + 3, y}, theme.color(Role::Border));
            const double width = textWidth(caption, names[i]) + 4;
            const QRectF name(right ? x + 6 : x - 6 - width, y - line / 2, width, line);
            QColor behind = theme.color(Role::Surface);
            behind.setAlphaF(0.85F);
            painter.fillRect(name, behind);
            paintText(painter, name, Qt::AlignCenter, names[i], caption, theme.color(Role::Muted),
                      Qt::ElideNone);
        }
    }
}

void ParallelView::paintLine(QPainter& painter, int line, const QRectF& plot, bool strong) const {
    const Theme& theme = Theme::current();
    const int slot = lines_[static_cast<std::size_t>(line)].slot;
    QColor color = slot < 0 ? theme.color(Role::Accent) : theme.series(slot);
    if (!strong && !isBrushed(line)) {
        color = theme.color(Role::Muted);
        color.setAlphaF(0.18F);
    } else if (!strong && !hasBrush() && lines_.size() > kManyLines) {
        color.setAlphaF(0.35F);
    }
    // Among many lines nobody tells dashes apart, and thin solid ones are painted ten times as
    // fast.
    const bool plain = !strong && lines_.size() > kManyLines;
    const double width = plain ? 1.0 : strong ? 2.5 : 1.25;
    const Qt::PenStyle dash = plain || slot < 8 ? Qt::SolidLine : seriesDash(slot / 8);
    painter.setPen(QPen(color, width, dash, Qt::RoundCap, Qt::RoundJoin));
    for (const QPolygonF& polygon : polylines(line, plot)) {
        painter.drawPolyline(polygon);
        if (polygon.size() == 1) {
            painter.drawPoint(polygon[0]);
        }
    }
}

void ParallelView::paintValues(QPainter& painter, int line, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::MonoSmall);
    const double height = QFontMetricsF(font).height() + 4;
    for (int axis = 0; axis < axisCount(); ++axis) {
        const auto at = place(axis, line);
        if (!at) {
            continue;
        }
        const QString& text =
            axes_[static_cast<std::size_t>(axis)].texts[static_cast<std::size_t>(line)];
        const double width = std::min(textWidth(font, text) + 8, 2 * kParallelSide);
        const double x = axisX(axis, plot);
        const double left = axis + 1 == axisCount() ? x - width - 4 : x + 4;
        const QRectF box(left, plot.bottom() - *at * plot.height() - height / 2, width, height);
        paintSurface(painter, box, size::kRadius, theme.color(Role::Surface),
                     theme.color(Role::Border));
        paintText(painter, box, Qt::AlignCenter, text, font, theme.color(Role::Text));
    }
}

void ParallelView::paintBrushes(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    for (int axis = 0; axis < axisCount(); ++axis) {
        const std::optional<Brush>& brush = brushes_[static_cast<std::size_t>(axis)];
        if (!brush) {
            continue;
        }
        const double x = axisX(axis, plot);
        const QRectF box(x - kBrushWidth / 2, plot.bottom() - brush->high * plot.height(),
                         kBrushWidth, std::max(2.0, (brush->high - brush->low) * plot.height()));
        QColor fill = theme.color(Role::Accent);
        fill.setAlphaF(0.22F);
        painter.setPen(QPen(theme.color(Role::Accent), 1.5));
        painter.setBrush(fill);
        painter.drawRoundedRect(box, 2, 2);
        painter.setBrush(Qt::NoBrush);
    }
}

void ParallelView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const QRectF plot = plotRect(view_size);
    painter.fillRect(QRectF(QPointF(), view_size), Theme::current().color(Role::Surface));
    if (axes_.empty() || plot.height() < 20) {
        return;
    }
    paintAxes(painter, plot);
    painter.setRenderHint(QPainter::Antialiasing);
    const int strong = hoveredItem() >= 0 ? hoveredItem() : cursorItem();
    for (const bool brushed : {false, true}) { // those over the others
        for (int line = 0; line < itemCount(); ++line) {
            if (line != strong && isBrushed(line) == brushed) {
                paintLine(painter, line, plot, false);
            }
        }
    }
    paintCategories(painter, plot);
    paintBrushes(painter, plot);
    if (strong >= 0 && strong < itemCount()) {
        paintLine(painter, strong, plot, true);
        paintValues(painter, strong, plot);
    }
}

} // namespace weft::widgets
