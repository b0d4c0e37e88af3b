// SPDX-License-Identifier: GPL-3.0-or-later
// How the pipeline's rows, cells, bubbles and time look.
#include "widgets/mesh/dense_band.h"
#include "widgets/mesh/gantt_view.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kStageBadge = 18.0;
constexpr double kLeastParted = 5.0; // cells at least as wide are parted by a line
constexpr double kLeastBubble = 3.0; // narrower waiting is only a gap
constexpr double kLeastCell = 2.0;   // narrower ones, on average, are not drawn one by one
constexpr double kTickRoom = 56.0;
constexpr double kGanttEntryGap = 14.0;
constexpr double kPlannedStripe = 3.0; // height of what was planned
constexpr std::size_t kKinds = 4;

void paintBubble(QPainter& painter, const QRectF& rect) {
    const Theme& theme = Theme::current();
    painter.fillRect(rect, theme.color(Role::Inset));
    paintFill(painter, rect, theme.color(Role::EmptyBar), Fill::Hatched);
}

/// Cells with room for it leave a line to the next; `exact`: its width before it was put on pixels,
/// so that cells of one length look alike.
QRectF partedRect(const QRectF& cell, double exact) {
    return exact >= kLeastParted ? cell.adjusted(0, 0, -1, 0) : cell;
}

} // namespace

// Three steps of the accent, each darker on light and lighter on dark than the one before.
QColor ganttColor(GanttKind kind) {
    const Theme& theme = Theme::current();
    const QColor accent = theme.color(Role::Accent);
    const bool dark = theme.isDark();
    switch (kind) {
    case GanttKind::Forward: return mixed(accent, theme.color(Role::Surface), dark ? 0.3 : 0.28);
    case GanttKind::Backward:
    case GanttKind::InputGradient:
        return mixed(accent, theme.color(Role::Surface), dark ? 0.72 : 0.88);
    case GanttKind::WeightGradient: return mixed(accent, theme.color(Role::Text), 0.62);
    }
    return accent;
}

QColor ganttTextColor(GanttKind kind) {
    return readableOn(ganttColor(kind));
}

struct GanttColors {
    GanttColors() {
        for (std::size_t kind = 0; kind < kKinds; ++kind) {
            fills[kind] = ganttColor(static_cast<GanttKind>(kind));
            inks[kind] = ganttTextColor(static_cast<GanttKind>(kind));
        }
    }
    std::array<QColor, kKinds> fills;
    std::array<QColor, kKinds> inks;
};

// On the screen what stands still is kept: moving the mouse over thousands of cells paints only
// what follows it.
void GanttView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (makespan_ <= 0) {
        return;
    }
    const Frame now = frame(view_size);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    still_.paint(painter, this, view_size, [&](QPainter& still) { paintStill(still, now); });
    painter.setOpacity(stale_ ? kStaleOpacity : 1.0);
    paintFollowed(painter, now);
    paintMark(painter, now);
    paintTimeLine(painter, now);
    painter.restore();
}

void GanttView::paintStill(QPainter& painter, const Frame& frame) const {
    painter.setOpacity(stale_ ? kStaleOpacity : 1.0);
    const GanttColors colors;
    for (int row = frame.first_row; row < frame.first_row + frame.rows; ++row) {
        paintBadge(painter, row, frame);
        paintBubbles(painter, row, frame);
        paintRow(painter, row, frame, colors);
    }
    paintAxis(painter, frame);
}

void GanttView::paintBadge(QPainter& painter, int row, const Frame& frame) const {
    const Theme& theme = Theme::current();
    const QRectF place = rowRect(row, frame);
    const double side = std::min(kStageBadge, place.height());
    const QRectF badge(space::kGroup, std::round(place.center().y() - side / 2.0), kStageBadge,
                       side);
    // A stage may be many devices: it does not look like one of them.
    paintSurface(painter, badge, side / 2, theme.color(Role::Surface), theme.color(Role::Border));
    paintText(painter, badge, Qt::AlignCenter, QString::number(row),
              theme.font(TextStyle::MonoSmall), theme.color(Role::Muted), Qt::ElideNone);
}

void GanttView::paintBubbles(QPainter& painter, int row, const Frame& frame) const {
    const QRectF place = rowRect(row, frame);
    const std::vector<GanttCell>& cells = data_.rows[static_cast<std::size_t>(row)].cells;
    double idle_from = 0;
    const auto paint = [&](double until) {
        if (until > first_ && idle_from < last_) {
            const double left = std::round(std::max(place.left(), xOf(idle_from, frame)));
            const double right = std::round(std::min(place.right(), xOf(until, frame)));
            if (right - left >= kLeastBubble) {
                paintBubble(painter, QRectF(left, place.top(), right - left - 1.0, place.height()));
            }
        }
    };
    for (const GanttCell& cell : cells) {
        paint(cell.start);
        idle_from = cell.end;
    }
    paint(makespan_);
}

void GanttView::paintDense(QPainter& painter, int row, const Frame& frame,
                           const GanttColors& colors) const {
    const std::vector<GanttCell>& cells = data_.rows[static_cast<std::size_t>(row)].cells;
    const auto [first, behind] = cellsInSight(row);
    const auto stretch = [&](std::size_t i) {
        return DenseStretch{cells[i].start, cells[i].end,
                            colors.fills[static_cast<std::size_t>(cells[i].kind)].rgb()};
    };
    paintDenseBand(painter, rowRect(row, frame), first_, last_, first, behind, stretch,
                   Theme::current().color(Role::Inset).rgb());
}

void GanttView::paintRow(QPainter& painter, int row, const Frame& frame,
                         const GanttColors& colors) const {
    const std::vector<GanttCell>& cells = data_.rows[static_cast<std::size_t>(row)].cells;
    const auto [first, behind] = cellsInSight(row);
    const QRectF place = rowRect(row, frame);
    if (static_cast<double>(behind - first) * kLeastCell > place.width()) {
        paintDense(painter, row, frame, colors);
        paintPlanned(painter, row, frame);
        return;
    }
    const QFont font = Theme::current().font(TextStyle::MonoSmall);
    const QFontMetricsF metrics(font, painter.device());
    const double digit = metrics.horizontalAdvance(QLatin1Char('0'));
    const double baseline =
        std::round(place.center().y() + (metrics.ascent() - metrics.descent()) / 2.0);
    const double scale = frame.plot.width() / (last_ - first_);
    painter.setFont(font);
    for (std::size_t i = first; i < behind; ++i) {
        const GanttCell& cell = cells[i];
        const auto kind = static_cast<std::size_t>(cell.kind);
        const double exact = (cell.end - cell.start) * scale;
        const QRectF rect = partedRect(cellRect(cell, place, frame), exact);
        painter.fillRect(rect, colors.fills[kind]);
        if (exact < digit + 2.0) {
            continue;
        }
        const QString number = QString::number(cell.microbatch);
        const double width = digit * static_cast<double>(number.size());
        if (exact >= width + 2.0 && rect.width() >= width) {
            painter.setPen(colors.inks[kind]);
            painter.drawText(QPointF(std::round(rect.center().x() - width / 2.0), baseline),
                             number);
        }
    }
    paintPlanned(painter, row, frame);
}

// Parts of the plan may lie behind the last cell, or out of the time that is drawn.
void GanttView::paintPlanned(QPainter& painter, int row, const Frame& frame) const {
    const QRectF place = rowRect(row, frame);
    for (const auto& [start, end] : data_.rows[static_cast<std::size_t>(row)].planned) {
        const double left = std::max(frame.plot.left(), std::round(xOf(start, frame)));
        const double right = std::min(frame.plot.right(), std::round(xOf(end, frame)) - 1);
        if (right > left) {
            painter.fillRect(
                QRectF(left, place.bottom() - kPlannedStripe, right - left, kPlannedStripe),
                Theme::current().color(Role::Warning));
        }
    }
}

// A microbatch is followed from the cell under the mouse, else from the cursor's.
void GanttView::paintFollowed(QPainter& painter, const Frame& frame) const {
    const int chosen = hoveredItem() >= 0 ? hoveredItem() : cursorItem();
    if (chosen < 0 || chosen >= itemCount()) {
        return;
    }
    const int microbatch = cellOf(chosen).microbatch;
    const double scale = frame.plot.width() / (last_ - first_);
    for (int row = frame.first_row; row < frame.first_row + frame.rows; ++row) {
        const auto [first, behind] = cellsInSight(row);
        for (std::size_t i = first; i < behind; ++i) {
            const GanttCell& cell = data_.rows[static_cast<std::size_t>(row)].cells[i];
            const double exact = (cell.end - cell.start) * scale;
            const QRectF rect = partedRect(cellRect(cell, rowRect(row, frame), frame), exact);
            if (cell.microbatch == microbatch && exact >= kLeastParted) {
                const bool cursor = itemOf(row, static_cast<int>(i)) == cursorItem();
                paintSurface(painter, rect.adjusted(1, 1, -1, -1), 0.0, {},
                             ganttTextColor(cell.kind), Qt::SolidLine, cursor ? 2.0 : 1.0);
            }
        }
    }
}

void GanttView::paintAxis(QPainter& painter, const Frame& frame) const {
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::MonoSmall);
    const double top = frame.plot.bottom();
    const double height = std::ceil(QFontMetricsF(font).height());
    paintHairline(painter, {frame.plot.left(), top}, {frame.plot.right(), top},
                  theme.color(Role::Border));
    const QRectF unit(frame.plot.right() - textWidth(font, data_.unit), top + 5.0,
                      textWidth(font, data_.unit), height);
    paintText(painter, unit, Qt::AlignRight | Qt::AlignVCenter, data_.unit, font,
              theme.color(Role::Muted), Qt::ElideNone);
    const double step = tickStep(last_ - first_, frame.plot.width() / kTickRoom);
    const int decimals = step >= 1.0 ? 0 : static_cast<int>(std::ceil(-std::log10(step)));
    for (auto tick = static_cast<qint64>(std::ceil(first_ / step));
         static_cast<double>(tick) * step <= last_; ++tick) {
        const double time = static_cast<double>(tick) * step;
        const double x = std::round(xOf(time, frame));
        const QString text =
            decimals == 0 ? formatCount(std::llround(time)) : QString::number(time, 'f', decimals);
        const double width = textWidth(font, text);
        paintHairline(painter, {x, top}, {x, top + 4.0}, theme.color(Role::Border));
        if (x + width / 2.0 + 6.0 < unit.left()) {
            paintText(painter, QRectF(x - width / 2.0, top + 5.0, width, height),
                      Qt::AlignHCenter | Qt::AlignVCenter, text, font, theme.color(Role::Muted),
                      Qt::ElideNone);
        }
    }
}

void GanttView::paintTimeLine(QPainter& painter, const Frame& frame) const {
    const bool at_cursor = !pointed_ && cursorItem() >= 0;
    if (!pointed_ && !at_cursor) {
        return;
    }
    const double time = pointed_ ? *pointed_ : cellOf(cursorItem()).start;
    if (time < first_ || time > last_) {
        return;
    }
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::MonoSmall);
    const double x = std::min(std::round(xOf(time, frame)), frame.plot.right() - 1.0);
    painter.fillRect(QRectF(x, frame.plot.top() - 3.0, 1.0, frame.plot.height() + 7.0),
                     theme.color(Role::Text));
    const QString text = timeText(time) + QLatin1Char(' ') + data_.unit;
    const double width = std::ceil(textWidth(font, text)) + 8.0;
    const double left = std::clamp(x - width / 2.0, frame.plot.left() - 8.0,
                                   std::max(frame.plot.left() - 8.0, frame.plot.right() - width));
    const QRectF label(std::round(left), frame.plot.bottom() + 4.0, width,
                       std::ceil(QFontMetricsF(font).height()) + 2.0);
    painter.fillRect(label, theme.color(Role::Surface));
    paintText(painter, label, Qt::AlignCenter, text, font, theme.color(Role::Text), Qt::ElideNone);
}

void GanttView::paintMark(QPainter& painter, const Frame& frame) const {
    if (!mark_ || *mark_ < first_ || *mark_ > last_) {
        return;
    }
    const Theme& theme = Theme::current();
    painter.setBrush(Qt::NoBrush);
    for (const int item : itemsAt(*mark_)) {
        const int row = rowOf(item);
        if (row < frame.first_row || row >= frame.first_row + frame.rows) {
            continue;
        }
        const QRectF cell = cellRect(cellOf(item), rowRect(row, frame), frame);
        painter.setPen(
            QPen(theme.color(Role::Text), 2.0, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
        painter.drawRect(cell.adjusted(0, 0, -1, -1));
    }
    const double x = std::min(std::round(xOf(*mark_, frame)), frame.plot.right() - 1.0);
    painter.fillRect(QRectF(x - 1.0, frame.plot.top() - 4.0, 3.0, frame.plot.height() + 5.0),
                     theme.color(Role::Surface));
    painter.fillRect(QRectF(x, frame.plot.top() - 5.0, 1.0, frame.plot.height() + 9.0),
                     theme.color(Role::Accent));
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.color(Role::Accent));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.drawPolygon(QPolygonF{QPointF(x - 3.5, frame.plot.top() - 6.0),
                                  QPointF(x + 4.5, frame.plot.top() - 6.0),
                                  QPointF(x + 0.5, frame.plot.top())});
    painter.setRenderHint(QPainter::Antialiasing, false);
}

GanttLegend::GanttLegend(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    setAccessibleName(tr("Meaning of the colours"));
}

void GanttLegend::setData(const GanttData& data) {
    const QString names[] = {tr("forward"), tr("backward"), tr("input gradient"),
                             tr("weight gradient")};
    std::array<bool, kKinds> used{};
    for (const GanttRow& row : data.rows) {
        for (const GanttCell& cell : row.cells) {
            used[static_cast<std::size_t>(cell.kind)] = true;
        }
    }
    entries_.clear();
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
        if (used[kind]) {
            entries_.push_back({names[kind], static_cast<GanttKind>(kind)});
        }
    }
    if (!entries_.empty()) {
        entries_.push_back({tr("bubble"), std::nullopt});
    }
    QStringList said;
    for (const Entry& entry : entries_) {
        said.append(entry.name);
    }
    setAccessibleDescription(said.join(QStringLiteral(", ")));
    updateGeometry();
    update();
}

QSize GanttLegend::sizeHint() const {
    const QFont font = Theme::current().font(TextStyle::Caption);
    double width = 0;
    for (const Entry& entry : entries_) {
        width += kSwatch + 6.0 + std::ceil(textWidth(font, entry.name)) + kGanttEntryGap;
    }
    return {static_cast<int>(width), static_cast<int>(std::ceil(QFontMetricsF(font).height())) + 4};
}

void GanttLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::Caption);
    double x = 0;
    for (const Entry& entry : entries_) {
        const double width = std::ceil(textWidth(font, entry.name));
        if (x + kSwatch + 6.0 + width > this->width()) {
            return;
        }
        const QRectF swatch(x, std::round(height() / 2.0 - kSwatch / 2.0), kSwatch, kSwatch);
        if (entry.kind) {
            painter.fillRect(swatch, ganttColor(*entry.kind));
        } else {
            paintBubble(painter, swatch);
        }
        paintText(painter, QRectF(x + kSwatch + 6.0, 0, width, height()),
                  Qt::AlignLeft | Qt::AlignVCenter, entry.name, font, theme.color(Role::Muted),
                  Qt::ElideNone);
        x += kSwatch + 6.0 + width + kGanttEntryGap;
    }
}

} // namespace weft::widgets
