// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/mesh/pattern_view.h"

#include "widgets/look/theme_controller.h"
#include "widgets/mesh/device_palette.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kPatternMargin = 30.0; // beside the columns, for what goes round
constexpr double kPatternBadge = 18.0;
constexpr double kPatternTop = 6.0;
constexpr double kRowsTop = kPatternTop + kPatternBadge + 6.0;
constexpr double kBottom = 4.0;
constexpr double kArrivalsGap = 8.0; // before the rows for what arrives
constexpr double kLeastRow = 15.0;
constexpr double kMostRow = 26.0;
constexpr double kWidestCell = 60.0;
constexpr double kPatternHead = 6.0;
constexpr int kFrameMs = 16;

void paintPoint(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& color) {
    const QPointF way = to - from;
    const double length = std::max(1.0, std::hypot(way.x(), way.y()));
    const QPointF along = way / length;
    const QPointF aside(-along.y(), along.x());
    painter.setPen(QPen(color, 1.4, Qt::SolidLine, Qt::FlatCap));
    painter.drawLine(from, to - along * kPatternHead);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPolygon(QPolygonF{to, to - along * kPatternHead + aside * (kPatternHead / 2.0),
                                  to - along * kPatternHead - aside * (kPatternHead / 2.0)});
}

} // namespace

PatternView::PatternView(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("The pattern on small numbers"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    motion_.setStartValue(0.0);
    motion_.setEndValue(1.0);
    motion_.setEasingCurve(QEasingCurve::InOutQuad);
    connect(&motion_, &QVariantAnimation::valueChanged, this, [this](const QVariant& value) {
        progress_ = value.toDouble();
        update();
    });
    connect(&motion_, &QVariantAnimation::finished, this, [this] {
        progress_ = 1.0;
        itemsChanged();
        emit arrived();
    });
}

void PatternView::setPattern(Pattern pattern) {
    motion_.stop();
    pattern_ = std::move(pattern);
    step_ = 0;
    progress_ = 1.0;
    itemsChanged();
}

void PatternView::setStep(int step, int ms) {
    motion_.stop();
    step_ = std::clamp(step, 0, std::max(0, pattern_.lastStep()));
    progress_ = 1.0;
    if (ms > kFrameMs && step_ > 0 && !ThemeController::reducedMotion()) {
        progress_ = 0.0;
        motion_.setDuration(ms);
        motion_.start();
    } else {
        itemsChanged();
    }
}

QSize PatternView::minimumSizeHint() const {
    const double gap = pattern_.second_rows > 0 ? kArrivalsGap : 0.0;
    return {220, static_cast<int>(kRowsTop + kLeastRow * pattern_.rows() + gap + kBottom)};
}

PatternView::Frame PatternView::frame(const QSizeF& view_size) const {
    Frame out;
    const auto columns = static_cast<double>(std::max<std::size_t>(1, pattern_.devices.size()));
    const double rows = std::max(1, pattern_.rows());
    out.width = view_size.width();
    out.pitch = std::max(1.0, view_size.width() - 2.0 * kPatternMargin) / columns;
    out.top = kRowsTop;
    out.gap = pattern_.second_rows > 0 ? kArrivalsGap : 0.0;
    out.row = std::clamp(std::floor((view_size.height() - out.top - out.gap - kBottom) / rows),
                         kLeastRow, kMostRow);
    out.cell = QSizeF(std::min(kWidestCell, out.pitch * 0.46), out.row - 3.0);
    return out;
}

QRectF PatternView::cellRect(int column, int row, const Frame& frame) const {
    const bool second = row >= pattern_.rows() - pattern_.second_rows;
    const double center = kPatternMargin + frame.pitch * (column + 0.5);
    return {std::round(center - frame.cell.width() / 2.0),
            frame.top + frame.row * row + (second ? frame.gap : 0.0), frame.cell.width(),
            frame.cell.height()};
}

ViewItem PatternView::item(int index) const {
    const Frame now = frame(size());
    const PatternStep& shown = pattern_.steps[static_cast<std::size_t>(step_)];
    const auto column = static_cast<std::size_t>(index);
    QStringList values;
    for (const PatternCell& cell : shown.places[column]) {
        values.append(cell.value ? QString::number(*cell.value) : tr("nothing"));
    }
    ViewItem out;
    out.rect = cellRect(index, 0, now)
                   .united(cellRect(index, pattern_.rows() - 1, now))
                   .adjusted(-4, -kPatternBadge - 6, 4, 2);
    out.name = tr("device %1 has %2").arg(pattern_.devices[column]).arg(values.join(", "));
    for (const PatternMessage& message : shown.messages) {
        if (message.from == index) {
            out.name += (message.adds ? tr("; it sent %1 to device %2, which added it")
                                      : tr("; it sent %1 to device %2"))
                            .arg(message.value)
                            .arg(pattern_.devices[static_cast<std::size_t>(message.to)]);
        }
    }
    return out;
}

void PatternView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (pattern_.steps.empty()) {
        return;
    }
    const Theme& theme = Theme::current();
    const Frame now = frame(view_size);
    const bool travelling = progress_ < 1.0 && step_ > 0;
    const PatternStep& shown = pattern_.steps[static_cast<std::size_t>(step_)];
    const PatternStep& before =
        pattern_.steps[static_cast<std::size_t>(travelling ? step_ - 1 : step_)];
    const std::vector<QColor> colors = devicePalette(pattern_.mesh);
    const double badge_width =
        std::max(kPatternBadge, deviceBadgeWidth(static_cast<int>(colors.size())));
    for (int column = 0; column < itemCount(); ++column) {
        const int device = pattern_.devices[static_cast<std::size_t>(column)];
        const QRectF first = cellRect(column, 0, now);
        paintDeviceBadge(painter,
                         QRectF(std::round(first.center().x() - badge_width / 2.0), kPatternTop,
                                badge_width, kPatternBadge),
                         device, colors[static_cast<std::size_t>(device)]);
        const auto& cells = before.places[static_cast<std::size_t>(column)];
        for (int row = 0; row < pattern_.rows(); ++row) {
            PatternCell cell = cells[static_cast<std::size_t>(row)];
            cell.fresh = cell.fresh && !travelling;
            paintCell(painter, cell, cellRect(column, row, now));
        }
    }
    if (pattern_.second_rows > 0) {
        const double y = cellRect(0, pattern_.rows() - pattern_.second_rows, now).top() - 6.0;
        paintHairline(painter, {kPatternMargin, y}, {view_size.width() - kPatternMargin, y},
                      theme.color(Role::Hairline));
    }
    for (const PatternMessage& message : shown.messages) {
        paintMessage(painter, message, now, travelling ? progress_ : -1.0);
    }
}

void PatternView::paintCell(QPainter& painter, const PatternCell& cell, const QRectF& rect) const {
    const Theme& theme = Theme::current();
    if (!cell.value) {
        paintSurface(painter, rect, 3.0, theme.color(Role::Surface), theme.color(Role::Hairline),
                     Qt::DashLine);
        return;
    }
    const Role edge = cell.fresh ? Role::Accent : cell.done ? Role::Success : Role::Border;
    paintSurface(painter, rect, 3.0,
                 theme.color(cell.done    ? Role::SuccessTint
                             : cell.fresh ? Role::AccentTint
                                          : Role::Inset),
                 theme.color(edge), Qt::SolidLine, cell.fresh ? 2.0 : 1.0);
    QFont font = theme.font(TextStyle::MonoSmall);
    font.setBold(cell.done);
    paintText(painter, rect, Qt::AlignCenter, QString::number(*cell.value), font,
              theme.color(Role::Text), Qt::ElideNone);
}

// Round the ring: from the last column to the first.
bool PatternView::wraps(const PatternMessage& message) const {
    return message.from == itemCount() - 1 && message.to == 0 && itemCount() > 2 &&
           pattern_.second_rows == 0;
}

// At rest an arrow with the number beside it; on the way the number alone.
void PatternView::paintMessage(QPainter& painter, const PatternMessage& message, const Frame& frame,
                               double progress) const {
    const Theme& theme = Theme::current();
    const QColor color = theme.color(Role::Accent);
    const QRectF source = cellRect(message.from, message.from_row, frame);
    const QRectF target = cellRect(message.to, message.to_row, frame);
    const bool round = wraps(message);
    const QString text =
        (message.adds ? QStringLiteral("+") : QString()) + QString::number(message.value);
    const QFont font = theme.font(TextStyle::MonoSmall);
    const QSizeF size(std::ceil(textWidth(font, text)) + 6.0,
                      std::min(frame.row - 2.0, QFontMetricsF(font).height()));
    const auto label = [&](const QPointF& center) {
        const QRectF rect(center - QPointF(size.width() / 2.0, size.height() / 2.0), size);
        paintSurface(painter, rect, 3.0, theme.color(Role::Surface), color);
        paintText(painter, rect, Qt::AlignCenter, text, font, color, Qt::ElideNone);
    };
    if (progress >= 0.0) {
        QPointF at = source.center() + (target.center() - source.center()) * progress;
        if (round) {
            const double half = progress * 2.0;
            at = half < 1.0
                     ? source.center() + QPointF((frame.width - source.center().x()) * half, 0.0)
                     : QPointF(target.center().x() * (half - 1.0), target.center().y());
        }
        label(at);
        return;
    }
    const bool rightward = message.to > message.from || round;
    const QPointF from(rightward ? source.right() + 1.0 : source.left() - 1.0, source.center().y());
    const QPointF to(rightward ? target.left() - 1.0 : target.right() + 1.0, target.center().y());
    if (round) {
        paintPoint(painter, from, {frame.width - 4.0, from.y()}, color);
        paintPoint(painter, {4.0, to.y()}, to, color);
        return;
    }
    paintPoint(painter, from, to, color);
    if (pattern_.second_rows == 0 && std::abs(message.to - message.from) == 1 &&
        std::abs(to.x() - from.x()) > size.width() + 2.0 * kPatternHead) {
        label((from + to) / 2.0);
    }
}

} // namespace weft::widgets
