// SPDX-License-Identifier: GPL-3.0-or-later
// How memory over steps looks.
#include "widgets/mesh/dense_band.h"
#include "widgets/views/memory_timeline.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kLeastName = 60.0; // pixels, of an op with its dots
constexpr double kLeastSpan = 2.0; // pixels; narrower ones, on average, are not drawn one by one

/// Ticks of a binary unit: 1, 2 or 5 times a power of ten of B, KiB, MiB, GiB.
struct Scale {
    double unit = 1.0;
    QString name = QStringLiteral("B");
    double step = 1.0; // in units
};

Scale scaleFor(double most, double room) {
    static const char* const kNames[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    Scale scale;
    int power = 0;
    while (power < 4 && most >= scale.unit * 1024.0) {
        scale.unit *= 1024.0;
        ++power;
    }
    scale.name = QString::fromLatin1(kNames[power]);
    const double raw = most / scale.unit / std::max(2.0, std::floor(room / 44.0));
    const double decade = std::pow(10.0, std::floor(std::log10(std::max(raw, 1e-9))));
    const double mantissa = raw / decade;
    for (const double multiple : {1.0, 2.0, 5.0, 10.0}) {
        if (decade * multiple * scale.unit > most) {
            break; // nought would stand alone
        }
        scale.step = decade * multiple;
        if (mantissa <= multiple) {
            break;
        }
    }
    return scale;
}

} // namespace

// The step that stands for each pixel column: with more steps than pixels the largest of its
// column, so that no peak is lost.
std::vector<int> MemoryTimeline::columnSteps(const QRectF& plot) const {
    const int columns = static_cast<int>(std::floor(plot.width()));
    std::vector<int> steps(static_cast<std::size_t>(std::max(1, columns)), 0);
    const double share = static_cast<double>(stepCount()) / static_cast<double>(steps.size());
    for (std::size_t column = 0; column < steps.size(); ++column) {
        const auto first = static_cast<std::size_t>(static_cast<double>(column) * share);
        const auto last =
            std::max(first + 1, static_cast<std::size_t>(static_cast<double>(column + 1) * share));
        const auto begin = totals_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end =
            totals_.begin() + static_cast<std::ptrdiff_t>(std::min(last, totals_.size()));
        steps[column] = static_cast<int>(std::max_element(begin, end) - totals_.begin());
    }
    return steps;
}

void MemoryTimeline::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (stepCount() == 0) {
        return;
    }
    const QRectF plot = plotRect(view_size);
    painter.save();
    still_.paint(painter, this, view_size, [&](QPainter& still) { paintStill(still, view_size); });
    painter.setOpacity(stale_ ? kStaleOpacity : 1.0);
    paintCursor(painter, plot);
    if (form_ != Form::Slim) {
        paintLimit(painter, plot); // its words lie over the cursor's line
    }
    painter.restore();
}

void MemoryTimeline::paintStill(QPainter& painter, const QSizeF& view_size) const {
    const QRectF plot = plotRect(view_size);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setOpacity(stale_ ? kStaleOpacity : 1.0);
    if (form_ == Form::Full) {
        paintLegend(painter, view_size);
    }
    if (form_ != Form::Slim) {
        paintAxis(painter, plot);
    }
    paintLayers(painter, plot);
    paintGhost(painter, plot);
    if (form_ != Form::Slim) {
        paintMeasured(painter, plot);
        paintPeak(painter, plot);
        paintTicks(painter, plot);
    }
    paintSpans(painter, plot);
}

void MemoryTimeline::paintLegend(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    for (const LegendEntry& entry : legend(view_size)) {
        const QRectF swatch(entry.rect.left(), std::round(entry.rect.center().y() - kSwatch / 2.0),
                            kSwatch, kSwatch);
        paintFill(painter, swatch, theme.memory(entry.category), memoryFill(entry.category));
        paintText(painter, entry.rect.adjusted(kSwatch + 6.0, 0, 0, 0),
                  Qt::AlignLeft | Qt::AlignVCenter, memoryName(entry.category),
                  theme.font(TextStyle::Caption), theme.color(Role::Muted), Qt::ElideNone);
    }
}

void MemoryTimeline::paintAxis(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    const Scale scale = scaleFor(axisTop(), plot.height());
    const double line = captionHeight();
    const int decimals =
        scale.step >= 1.0 ? 0 : static_cast<int>(std::ceil(-std::log10(scale.step)));
    for (int i = 0; i * scale.step * scale.unit <= axisTop(); ++i) {
        const double share = i * scale.step * scale.unit / axisTop();
        const double y = std::round(plot.bottom() - plot.height() * share);
        paintHairline(painter, {plot.left(), y}, {plot.right(), y},
                      theme.color(i == 0 ? Role::Border : Role::Hairline));
        const QString label = QString::number(i * scale.step, 'f', decimals);
        const bool last = (i + 1) * scale.step * scale.unit > axisTop();
        paintText(painter, QRectF(0, y - line / 2.0, plot.left() - 8.0, line),
                  Qt::AlignRight | Qt::AlignVCenter,
                  last ? label + QLatin1Char(' ') + scale.name : label,
                  theme.font(TextStyle::MonoSmall), theme.color(Role::Muted), Qt::ElideNone);
    }
}

void MemoryTimeline::paintLayers(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    const std::vector<int> steps = columnSteps(plot);
    const double scale = plot.height() / axisTop();
    std::vector<qint64> below(steps.size(), 0);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    const auto edge = [&](qint64 bytes) {
        return std::round(plot.bottom() - scale * static_cast<double>(bytes));
    };
    for (const TimelineLayer& layer : data_.layers) {
        const QColor color = theme.memory(layer.category);
        std::size_t start = 0;
        double low = 0.0;
        double high = 0.0;
        const auto flush = [&](std::size_t end) {
            if (end > start && low > high) {
                paintFill(painter,
                          QRectF(plot.left() + static_cast<double>(start), high,
                                 static_cast<double>(end - start), low - high),
                          color, memoryFill(layer.category));
                if (memoryFill(layer.category) != Fill::Solid) { // parts it from the one above
                    painter.fillRect(QRectF(plot.left() + static_cast<double>(start), high,
                                            static_cast<double>(end - start), 1.0),
                                     color);
                }
            }
            start = end;
        };
        for (std::size_t column = 0; column < steps.size(); ++column) {
            const qint64 bytes = layer.bytes[static_cast<std::size_t>(steps[column])];
            const double bottom = edge(below[column]);
            const double top = edge(below[column] + bytes);
            if (column == 0 || bottom != low || top != high) {
                flush(column);
                low = bottom;
                high = top;
            }
            below[column] += bytes;
        }
        flush(steps.size());
    }
    painter.restore();
}

void MemoryTimeline::paintGhost(QPainter& painter, const QRectF& plot) const {
    if (ghost_.empty()) {
        return;
    }
    const Theme& theme = Theme::current();
    QPolygonF outline;
    const double width = plot.width() / static_cast<double>(ghost_.size());
    for (std::size_t step = 0; step < ghost_.size(); ++step) {
        const double y =
            plot.bottom() - plot.height() * static_cast<double>(ghost_[step]) / axisTop();
        outline << QPointF(plot.left() + width * static_cast<double>(step), y)
                << QPointF(plot.left() + width * static_cast<double>(step + 1), y);
    }
    // Two passes, so that the dashes show on every colour under them.
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.color(Role::Surface), 2.6));
    painter.drawPolyline(outline);
    QPen dashes(theme.color(Role::Text), 1.2);
    dashes.setDashPattern({3.0, 2.0});
    painter.setPen(dashes);
    painter.drawPolyline(outline);
}

void MemoryTimeline::paintLimit(QPainter& painter, const QRectF& plot) const {
    if (!limit_) {
        return;
    }
    const Theme& theme = Theme::current();
    const double y =
        std::round(plot.bottom() - plot.height() * static_cast<double>(*limit_) / axisTop());
    const double line = captionHeight();
    const bool near = y >= plot.top() - 1.0;
    const bool over = most_ > *limit_;
    const QString text = near ? tr("limit %1").arg(formatMemory(*limit_))
                              : tr("limit %1, far above").arg(formatMemory(*limit_));
    if (near) {
        painter.fillRect(QRectF(plot.left(), y, plot.width(), 2.0),
                         theme.color(over ? Role::Error : Role::Text));
    }
    const QFont caption = theme.font(TextStyle::Caption);
    const double width = textWidth(caption, text) + 8.0;
    const double top =
        near ? (y - line - 2.0 >= plot.top() ? y - line - 2.0 : y + 4.0) : plot.top() + 2.0;
    const QRectF label(plot.right() - width, top, width, line);
    if (near || (label.left() > plot.left() && !isCovering(label, plot))) {
        painter.fillRect(label, theme.color(Role::Surface));
        paintText(painter, label.adjusted(4, 0, -4, 0), Qt::AlignRight | Qt::AlignVCenter, text,
                  caption, theme.color(over ? Role::Error : Role::Muted), Qt::ElideNone);
    }
}

/// Whether the curve reaches into a place at the top; looked at pixel by pixel, not step by step.
bool MemoryTimeline::isCovering(const QRectF& place, const QRectF& plot) const {
    for (int i = 0; i < static_cast<int>(place.width()); ++i) {
        const double share = (place.left() + i - plot.left()) / plot.width();
        const auto step = static_cast<int>(share * stepCount());
        const auto at = static_cast<std::size_t>(std::clamp(step, 0, stepCount() - 1));
        const double high = plot.height() * static_cast<double>(totals_[at]) / axisTop();
        if (plot.bottom() - high < place.bottom()) {
            return true;
        }
    }
    return false;
}

void MemoryTimeline::paintMeasured(QPainter& painter, const QRectF& plot) const {
    if (!measured_) {
        return;
    }
    const Theme& theme = Theme::current();
    const double y =
        std::round(plot.bottom() - plot.height() * static_cast<double>(*measured_) / axisTop());
    // Two passes, so that the line shows on every colour under it.
    painter.fillRect(QRectF(plot.left(), y - 1.0, plot.width(), 4.0), theme.color(Role::Surface));
    painter.fillRect(QRectF(plot.left(), y, plot.width(), 2.0), theme.color(Role::Accent));
    const QFont caption = theme.font(TextStyle::CaptionStrong);
    const double width = std::ceil(textWidth(caption, measured_label_)) + 8.0;
    const double line = captionHeight();
    const double top = y + 4.0 + line <= plot.bottom() ? y + 4.0 : y - line - 3.0;
    const QRectF label(plot.left() + 8.0, top, width, line);
    painter.fillRect(label, theme.color(Role::Surface));
    paintText(painter, label.adjusted(4, 0, -4, 0), Qt::AlignLeft | Qt::AlignVCenter,
              measured_label_, caption, theme.color(Role::Accent), Qt::ElideNone);
}

void MemoryTimeline::paintPeak(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    const double x = middleOf(peak_, plot);
    const double y = plot.bottom() - plot.height() * static_cast<double>(most_) / axisTop();
    const double line = captionHeight();
    const bool full = form_ == Form::Full;
    const QRectF row(plot.left(), plot.top() - line - (full ? 6.0 : 2.0), plot.width(), line);
    painter.save();
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.color(Role::Text));
    painter.drawPolygon(QPolygonF{QPointF(x - 5, row.bottom() - 1),
                                  QPointF(x + 5, row.bottom() - 1), QPointF(x, row.bottom() + 5)});
    painter.restore();
    paintHairline(painter, {x, row.bottom() + 4}, {x, y}, theme.color(Role::Muted));
    const QString strong = tr("peak %1").arg(formatMemory(most_));
    const QFont bold = theme.font(TextStyle::CaptionStrong);
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const QString name = full ? data_.names[static_cast<std::size_t>(peak_)] : QString();
    const double bold_width = textWidth(bold, strong);
    const bool fits_left = x - bold_width - 10.0 >= plot.left();
    const bool fits_right = x + 10.0 + bold_width <= plot.right();
    // The figure left of the mark and the op right of it; at an edge both on the free side. Where
    // neither has room the figure alone, as near to the mark as it can be.
    QRectF figure(x - bold_width - 10.0, row.top(), bold_width, line);
    QRectF words(x + 10.0, row.top(), plot.right() - x - 10.0, line);
    Qt::Alignment side = Qt::AlignLeft;
    if (!fits_left && !fits_right) {
        figure.moveLeft(std::max(4.0, std::min(x - bold_width / 2.0, plot.right() - bold_width)));
        words = {};
    } else if (fits_left && (x >= plot.right() - 120.0 || !fits_right)) {
        words = {plot.left(), row.top(), figure.left() - 12.0 - plot.left(), line};
        side = Qt::AlignRight;
    } else if (!fits_left) {
        figure.moveLeft(x + 10.0);
        words.setLeft(figure.right() + 10.0);
    }
    paintText(painter, figure, Qt::AlignLeft | Qt::AlignVCenter, strong, bold,
              theme.color(Role::Text), Qt::ElideNone);
    if (words.width() >= kLeastName) {
        paintText(painter, words, side | Qt::AlignVCenter, name, mono, theme.color(Role::Muted));
    }
    if (!ghost_.empty() && !ghost_label_.isEmpty()) {
        const QRectF place(plot.left() + 8.0, plot.top() + 2.0, plot.width() - 16.0, line);
        QPen dashes(theme.color(Role::Text), 1.2);
        dashes.setDashPattern({3.0, 2.0});
        painter.setPen(dashes);
        const QFont caption = theme.font(TextStyle::Caption);
        const double wanted = 32.0 + textWidth(caption, ghost_label_) + 4.0;
        // It stands over what it is compared with.
        QColor behind = theme.color(Role::Surface);
        behind.setAlphaF(0.85F);
        painter.fillRect(QRectF(place.left() - 4.0, place.top(),
                                std::min(wanted, place.width()) + 4.0, place.height()),
                         behind);
        painter.drawLine(QPointF(place.left(), place.center().y()),
                         QPointF(place.left() + 26.0, place.center().y()));
        paintText(painter, place.adjusted(32.0, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                  ghost_label_, caption, theme.color(Role::Text), Qt::ElideMiddle);
    }
}

void MemoryTimeline::paintSpans(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const QRectF band = bandRect(plot);
    const QColor fills[] = {mixed(theme.color(Role::Accent), theme.color(Role::Surface), 0.25),
                            theme.color(Role::Accent), theme.color(Role::EmptyBar)};
    if (static_cast<double>(data_.spans.size()) * kLeastSpan > plot.width()) {
        const auto stretch = [&](std::size_t i) {
            const TimelineSpan& span = data_.spans[i];
            return DenseStretch{double(span.first), double(span.first + span.count),
                                fills[span.shade].rgb()};
        };
        paintDenseBand(painter, QRectF(plot.left(), band.top(), plot.width(), band.height()), 0,
                       stepCount(), 0, data_.spans.size(), stretch,
                       theme.color(Role::EmptyBar).rgb());
        return;
    }
    for (const TimelineSpan& span : data_.spans) {
        const double left = std::round(xOf(span.first, plot));
        const double right = std::round(xOf(span.first + span.count, plot));
        QRectF rect(left, band.top(), right - left, band.height());
        if (rect.width() > 4.0) {
            rect.setWidth(rect.width() - 1.0); // the gap that parts neighbours
        }
        paintSurface(painter, rect, rect.width() > 8.0 ? 2.0 : 0.0, fills[span.shade], {});
        if (form_ != Form::Slim && rect.width() >= textWidth(caption, span.name) + 10.0) {
            paintText(painter, rect.adjusted(6, 0, -2, 0), Qt::AlignLeft | Qt::AlignVCenter,
                      span.name, caption,
                      theme.color(span.shade == 1 ? Role::OnAccent : Role::Text));
        }
    }
}

// One a pixel at most: a large pipeline talks thousands of times.
void MemoryTimeline::paintTicks(QPainter& painter, const QRectF& plot) const {
    const QColor color = Theme::current().memory(MemoryCategory::Communication);
    const double top = bandRect(plot).bottom() + 3.0;
    double before = -1.0;
    for (const int step : data_.ticks) {
        const double x = middleOf(step, plot);
        if (x > before) {
            painter.fillRect(QRectF(x, top, 1.0, 4.0), color);
            before = x;
        }
    }
}

void MemoryTimeline::paintCursor(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    const QRectF band = bandRect(plot);
    const auto line = [&](int step, const QColor& color) {
        const double x = middleOf(step, plot);
        painter.fillRect(QRectF(x, plot.top(), 1.0, band.bottom() + 1.0 - plot.top()), color);
        return x;
    };
    if (hoveredItem() >= 0 && hoveredItem() != cursorItem()) {
        line(hoveredItem(), theme.color(Role::Muted));
    }
    if (cursorItem() < 0) {
        return;
    }
    const double x = line(cursorItem(), theme.color(Role::Text));
    const double foot = band.bottom() + 2.0;
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.color(Role::Accent));
    painter.drawPolygon(QPolygonF{QPointF(x + 0.5, foot - 2.0), QPointF(x + 5.5, foot + 3.0),
                                  QPointF(x + 5.5, foot + kHandleHeight - 1.0),
                                  QPointF(x - 4.5, foot + kHandleHeight - 1.0),
                                  QPointF(x - 4.5, foot + 3.0)});
}

} // namespace weft::widgets
