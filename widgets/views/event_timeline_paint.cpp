// SPDX-License-Identifier: GPL-3.0-or-later
// How the timeline's rows, stretches, axis and small picture look.
#include "widgets/mesh/dense_band.h"
#include "widgets/mesh/gantt_view.h"
#include "widgets/views/event_timeline.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kDenseSpan = 2.0;  // narrower ones, on average, are not drawn one by one
constexpr double kPartedSpan = 4.0; // at least as wide are parted by a line
constexpr double kTimelineTick = 64.0;
constexpr double kSpanTextPadding = 4.0;
constexpr double kEventEntryGap = 12.0;
constexpr int kSpanKinds = 7;

} // namespace

// Computing wears the colours of a pipeline's cells.
QColor spanColor(SpanKind kind) {
    const Theme& theme = Theme::current();
    switch (kind) {
    case SpanKind::Forward: return ganttColor(GanttKind::Forward);
    case SpanKind::Backward: return ganttColor(GanttKind::Backward);
    case SpanKind::Update: return ganttColor(GanttKind::WeightGradient);
    case SpanKind::Exchange: return theme.memory(MemoryCategory::Communication);
    case SpanKind::Waiting: return theme.color(Role::EmptyBar);
    case SpanKind::Loader: return theme.color(Role::Muted);
    case SpanKind::Host: return theme.memory(MemoryCategory::Optimizer);
    }
    return theme.color(Role::Muted);
}

QString spanName(SpanKind kind) {
    switch (kind) {
    case SpanKind::Forward: return EventTimeline::tr("forward");
    case SpanKind::Backward: return EventTimeline::tr("backward");
    case SpanKind::Update: return EventTimeline::tr("update");
    case SpanKind::Exchange: return EventTimeline::tr("exchange");
    case SpanKind::Waiting: return EventTimeline::tr("waiting");
    case SpanKind::Loader: return EventTimeline::tr("loader");
    case SpanKind::Host: break;
    }
    return EventTimeline::tr("host");
}

QColor EventTimeline::fillOf(const EventSpan& span) const {
    return isMarked(span) && span.kind != SpanKind::Waiting ? Theme::current().color(Role::Warning)
                                                            : spanColor(span.kind);
}

void EventTimeline::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (data_.length <= 0) {
        return;
    }
    const Frame now = frame(view_size);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    still_.paint(painter, this, view_size, [&](QPainter& still) { paintStill(still, now); });
    for (const int item : {hoveredItem(), cursorItem()}) {
        if (item < 0 || item >= itemCount()) {
            continue;
        }
        const QRectF row = rowRect(rowOf(item), now);
        const EventSpan& span = spanOf(item);
        if (span.end > first_ && span.start < last_ && row.top() >= now.plot.top() - 0.5 &&
            row.bottom() <= now.plot.bottom() + 0.5) {
            const QRectF rect = spanRect(span, row, now);
            paintSurface(painter, rect.adjusted(-1, 0, 1, 0), 0.0, {},
                         Theme::current().color(Role::Text), Qt::SolidLine,
                         item == cursorItem() ? 2.0 : 1.0);
        }
    }
    painter.restore();
}

void EventTimeline::paintStill(QPainter& painter, const Frame& frame) const {
    paintOverview(painter, frame);
    paintAxis(painter, frame);
    painter.save();
    painter.setClipRect(QRectF(0, frame.plot.top(), frame.plot.right() + 1, frame.plot.height()));
    for (int row = 0; row < static_cast<int>(data_.rows.size()); ++row) {
        const QRectF place = rowRect(row, frame);
        if (place.bottom() > frame.plot.top() && place.top() < frame.plot.bottom()) {
            paintRow(painter, row, frame);
        }
    }
    painter.restore();
}

// The first device stands for all.
void EventTimeline::paintOverview(QPainter& painter, const Frame& frame) const {
    const Theme& theme = Theme::current();
    painter.fillRect(frame.overview, theme.color(Role::Inset));
    if (!data_.rows.empty()) {
        paintBand(painter, data_.rows.front(), frame.overview, 0, data_.length);
    }
    const auto x = [&](double time) {
        return std::round(frame.overview.left() + frame.overview.width() * time / data_.length);
    };
    const QRectF window(x(first_), frame.overview.top(), std::max(3.0, x(last_) - x(first_)),
                        frame.overview.height());
    QColor veil = theme.color(Role::Surface);
    veil.setAlphaF(0.6F);
    painter.fillRect(QRectF(frame.overview.topLeft(), window.bottomLeft()), veil);
    painter.fillRect(QRectF(window.topRight(), frame.overview.bottomRight()), veil);
    paintSurface(painter, window, 0.0, {}, theme.color(Role::Accent), Qt::SolidLine, 2.0);
    paintText(painter,
              QRectF(0, frame.overview.top(), frame.overview.left() - space::kGroup,
                     frame.overview.height()),
              Qt::AlignRight | Qt::AlignVCenter, tr("whole step"), theme.font(TextStyle::Caption),
              theme.color(Role::Muted));
}

void EventTimeline::paintAxis(QPainter& painter, const Frame& frame) const {
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::MonoSmall);
    const QColor ink = theme.color(Role::Muted);
    const double unit = textWidth(font, data_.unit);
    paintText(painter, frame.axis, Qt::AlignRight | Qt::AlignVCenter, data_.unit, font, ink,
              Qt::ElideNone);
    if (last_ <= first_) {
        return;
    }
    const double step = tickStep(last_ - first_, frame.axis.width() / kTimelineTick);
    const int decimals = step >= 1.0 ? 0 : static_cast<int>(std::ceil(-std::log10(step)));
    for (auto tick = static_cast<qint64>(std::ceil(first_ / step));
         static_cast<double>(tick) * step <= last_; ++tick) {
        const double time = static_cast<double>(tick) * step;
        const double x = std::round(xOf(time, frame));
        const QString text = formatDecimals(time, decimals);
        const double width = textWidth(font, text);
        const double left = std::max(frame.axis.left(), x - width / 2.0);
        if (left + width + 8.0 < frame.axis.right() - unit) {
            paintText(painter, QRectF(left, frame.axis.top(), width + 1.0, frame.axis.height()),
                      Qt::AlignLeft | Qt::AlignVCenter, text, font, ink, Qt::ElideNone);
        }
        paintHairline(painter, {x, frame.plot.top()}, {x, frame.plot.bottom()},
                      theme.color(Role::Hairline));
    }
}

void EventTimeline::paintBand(QPainter& painter, const EventRow& row, const QRectF& place,
                              double first, double last) const {
    const std::vector<EventSpan>& spans = row.spans;
    const auto begin = std::partition_point(
        spans.begin(), spans.end(), [&](const EventSpan& span) { return span.end <= first; });
    const auto behind = std::partition_point(
        begin, spans.end(), [&](const EventSpan& span) { return span.start < last; });
    paintDenseBand(
        painter, place, first, last, static_cast<std::size_t>(begin - spans.begin()),
        static_cast<std::size_t>(behind - spans.begin()),
        [&](std::size_t i) {
            return DenseStretch{spans[i].start, spans[i].end, fillOf(spans[i]).rgb()};
        },
        Theme::current().color(Role::Inset).rgb());
}

void EventTimeline::paintRow(QPainter& painter, int row, const Frame& frame) const {
    const Theme& theme = Theme::current();
    const EventRow& data = data_.rows[static_cast<std::size_t>(row)];
    const QRectF place = rowRect(row, frame);
    paintText(painter, QRectF(0, place.top(), place.left() - space::kGroup, place.height()),
              Qt::AlignRight | Qt::AlignVCenter, data.name, theme.font(TextStyle::Caption),
              theme.color(data.thin ? Role::Muted : Role::Text));
    painter.fillRect(place, theme.color(Role::Inset));
    const auto begin =
        std::partition_point(data.spans.begin(), data.spans.end(),
                             [&](const EventSpan& span) { return span.end <= first_; });
    const auto behind = std::partition_point(
        begin, data.spans.end(), [&](const EventSpan& span) { return span.start < last_; });
    if (static_cast<double>(behind - begin) * kDenseSpan > place.width()) {
        paintBand(painter, data, place, first_, last_);
        return;
    }
    for (auto span = begin; span != behind; ++span) {
        paintSpan(painter, *span, spanRect(*span, place, frame));
    }
}

void EventTimeline::paintSpan(QPainter& painter, const EventSpan& span, const QRectF& rect) const {
    const QRectF parted = rect.width() >= kPartedSpan ? rect.adjusted(0, 0, -1, 0) : rect;
    if (span.kind == SpanKind::Waiting) {
        paintFill(painter, parted, spanColor(span.kind), Fill::Hatched);
        return;
    }
    const QColor fill = fillOf(span);
    painter.fillRect(parted, fill);
    const QFont font = Theme::current().font(TextStyle::Caption);
    const QString& name = data_.labels[static_cast<std::size_t>(span.label)].name;
    if (parted.height() >= captionHeight() &&
        textWidth(font, name) + 2 * kSpanTextPadding <= parted.width()) {
        paintText(painter, parted, Qt::AlignCenter, name, font, readableOn(fill), Qt::ElideNone);
    }
}

EventLegend::EventLegend(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    setAccessibleName(tr("Meaning of the colours"));
}

void EventLegend::setData(const EventTimelineData& data) {
    std::vector<bool> used(kSpanKinds, false);
    for (const EventRow& row : data.rows) {
        for (const EventSpan& span : row.spans) {
            used[static_cast<std::size_t>(span.kind)] = true;
        }
    }
    kinds_.clear();
    QStringList said;
    for (int kind = 0; kind < kSpanKinds; ++kind) {
        if (used[static_cast<std::size_t>(kind)]) {
            kinds_.push_back(static_cast<SpanKind>(kind));
            said.append(spanName(kinds_.back()));
        }
    }
    setAccessibleDescription(said.join(QStringLiteral(", ")));
    updateGeometry();
    update();
}

QSize EventLegend::sizeHint() const {
    const QFont font = Theme::current().font(TextStyle::Caption);
    double width = 0;
    for (const SpanKind kind : kinds_) {
        width += kSwatch + 6.0 + std::ceil(textWidth(font, spanName(kind))) + kEventEntryGap;
    }
    return {static_cast<int>(width), static_cast<int>(std::ceil(QFontMetricsF(font).height())) + 4};
}

void EventLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::Caption);
    double x = 0;
    for (const SpanKind kind : kinds_) {
        const double width = std::ceil(textWidth(font, spanName(kind)));
        if (x + kSwatch + 6.0 + width > this->width()) {
            return;
        }
        const QRectF swatch(x, std::round(height() / 2.0 - kSwatch / 2.0), kSwatch, kSwatch);
        if (kind == SpanKind::Waiting) {
            painter.fillRect(swatch, theme.color(Role::Inset));
            paintFill(painter, swatch, spanColor(kind), Fill::Hatched);
        } else {
            painter.fillRect(swatch, spanColor(kind));
        }
        paintText(painter, QRectF(x + kSwatch + 6.0, 0, width, height()),
                  Qt::AlignLeft | Qt::AlignVCenter, spanName(kind), font, theme.color(Role::Muted),
                  Qt::ElideNone);
        x += kSwatch + 6.0 + width + kEventEntryGap;
    }
}

} // namespace weft::widgets
