// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/memory_bar.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kLimitWidth = 2.0;
constexpr double kMeasuredHeight = 16.0;
constexpr double kPlannedHeight = 6.0;
constexpr double kBarGap = 6.0;

QString percentOf(qint64 part, qint64 whole) {
    return whole > 0
               ? QStringLiteral("%1 %").arg(
                     100.0 * static_cast<double>(part) / static_cast<double>(whole), 0, 'f', 1)
               : QString();
}

} // namespace

MemoryBar::MemoryBar(QWidget* parent) : PaintedView(parent) {
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAccessibleName(tr("Memory by category"));
}

MemoryBar::Bar MemoryBar::makeBar(std::vector<MemorySegment> segments, const QString& label) {
    std::erase_if(segments, [](const MemorySegment& s) { return s.bytes <= 0; });
    std::stable_sort(segments.begin(), segments.end(),
                     [](const auto& a, const auto& b) { return a.category < b.category; });
    Bar bar{label, std::move(segments), 0};
    for (const MemorySegment& segment : bar.segments) {
        bar.total += segment.bytes;
    }
    return bar;
}

void MemoryBar::setMeasured(std::vector<MemorySegment> segments, const QString& label) {
    measured_ = makeBar(std::move(segments), label.isEmpty() ? tr("measured") : label);
    setAccessibleDescription(tr("measured %1").arg(unit().text(measured_.total)));
    itemsChanged();
}

void MemoryBar::setPlanned(std::vector<MemorySegment> segments, const QString& label) {
    planned_ = makeBar(std::move(segments), label.isEmpty() ? tr("planned") : label);
    itemsChanged();
}

void MemoryBar::setLimit(std::optional<qint64> bytes) {
    limit_ = bytes;
    itemsChanged();
}

void MemoryBar::setAlike(bool alike) {
    alike_ = alike;
    itemsChanged();
}

void MemoryBar::setLegendVisible(bool visible) {
    legend_visible_ = visible;
    itemsChanged();
}

MemoryUnit MemoryBar::unit() const {
    return MemoryUnit(std::max(measured_.total, planned_.total));
}

qint64 MemoryBar::measuredBytes() const {
    return measured_.total;
}

qint64 MemoryBar::plannedBytes() const {
    return planned_.total;
}

int MemoryBar::itemCount() const {
    return static_cast<int>(measured_.segments.size() + planned_.segments.size());
}

ViewItem MemoryBar::item(int index) const {
    const int first = static_cast<int>(measured_.segments.size());
    const int bar = index < first ? 0 : 1;
    const int local = bar == 0 ? index : index - first;
    const Bar& shown = bar == 0 ? measured_ : planned_;
    const MemorySegment& segment = shown.segments[static_cast<std::size_t>(local)];
    const QString name =
        tr("%1 %2 %3").arg(shown.label, memoryName(segment.category), unit().text(segment.bytes));
    return {segmentRect(bar, local, width()), name,
            name + QStringLiteral(", ") + percentOf(segment.bytes, shown.total)};
}

int MemoryBar::neighbour(int index, int key) const {
    const int first = static_cast<int>(measured_.segments.size());
    if (key == Qt::Key_Down && index < first && !planned_.segments.empty()) {
        return first + std::min(index, static_cast<int>(planned_.segments.size()) - 1);
    }
    if (key == Qt::Key_Up && index >= first && first > 0) {
        return std::min(index - first, first - 1);
    }
    return PaintedView::neighbour(index, key);
}

double MemoryBar::labelWidth() const {
    const QFont font = Theme::current().font(TextStyle::Caption);
    return std::ceil(std::max(textWidth(font, measured_.label), textWidth(font, planned_.label))) +
           12.0;
}

QString MemoryBar::totalText(const Bar& bar) const {
    const bool over = limit_ && bar.total > *limit_;
    return over ? tr("%1, over by %2").arg(unit().text(bar.total), unit().text(bar.total - *limit_))
                : unit().text(bar.total);
}

/// Room behind the bars: for the longest total, and 10 in front of it.
double MemoryBar::totalWidth() const {
    const QFont mono = Theme::current().font(TextStyle::MonoSmall);
    return std::max(84.0 * Theme::current().fontScale(),
                    10.0 + std::ceil(std::max(textWidth(mono, totalText(measured_)),
                                              textWidth(mono, totalText(planned_)))));
}

// The widest bar, and the limit when it is not far away, fill the room.
double MemoryBar::barScale(double width) const {
    qint64 most = std::max(measured_.total, planned_.total);
    if (limit_ && *limit_ < most * 3) {
        most = std::max(most, *limit_);
    }
    return most > 0 ? (width - labelWidth() - totalWidth()) / static_cast<double>(most) : 0.0;
}

std::optional<double> MemoryBar::limitX(double width) const {
    const double scale = barScale(width);
    if (!limit_ || scale <= 0.0) {
        return std::nullopt;
    }
    const double x = std::round(labelWidth() + scale * static_cast<double>(*limit_));
    return x <= width ? std::optional(x) : std::nullopt;
}

QRectF MemoryBar::barRect(int bar, double width) const {
    const Bar& shown = bar == 0 ? measured_ : planned_;
    const double line = lineHeight(TextStyle::Caption);
    const double row = std::max(kMeasuredHeight, line);
    const double height = bar == 0 || alike_ ? kMeasuredHeight : kPlannedHeight;
    const double top = bar == 0 ? (row - height) / 2.0
                                : row + kBarGap + ((alike_ ? row : line) - height) / 2.0 - 2.0;
    return {labelWidth(), std::round(top), barScale(width) * static_cast<double>(shown.total),
            height};
}

QRectF MemoryBar::segmentRect(int bar, int index, double width) const {
    const Bar& shown = bar == 0 ? measured_ : planned_;
    const QRectF whole = barRect(bar, width);
    const double scale = barScale(width);
    qint64 before = 0;
    for (int i = 0; i < index; ++i) {
        before += shown.segments[static_cast<std::size_t>(i)].bytes;
    }
    const qint64 after = before + shown.segments[static_cast<std::size_t>(index)].bytes;
    const double left = std::round(whole.left() + scale * static_cast<double>(before));
    const double right = std::round(whole.left() + scale * static_cast<double>(after));
    return {left, whole.top(), std::max(1.0, right - left), whole.height()};
}

double MemoryBar::legendTop() const {
    const double line = lineHeight(TextStyle::Caption);
    const double row = std::max(kMeasuredHeight, line);
    double bottom = row;
    if (planned_.total > 0) {
        bottom += kBarGap + (alike_ ? row : line) - 2.0;
    }
    return bottom + 8.0;
}

std::vector<MemorySegment> MemoryBar::legendSegments() const {
    std::vector<MemorySegment> out = (measured_.total > 0 ? measured_ : planned_).segments;
    for (const MemorySegment& other : alike_ ? planned_.segments : std::vector<MemorySegment>{}) {
        const auto place = std::lower_bound(
            out.begin(), out.end(), other.category,
            [](const MemorySegment& one, MemoryCategory wanted) { return one.category < wanted; });
        if (place == out.end() || place->category != other.category) {
            out.insert(place, other);
        }
    }
    return out;
}

std::vector<MemoryBar::LegendEntry> MemoryBar::legend(double width) const {
    std::vector<LegendEntry> entries;
    const std::vector<MemorySegment> segments = legendSegments();
    const QFont caption = Theme::current().font(TextStyle::Caption);
    const QFont mono = Theme::current().font(TextStyle::MonoSmall);
    const double line = lineHeight(TextStyle::Caption) + 4.0;
    double x = 0.0;
    double y = legendTop();
    for (const MemorySegment& segment : segments) {
        const double number = alike_ ? 0.0 : 5.0 + textWidth(mono, unit().figure(segment.bytes));
        const double entry =
            kSwatch + 6.0 + textWidth(caption, memoryName(segment.category)) + number;
        if (x > 0.0 && x + entry > width) {
            x = 0.0;
            y += line;
        }
        entries.push_back({QRectF(x, y, std::ceil(entry), line), segment});
        x += std::ceil(entry) + 16.0;
    }
    return entries;
}

int MemoryBar::heightForWidth(int width) const {
    const auto entries = legend_visible_ ? legend(width) : std::vector<LegendEntry>{};
    return static_cast<int>(
        std::ceil(entries.empty() ? legendTop() - 8.0 : entries.back().rect.bottom()));
}

QSize MemoryBar::sizeHint() const {
    return {640, heightForWidth(640)};
}

QSize MemoryBar::minimumSizeHint() const {
    return {240, heightForWidth(std::max(240, width()))};
}

void MemoryBar::paintScene(QPainter& painter, const QSizeF& view_size) const {
    paintBar(painter, 0, view_size.width());
    if (planned_.total > 0) {
        paintBar(painter, 1, view_size.width());
    }
    if (const auto x = limitX(view_size.width())) {
        const bool over = std::max(measured_.total, planned_.total) > *limit_;
        painter.fillRect(QRectF(*x, 0, kLimitWidth, legendTop() - 8.0),
                         Theme::current().color(over ? Role::Error : Role::Text));
    }
    if (legend_visible_) {
        paintLegend(painter, view_size.width());
    }
}

void MemoryBar::paintBar(QPainter& painter, int bar, double width) const {
    const Theme& theme = Theme::current();
    const Bar& shown = bar == 0 ? measured_ : planned_;
    const QRectF whole = barRect(bar, width);
    const Role role = bar == 0 ? Role::Text : Role::Muted;
    const double line = lineHeight(TextStyle::Caption);
    const QRectF row(0, whole.center().y() - line / 2.0, width, line);
    paintText(painter, QRectF(row.left(), row.top(), labelWidth(), line),
              Qt::AlignLeft | Qt::AlignVCenter, shown.label, theme.font(TextStyle::Caption),
              theme.color(role));
    for (int i = 0; i < static_cast<int>(shown.segments.size()); ++i) {
        const MemorySegment& segment = shown.segments[static_cast<std::size_t>(i)];
        QRectF rect = segmentRect(bar, i, width);
        if (rect.width() > 3.0) {
            rect.setWidth(rect.width() - 1.0); // the gap that parts neighbours
        }
        const QColor color = theme.memory(segment.category);
        paintFill(painter, rect,
                  bar == 0 || alike_ ? color : mixed(color, theme.color(Role::Surface), 0.6),
                  memoryFill(segment.category));
    }
    const bool over = limit_ && shown.total > *limit_;
    const QString total = totalText(shown);
    const QFont mono = theme.font(TextStyle::MonoSmall);
    double x = std::min(whole.right() + 10.0, width - textWidth(mono, total));
    const auto limit = limitX(width);
    if (limit && *limit + kLimitWidth > x - 4.0 && *limit < x + textWidth(mono, total) + 4.0) {
        x = std::min(*limit + 10.0, width - textWidth(mono, total));
    }
    paintText(painter, QRectF(x, row.top(), width - x, line), Qt::AlignLeft | Qt::AlignVCenter,
              total, mono, theme.color(over ? Role::Error : role), Qt::ElideNone);
}

void MemoryBar::paintLegend(QPainter& painter, double width) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const QFont mono = theme.font(TextStyle::MonoSmall);
    for (const LegendEntry& entry : legend(width)) {
        const MemoryCategory category = entry.segment.category;
        const QRectF swatch(entry.rect.left(), std::round(entry.rect.center().y() - kSwatch / 2.0),
                            kSwatch, kSwatch);
        if (memoryFill(category) == Fill::Solid) {
            paintSurface(painter, swatch, 2.0, theme.memory(category), {});
        } else {
            paintFill(painter, swatch, theme.memory(category), memoryFill(category));
        }
        const QString name = memoryName(category);
        const double name_width = textWidth(caption, name);
        const QRectF text = entry.rect.adjusted(kSwatch + 6.0, 0, 0, 0);
        paintText(painter, text, Qt::AlignLeft | Qt::AlignVCenter, name, caption,
                  theme.color(Role::Muted), Qt::ElideNone);
        if (!alike_) {
            paintText(painter, text.adjusted(name_width + 5.0, 0, 0, 0),
                      Qt::AlignLeft | Qt::AlignVCenter, unit().figure(entry.segment.bytes), mono,
                      theme.color(Role::Text), Qt::ElideNone);
        }
    }
}

} // namespace weft::widgets
