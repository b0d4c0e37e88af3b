// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/curve_editor.h"

#include "widgets/curves/chart_axis.h"

#include <QKeyEvent>
#include <QMouseEvent>

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::widgets {
namespace {

constexpr double kCurveTop = 12.0;
constexpr double kCurveRight = 18.0;
constexpr double kPointHandle = 6.0;
constexpr double kCurveLabelGap =
    kPointHandle + 3.0;        // a point at the end of an axis covers no number
constexpr double kGrip = 12.0; // half the side of what takes the mouse
constexpr double kTickHeight = 44;
constexpr double kWordsStep = 8.0;
constexpr double kDecades = 5.0; // of a logarithmic axis, at most
constexpr double kKeyShare = 0.01;
constexpr double kOtherLabelPlaces[] = {0.4, 0.6, 0.8, 0.2}; // along its line

double leftMargin() {
    return textWidth(Theme::current().font(TextStyle::MonoSmall), QStringLiteral("0.00005")) + 10;
}

/// The square around a point, `by` to each side.
QRectF squareAround(const QPointF& at, double by) {
    return {at - QPointF(by, by), QSizeF(2 * by, 2 * by)};
}

bool isLineUnder(const QRectF& place, const QPolygonF& line) {
    for (qsizetype i = 1; i < line.size(); ++i) {
        if (crosses(place, line[i - 1], line[i])) {
            return true;
        }
    }
    return false;
}

double largest(const CurveLine& line) {
    return line.y.empty() ? 0.0 : *std::max_element(line.y.begin(), line.y.end());
}

} // namespace

std::vector<double> roundTicks(double low, double high, int room) {
    std::vector<double> out;
    const double raw = (high - low) / std::max(1, room);
    if (!(raw > 0)) {
        return out;
    }
    const double decade = std::pow(10.0, std::floor(std::log10(raw)));
    const double lead = raw / decade;
    const double step = decade * (lead <= 1     ? 1
                                  : lead <= 2   ? 2
                                  : lead <= 2.5 ? 2.5
                                  : lead <= 5   ? 5
                                                : 10);
    for (double tick = std::ceil(low / step - 1e-9) * step; tick <= high + step * 1e-9;
         tick += step) {
        out.push_back(tick);
    }
    return out;
}

CurveEditor::CurveEditor(QWidget* parent) : PaintedView(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setToolTip(tr("Drag a point, or choose one by arrow keys and move it by Shift and arrow keys"));
}

void CurveEditor::setCurve(CurveLine curve, std::vector<CurveHandle> handles) {
    curve_ = std::move(curve);
    handles_ = std::move(handles);
    if (dragged_ >= itemCount()) {
        dragged_ = -1; // undone while it was in hand
    }
    if (dragged_ < 0) {
        renewRange();
    }
    itemsChanged();
}

void CurveEditor::setOther(CurveLine other) {
    other_ = std::move(other);
    renewRange();
    update();
}

void CurveEditor::setLogarithmic(bool logarithmic) {
    logarithmic_ = logarithmic;
    renewRange();
    itemsChanged();
}

// Kept while a point is dragged: the view does not run away below the mouse.
void CurveEditor::renewRange() {
    x_high_ = std::max(1.0, curve_.x.empty() ? 1.0 : curve_.x.back());
    const double high = std::max(largest(curve_), largest(other_));
    y_high_ = high > 0 ? high * 1.12 : 1.0;
    y_low_ = 0.0;
    if (logarithmic_) {
        double low = y_high_;
        for (const CurveLine* line : {&curve_, &other_}) {
            for (const double y : line->y) {
                low = y > 0 ? std::min(low, y) : low;
            }
        }
        y_low_ = std::max(low / 1.2, y_high_ * std::pow(10.0, -kDecades));
    }
}

QRectF CurveEditor::plot(const QSizeF& view_size) const {
    const double left = leftMargin();
    return {left, kCurveTop, std::max(10.0, view_size.width() - left - kCurveRight),
            std::max(10.0, view_size.height() - kCurveTop - captionHeight() - 10)};
}

QPointF CurveEditor::toView(double x, double y, const QSizeF& view_size) const {
    const QRectF area = plot(view_size);
    const double share = logarithmic_
                             ? std::log(std::max(y, y_low_) / y_low_) / std::log(y_high_ / y_low_)
                             : y / y_high_;
    return {area.left() + area.width() * x / x_high_, area.bottom() - area.height() * share};
}

QPointF CurveEditor::toValue(const QPointF& at) const {
    const QRectF area = plot(size());
    const double x = std::clamp((at.x() - area.left()) / area.width(), 0.0, 1.0) * x_high_;
    const double share = std::clamp((area.bottom() - at.y()) / area.height(), 0.0, 1.0);
    return {x, logarithmic_ ? y_low_ * std::pow(y_high_ / y_low_, share) : share * y_high_};
}

// Its words need their room beside the curve.
QSize CurveEditor::minimumSizeHint() const {
    return QSize(240, 140) * Theme::current().fontScale();
}

ViewItem CurveEditor::item(int index) const {
    const CurveHandle& handle = handles_[static_cast<std::size_t>(index)];
    const QPointF at = toView(handle.x, handle.y, size());
    return {squareAround(at, kGrip), handle.text, {}};
}

void CurveEditor::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    paintAxes(painter, view_size);
    if (!other_.x.empty()) {
        paintLine(painter, other_, QPen(theme.series(2), 1.0, Qt::DashLine), view_size);
        paintText(painter, otherLabel(view_size), Qt::AlignLeft | Qt::AlignVCenter, other_.label,
                  theme.font(TextStyle::Caption), theme.color(Role::Muted));
    }
    paintLine(painter, curve_,
              QPen(theme.series(0), 2.0, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin), view_size);
    paintHandles(painter, view_size);
}

/// Above its line, in the picture and clear of the words of a handle.
QRectF CurveEditor::otherLabel(const QSizeF& view_size) const {
    const QRectF area = plot(view_size);
    const QRectF words = handleWords(view_size);
    const double width =
        std::ceil(textWidth(Theme::current().font(TextStyle::Caption), other_.label));
    QRectF usual;
    for (const double share : kOtherLabelPlaces) {
        const auto point = static_cast<std::size_t>(static_cast<double>(other_.x.size()) * share);
        const QPointF at = toView(other_.x[point], other_.y[point], view_size);
        const QRectF place(
            std::clamp(at.x() + 6, area.left(), std::max(area.left(), area.right() - width)),
            std::max(0.0, at.y() - captionHeight() - 4), width, captionHeight());
        if (other_.x[point] <= x_high_ && !place.intersects(words)) {
            return place;
        }
        usual = usual.isEmpty() ? place : usual;
    }
    return usual;
}

std::vector<CurveEditor::Row> CurveEditor::rows(const QSizeF& view_size) const {
    std::vector<Row> out;
    if (logarithmic_) {
        for (double decade = std::pow(10.0, std::ceil(std::log10(y_low_) - 1e-9));
             decade <= y_high_; decade *= 10) {
            out.push_back({decade, axisLabel(decade, decade, decade)});
        }
        return out;
    }
    const std::vector<double> ticks =
        roundTicks(0, y_high_, static_cast<int>(plot(view_size).height() / kTickHeight));
    const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1.0;
    for (const double y : ticks) {
        out.push_back({y, axisLabel(y, step, y_high_)});
    }
    return out;
}

void CurveEditor::paintAxes(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QRectF area = plot(view_size);
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const double line = captionHeight();
    for (const Row& row : rows(view_size)) {
        const double at = toView(0, row.y, view_size).y();
        paintHairline(painter, {area.left(), at}, {area.right(), at}, theme.color(Role::Hairline));
        paintText(painter, QRectF(0, at - line / 2, area.left() - kCurveLabelGap, line),
                  Qt::AlignRight | Qt::AlignVCenter, row.label, mono, theme.color(Role::Muted));
    }
    const std::vector<double> columns =
        roundTicks(0, x_high_, std::max(2, static_cast<int>(area.width() / kTickWidth)));
    const double step = columns.size() > 1 ? columns[1] - columns[0] : 1.0;
    for (const double x : columns) {
        const double at = toView(x, 0, view_size).x();
        paintHairline(painter, {at, area.top()}, {at, area.bottom()}, theme.color(Role::Hairline));
        const QString text = axisLabel(x, step, x_high_);
        const double width = textWidth(mono, text) + 2;
        const double left = std::min(at - width / 2, view_size.width() - width - 4);
        paintText(painter, QRectF(left, area.bottom() + kCurveLabelGap, width, line),
                  Qt::AlignCenter, text, mono, theme.color(Role::Muted));
    }
    paintHairline(painter, area.bottomLeft(), area.bottomRight(), theme.color(Role::Border));
}

QPolygonF CurveEditor::lineInView(const CurveLine& line, const QSizeF& view_size) const {
    QPolygonF points;
    for (std::size_t i = 0; i < line.x.size(); ++i) {
        if (line.x[i] <= x_high_) {
            points << toView(line.x[i], line.y[i], view_size);
        }
    }
    return points;
}

void CurveEditor::paintLine(QPainter& painter, const CurveLine& line, const QPen& pen,
                            const QSizeF& view_size) const {
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(lineInView(line, view_size));
}

/// The handle whose words are shown: in hand, under the mouse, chosen, else the first that moves
/// both ways.
int CurveEditor::spoken() const {
    if (dragged_ >= 0 || hoveredItem() >= 0) {
        return dragged_ >= 0 ? dragged_ : hoveredItem();
    }
    if (cursorItem() >= 0 && hasFocus()) {
        return cursorItem();
    }
    const auto both = std::find_if(handles_.begin(), handles_.end(), [](const CurveHandle& handle) {
        return handle.moves_x && handle.moves_y;
    });
    return both == handles_.end() ? -1 : static_cast<int>(both - handles_.begin());
}

void CurveEditor::paintHandles(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QRectF area = plot(view_size);
    for (int i = 0; i < itemCount(); ++i) {
        const CurveHandle& handle = handles_[static_cast<std::size_t>(i)];
        const QPointF at = toView(handle.x, handle.y, view_size);
        if (handle.moves_x) {
            painter.setPen(QPen(theme.series(0), 1.0, Qt::DotLine));
            painter.drawLine(QPointF(at.x(), area.top()), QPointF(at.x(), area.bottom()));
        }
        painter.setPen(QPen(theme.series(0), 2.0));
        painter.setBrush(handle.moves_x && handle.moves_y ? theme.series(0)
                                                          : theme.color(Role::Surface));
        painter.drawEllipse(at, kPointHandle, kPointHandle);
    }
    const QRectF words = handleWords(view_size);
    if (!words.isEmpty()) {
        paintSurface(painter, words, size::kRadius, theme.color(Role::Surface),
                     theme.color(Role::Border));
        paintText(painter, words, Qt::AlignCenter,
                  handles_[static_cast<std::size_t>(spoken())].text, theme.font(TextStyle::Caption),
                  theme.color(Role::Text));
    }
}

/// Empty where no handle says anything.
QRectF CurveEditor::handleWords(const QSizeF& view_size) const {
    const int told = spoken();
    if (told < 0) {
        return {};
    }
    const QRectF area = plot(view_size);
    const CurveHandle& handle = handles_[static_cast<std::size_t>(told)];
    const QPointF at = toView(handle.x, handle.y, view_size);
    const QSizeF box(textWidth(Theme::current().font(TextStyle::Caption), handle.text) + 20,
                     captionHeight() + 10);
    // Beside the point: below a high one, above a low one; where the curve is, as near as it leaves
    // room.
    const double left = std::max(area.left(), at.x() + 14 + box.width() <= area.right()
                                                  ? at.x() + 14
                                                  : at.x() - 14 - box.width());
    const bool low = at.y() + 30 + box.height() > area.bottom();
    const double top = low ? std::max(area.top(), at.y() - 16 - box.height()) : at.y() + 26;
    const QRectF usual({left, top}, box);
    const QPolygonF line = lineInView(curve_, view_size);
    const auto isFree = [&](const QRectF& place) {
        return !isLineUnder(place, line) &&
               std::none_of(handles_.begin(), handles_.end(), [&](const CurveHandle& one) {
                   return place.intersects(
                       squareAround(toView(one.x, one.y, view_size), kPointHandle));
               });
    };
    if (area.contains(usual) && isFree(usual)) {
        return usual;
    }
    QRectF best = usual; // where there is no room without the curve
    double least = std::numeric_limits<double>::infinity();
    const auto first = [](double from, double edge) {
        return from - kWordsStep * std::floor((from - edge) / kWordsStep);
    };
    for (double x = first(left, area.left()); x + box.width() <= area.right(); x += kWordsStep) {
        for (double y = first(top, 0); y + box.height() <= area.bottom(); y += kWordsStep) {
            const QRectF place({x, y}, box);
            const double away = std::hypot(x - left, y - top);
            if (away < least && isFree(place)) {
                least = away;
                best = place;
            }
        }
    }
    return best;
}

// The words of a handle stand beside it.
bool CurveEditor::event(QEvent* event) {
    return (event->type() == QEvent::ToolTip && hoveredItem() >= 0) || PaintedView::event(event);
}

void CurveEditor::mousePressEvent(QMouseEvent* event) {
    PaintedView::mousePressEvent(event);
    dragged_ = event->button() == Qt::LeftButton ? hitTest(event->position()) : -1;
    if (dragged_ >= 0) {
        setCursorItem(dragged_);
    }
}

void CurveEditor::mouseMoveEvent(QMouseEvent* event) {
    if (dragged_ < 0) {
        PaintedView::mouseMoveEvent(event);
        const int under = hitTest(event->position());
        setCursor(under < 0 ? Qt::ArrowCursor : Qt::OpenHandCursor);
        return;
    }
    setCursor(Qt::ClosedHandCursor);
    const QPointF value = toValue(event->position());
    const CurveHandle& handle = handles_[static_cast<std::size_t>(dragged_)];
    emit handleMoved(dragged_, handle.moves_x ? value.x() : handle.x,
                     handle.moves_y ? value.y() : handle.y);
}

void CurveEditor::mouseReleaseEvent(QMouseEvent* event) {
    PaintedView::mouseReleaseEvent(event);
    if (dragged_ >= 0) {
        const int released = dragged_;
        dragged_ = -1;
        renewRange();
        update();
        emit handleReleased(released);
    }
}

void CurveEditor::keyPressEvent(QKeyEvent* event) {
    const bool arrow = event->key() >= Qt::Key_Left && event->key() <= Qt::Key_Down;
    if (!arrow || !(event->modifiers() & Qt::ShiftModifier) || cursorItem() < 0) {
        PaintedView::keyPressEvent(event);
        return;
    }
    const double share = event->modifiers() & Qt::ControlModifier ? kKeyShare / 10 : kKeyShare;
    const CurveHandle handle = handles_[static_cast<std::size_t>(cursorItem())];
    double x = handle.x;
    double y = handle.y;
    const double sign = event->key() == Qt::Key_Right || event->key() == Qt::Key_Up ? 1 : -1;
    if (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right) {
        x = std::clamp(x + sign * share * x_high_, 0.0, x_high_);
    } else if (logarithmic_ && y > 0) {
        y *= std::pow(y_high_ / y_low_, sign * share);
    } else {
        y = std::max(0.0, y + sign * share * y_high_);
    }
    if (x != handle.x ? handle.moves_x : y != handle.y && handle.moves_y) {
        emit handleMoved(cursorItem(), x, y);
    }
}

} // namespace weft::widgets
