// SPDX-License-Identifier: GPL-3.0-or-later
// What is painted under and over the curves: plan, flags, star, events, non-finite points, words.
#include "widgets/curves/line_chart_private.h"

#include "widgets/look/painting.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::widgets {
namespace {

constexpr double kChartFlagWidth = 9.0;
constexpr double kChartFlagHeight = 10.0;
constexpr double kStarRadius = 9.0;
constexpr double kSparseRadius = 2.0;
constexpr std::size_t kSparsePoints = 60; // so few that each is seen
constexpr int kMostSparseLines = 24;      // of a swift chart: their points would be a cloud

QRectF areaOf(const QCustomPlot* plot) {
    return plot->axisRect()->rect();
}

double crisp(double x) {
    return std::round(x) + 0.5;
}

} // namespace

void LineChart::setFlags(std::vector<ChartFlag> flags) {
    d_->flags = std::move(flags);
    d_->scheduleReplot();
}

void LineChart::setEvents(std::vector<ChartEvent> events) {
    d_->events = std::move(events);
    d_->scheduleReplot();
}

void LineChart::setTopTicks(std::vector<ChartTick> ticks) {
    d_->top_ticks = std::move(ticks);
    d_->applyMargins();
    d_->scheduleReplot();
}

const std::vector<ChartFlag>& LineChart::flags() const {
    return d_->flags;
}

void LineChart::setBest(std::optional<double> x, double y, const QString& label) {
    d_->best = x ? std::optional<SeriesPoint>(SeriesPoint{*x, y}) : std::nullopt;
    d_->best_label = label;
    d_->scheduleReplot();
}

void LineChart::setThreshold(std::optional<double> y, const QString& label, Role role) {
    d_->threshold = y;
    d_->threshold_label = label;
    d_->threshold_role = role;
    d_->scheduleReplot();
}

void LineChart::setSelection(std::optional<double> x, const QString& label) {
    d_->selection = x;
    d_->selection_label = label;
    d_->scheduleReplot();
}

void LineChart::setPlannedRange(std::optional<ChartRange> range, std::optional<double> trained_to,
                                const QString& label) {
    d_->planned = range;
    d_->trained_to = trained_to;
    d_->planned_label = label;
    d_->scheduleReplot();
}

void LineChart::setOverlayText(const QString& title, const QString& detail) {
    d_->overlay_title = title;
    d_->overlay_detail = detail;
    d_->scheduleReplot();
}

void LineChart::Private::paintUnder(QPainter& painter) {
    paintPlanned(painter, areaOf(plot));
}

void LineChart::Private::paintMarks(QPainter& painter) {
    const QRectF area = areaOf(plot);
    painter.setRenderHint(QPainter::Antialiasing);
    labels.clear();
    paintPlannedLabel(painter, area);
    paintThreshold(painter, area);
    paintVerticals(painter, area);
    paintFlags(painter, area);
    paintNonFinite(painter, area);
    paintClipped(painter, area);
    paintSparse(painter, area);
    paintNewest(painter, area);
    paintBest(painter, area);
    paintNames(painter);
    paintWords(painter, area);
}

void LineChart::Private::paintPlanned(QPainter& painter, const QRectF& area) {
    if (!planned || !trained_to) {
        return;
    }
    const double left = std::clamp(px(*trained_to), area.left(), area.right());
    const double right = std::clamp(px(planned->high), area.left(), area.right());
    if (right <= left) {
        return;
    }
    const Theme& theme = Theme::current();
    const QRectF future(left, area.top(), right - left, area.height());
    painter.fillRect(future, theme.color(Role::Inset));
}

void LineChart::Private::paintPlannedLabel(QPainter& painter, const QRectF& area) {
    if (!planned || !trained_to) {
        return;
    }
    const double left = std::max(area.left(), px(*trained_to));
    const double right = std::min(area.right(), px(planned->high));
    const double width = textWidth(Theme::current().font(TextStyle::Caption), planned_label);
    if (width + 16.0 < right - left) {
        paintLabel(painter, {QPointF((left + right - width) / 2.0, area.top() + 16.0)},
                   planned_label, Theme::current().color(Role::Muted), TextStyle::Caption, area);
    }
}

bool LineChart::Private::isCurveUnder(const QRectF& place) const {
    for (const auto& entry : series) {
        if (!entry->main.shown || !entry->isDrawn()) {
            continue;
        }
        const std::vector<SeriesPoint>& points = entry->main.points;
        const double left = plot->xAxis->pixelToCoord(place.left());
        const double right = plot->xAxis->pixelToCoord(place.right());
        auto to = std::partition_point(points.begin(), points.end(),
                                       [left](const SeriesPoint& point) { return point.x < left; });
        for (to += to == points.begin() && to != points.end() ? 1 : 0; to != points.end(); ++to) {
            const SeriesPoint& from = *std::prev(to);
            if (from.x > right) {
                break;
            }
            if (crosses(place, {px(from.x), py(from.y)}, {px(to->x), py(to->y)})) {
                return true;
            }
        }
    }
    return false;
}

int LineChart::Private::marksUnder(const QRectF& place, const QRectF& area) const {
    const auto count = [](const auto& all, const auto& isUnder) {
        return static_cast<int>(std::count_if(all.begin(), all.end(), isUnder));
    };
    const auto covers = [&](double x) { return place.left() <= px(x) && px(x) <= place.right(); };
    const QRectF foot(0, area.bottom() - kChartFlagHeight, 1, kChartFlagHeight);
    const bool low = place.bottom() >= foot.top() && place.top() <= foot.bottom();
    const double reach = kChartFlagWidth / 2.0;
    return count(labels, [&](const QRectF& other) { return other.intersects(place); }) +
           count(events, [&](const ChartEvent& event) { return covers(event.x); }) +
           (selection && covers(*selection) ? 1 : 0) + count(flags, [&](const ChartFlag& flag) {
               return low && px(flag.x) + reach >= place.left() &&
                      px(flag.x) - reach <= place.right();
           });
}

// A label on a patch of surface, kept inside the plot: where it hides the fewest marks, then no
// curve. It stays there while no other place is better, since curves move.
void LineChart::Private::paintLabel(QPainter& painter, const std::vector<QPointF>& left_middles,
                                    const QString& text, const QColor& color, TextStyle style,
                                    const QRectF& area, std::size_t* kept) {
    if (text.isEmpty()) {
        return;
    }
    const Theme& theme = Theme::current();
    const QFont font = theme.font(style);
    const double height = QFontMetricsF(font).height();
    QRectF box;
    int least = std::numeric_limits<int>::max();
    const std::size_t first = kept != nullptr ? *kept : 0;
    for (std::size_t i = 0; i < left_middles.size(); ++i) {
        const std::size_t which = (first + i) % left_middles.size();
        const QPointF& left_middle = left_middles[which];
        QRectF place(left_middle.x(), left_middle.y() - height / 2.0, textWidth(font, text),
                     height);
        place.moveLeft(std::clamp(place.left(), area.left() + 4.0,
                                  std::max(area.left() + 4.0, area.right() - place.width() - 4.0)));
        place.moveTop(std::clamp(place.top(), area.top() + 1.0,
                                 std::max(area.top() + 1.0, area.bottom() - height)));
        const QRectF patch = place.adjusted(-3, 0, 3, 0);
        const bool moved = std::abs(place.center().y() - left_middle.y()) > 1.0; // onto its mark
        const bool choice = left_middles.size() > 1;
        const int hidden =
            choice ? 2 * marksUnder(patch, area) + (isCurveUnder(patch) ? 1 : 0) + (moved ? 2 : 0)
                   : 0;
        if (hidden < least) {
            least = hidden;
            box = place;
            if (kept != nullptr) {
                *kept = which;
            }
        }
    }
    const bool on_future = planned && trained_to && box.center().x() > px(*trained_to);
    QColor patch = theme.color(on_future ? Role::Inset : Role::Surface);
    patch.setAlphaF(0.85f);
    const QRectF place = box.adjusted(-3, 0, 3, 0);
    labels.push_back(place);
    painter.fillRect(place, patch);
    paintText(painter, box, Qt::AlignLeft | Qt::AlignVCenter, text, font, color, Qt::ElideNone);
}

void LineChart::Private::paintThreshold(QPainter& painter, const QRectF& area) {
    if (!threshold || (log && *threshold <= 0.0)) {
        return;
    }
    const double y = crisp(py(*threshold));
    if (y < area.top() || y > area.bottom()) {
        return;
    }
    const QColor color = Theme::current().color(threshold_role);
    QPen pen(color, 1.0);
    pen.setDashPattern({4.0, 3.0});
    painter.setPen(pen);
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    const QFont font = Theme::current().font(TextStyle::Caption);
    const double right = area.right() - textWidth(font, threshold_label) - 12.0;
    const double left = area.left() + 12.0;
    // Above its line, at the top of the plot below it; higher where flags stand.
    const double away = QFontMetricsF(font).height() / 2.0 + 3.0;
    const double beside = y - 2.0 * away >= area.top() ? y - away : y + away;
    const double higher = area.bottom() - kChartFlagHeight - away;
    paintLabel(painter,
               {{right, beside},
                {right, 2 * y - beside},
                {left, beside},
                {left, 2 * y - beside},
                {right, higher},
                {left, higher}},
               threshold_label, color, TextStyle::Caption, area, &threshold_place);
}

void LineChart::Private::paintVerticals(QPainter& painter, const QRectF& area) {
    const Theme& theme = Theme::current();
    const auto inside = [&](double x) { return x >= area.left() && x <= area.right(); };
    double free_from = area.left() - 100.0;
    const QFont caption = theme.font(TextStyle::Caption);
    for (const ChartTick& tick : top_ticks) {
        const double x = px(tick.x);
        if (!inside(x)) {
            continue;
        }
        const double length = x > free_from ? 8 : 3; // not through the words of the one before
        paintHairline(painter, QPointF(std::round(x), area.top() - length),
                      QPointF(std::round(x), area.top()), theme.color(Role::Border));
        const double width = textWidth(caption, tick.label);
        if (x > free_from && x + 5.0 + width + 4.0 < plot->width()) {
            paintText(painter, QRectF(x + 5, area.top() - 18, width + 2, 16),
                      Qt::AlignLeft | Qt::AlignVCenter, tick.label, caption,
                      theme.color(Role::Muted), Qt::ElideNone);
            free_from = x + width + 16.0;
        }
    }
    for (const ChartEvent& event : events) {
        const double x = crisp(px(event.x));
        if (inside(x)) {
            painter.setPen(QPen(theme.color(event.role), 1.0));
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
            const double left = x - 6 - textWidth(caption, event.label);
            paintLabel(
                painter,
                {{x + 6, area.top() + 10}, {left, area.top() + 10}, {x + 6, area.top() + 28}},
                event.label, theme.color(event.role), TextStyle::Caption, area);
        }
    }
    if (selection && inside(px(*selection))) {
        const double x = crisp(px(*selection));
        painter.setPen(QPen(theme.color(Role::Accent), 1.0));
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
        const double left = x - 6 - textWidth(caption, selection_label);
        paintLabel(painter, {{x + 6, area.center().y()}, {left, area.center().y()}},
                   selection_label, theme.color(Role::Accent), TextStyle::Caption, area);
    }
}

void LineChart::Private::paintFlags(QPainter& painter, const QRectF& area) {
    const Theme& theme = Theme::current();
    double later = std::numeric_limits<double>::infinity();
    // From the newest on: those that would cover the one after them are strokes.
    for (auto it = flags.rbegin(); it != flags.rend(); ++it) {
        const ChartFlag& flag = *it;
        const double x = std::round(px(flag.x));
        if (x < area.left() - 1 || x > area.right() + 1) {
            continue;
        }
        const QPointF foot(x, area.bottom());
        if (std::abs(later - x) < kChartFlagWidth + 1 && !flag.best) {
            painter.setPen(QPen(theme.color(flag.present ? Role::Muted : Role::Faint), 1.0));
            painter.drawLine(foot, foot - QPointF(0, kChartFlagHeight / 2));
            continue;
        }
        later = x;
        if (flag.present) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(theme.color(flag.best ? Role::Accent : Role::Muted));
            painter.drawPath(flagPath(foot, kChartFlagWidth, kChartFlagHeight));
        } else {
            QPen pen(theme.color(Role::Faint), 1.0);
            pen.setDashPattern({2.0, 2.0});
            painter.setPen(pen);
            painter.setBrush(Qt::NoBrush);
            painter.drawPath(flagPath(foot, kChartFlagWidth - 1.0, kChartFlagHeight - 1.0));
        }
    }
    painter.setBrush(Qt::NoBrush);
}

int LineChart::Private::flagAt(const QPointF& position) const {
    const QRectF area = areaOf(plot);
    if (position.y() < area.bottom() - kChartFlagHeight - 3 || position.y() > area.bottom() + 3) {
        return -1;
    }
    int nearest = -1;
    double distance = 8.0;
    for (std::size_t i = 0; i < flags.size(); ++i) {
        const double away = std::abs(px(flags[i].x) - position.x());
        if (away < distance) {
            distance = away;
            nearest = static_cast<int>(i);
        }
    }
    return nearest;
}

// At the axis, because they have no place on it; one triangle a pixel column.
void LineChart::Private::paintNonFinite(QPainter& painter, const QRectF& area) {
    if (moved) {
        return;
    }
    painter.setPen(QPen(Theme::current().color(Role::Surface), 1.0));
    painter.setBrush(Theme::current().color(Role::Error));
    for (const auto& entry : series) {
        double last = -100.0;
        for (const SeriesPoint& point : entry->store.nonFinite()) {
            const double x = std::round(px(point.x));
            if (entry->isDrawn() && x >= area.left() && x <= area.right() && x - last >= 8.0) {
                painter.drawPolygon(trianglePolygon(QPointF(x, area.bottom() - 5.0), 6.5));
                last = x;
            }
        }
    }
    painter.setBrush(Qt::NoBrush);
}

// Pointing out of the plot where a line leaves the clipped range; one a pixel column.
void LineChart::Private::paintClipped(QPainter& painter, const QRectF& area) {
    if (!clipped || moved) {
        return;
    }
    const QCPRange y = plot->yAxis->range();
    painter.setPen(Qt::NoPen);
    for (const auto& entry : series) {
        if (!entry->isDrawn()) {
            continue;
        }
        painter.setBrush(Theme::current().series(entry->spec.slot));
        double last_above = -100.0;
        double last_below = -100.0;
        const auto mark = [&](double at, double value) {
            const bool above = value > y.upper;
            double& last = above ? last_above : last_below;
            const double x = std::round(px(at));
            if ((above || value < y.lower) && x >= area.left() && x <= area.right() &&
                x - last >= 8.0) {
                const QPointF tip(x, above ? area.top() + 1.0 : area.bottom() - 1.0);
                const double base = tip.y() + (above ? 6.0 : -6.0);
                painter.drawPolygon(
                    QPolygonF({tip, QPointF(x - 4.0, base), QPointF(x + 4.0, base)}));
                last = x;
            }
        };
        if (entry->raw.shown || entry->main.shown) {
            const DrawnLine& line = entry->raw.shown ? entry->raw : entry->main;
            for (const SeriesPoint& point : line.points) {
                mark(point.x, point.y);
            }
        } else {
            for (const QCPGraphData& point : *entry->line->data()) {
                mark(point.key, point.value);
            }
        }
    }
    painter.setBrush(Qt::NoBrush);
}

// A line through few points hides which they are, the more when it is smoothed.
void LineChart::Private::paintSparse(QPainter& painter, const QRectF& area) {
    const auto drawn = std::count_if(series.begin(), series.end(),
                                     [](const auto& entry) { return entry->isDrawn(); });
    if (moved || (swift && drawn > kMostSparseLines)) {
        return;
    }
    painter.setPen(Qt::NoPen);
    for (const auto& entry : series) {
        const SeriesForm form = entry->spec.form;
        const bool line = form == SeriesForm::Smoothed || form == SeriesForm::Thin;
        if (!line || !entry->isDrawn() || entry->store.size() > kSparsePoints) {
            continue;
        }
        painter.setBrush(Theme::current().series(entry->spec.slot));
        for (std::size_t i = 0; i < entry->store.size(); ++i) {
            const SeriesPoint point = entry->store.at(i, SeriesStore::Column::Raw);
            const QPointF at(px(point.x), log && point.y <= 0.0 ? NAN : py(point.y));
            if (area.contains(at)) {
                painter.drawEllipse(at, kSparseRadius, kSparseRadius);
            }
        }
    }
    painter.setBrush(Qt::NoBrush);
}

void LineChart::Private::paintNewest(QPainter& painter, const QRectF& area) {
    for (const auto& entry : series) {
        const bool shown = entry->spec.form == SeriesForm::Smoothed && entry->isDrawn();
        if (!shown || entry->store.empty()) {
            continue;
        }
        const SeriesPoint last = entry->store.last(entry->column());
        if (log && last.y <= 0.0) {
            continue;
        }
        const QPointF at(px(last.x), py(last.y));
        if (area.adjusted(-1, -1, 1, 1).contains(at)) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(Theme::current().series(entry->spec.slot));
            painter.drawEllipse(at, 4.0, 4.0);
        }
    }
    painter.setBrush(Qt::NoBrush);
}

void LineChart::Private::paintBest(QPainter& painter, const QRectF& area) {
    if (!best || (log && best->y <= 0.0)) {
        return;
    }
    const QPointF at(px(best->x), py(best->y));
    if (!area.contains(at)) {
        return;
    }
    const Theme& theme = Theme::current();
    painter.setPen(QPen(theme.color(Role::Surface), 1.5));
    painter.setBrush(theme.color(Role::Accent));
    painter.drawPolygon(starPolygon(at, kStarRadius));
    painter.setBrush(Qt::NoBrush);
    const QFont font = theme.font(TextStyle::CaptionStrong);
    const double reach = kStarRadius + 3.0 + QFontMetricsF(font).height() / 2.0;
    const bool room_above = at.y() - reach - QFontMetricsF(font).height() / 2.0 > area.top();
    const double y = room_above ? at.y() - reach : at.y() + reach;
    const double width = textWidth(font, best_label);
    paintLabel(painter,
               {{at.x() - width / 2.0, y},
                {at.x() - width + kStarRadius, y},
                {at.x() - width - kStarRadius, y},
                {at.x() - kStarRadius, y},
                {at.x() - width / 2.0, 2 * at.y() - y}},
               best_label, theme.color(Role::Text), TextStyle::CaptionStrong, area, &best_place);
}

void LineChart::Private::paintWords(QPainter& painter, const QRectF& area) {
    const Theme& theme = Theme::current();
    double y = area.top() + 10.0;
    const auto right = [&](const QString& text, TextStyle style, Role role) {
        if (!text.isEmpty()) {
            const double width = textWidth(theme.font(style), text);
            paintLabel(painter, {{area.right() - width - 4.0, y}}, text, theme.color(role), style,
                       area);
            y += 18.0;
        }
    };
    if (!title.isEmpty()) {
        paintText(painter, QRectF(area.left(), 4, area.width(), kTitleHeight * theme.fontScale()),
                  Qt::AlignLeft | Qt::AlignVCenter, title, theme.font(TextStyle::CaptionStrong),
                  theme.color(Role::Text), Qt::ElideMiddle);
    }
    std::size_t non_finite = 0;
    for (const auto& entry : series) {
        non_finite += entry->isDrawn() ? entry->store.nonFinite().size() : 0;
    }
    if (non_finite > 0) {
        right(non_finite == 1 ? LineChart::tr("1 point not finite")
                              : LineChart::tr("%1 points not finite")
                                    .arg(formatCount(static_cast<qint64>(non_finite))),
              TextStyle::Caption, Role::Error);
    }
    const auto outside = static_cast<qint64>(moved ? 0 : q->clippedCount());
    if (outside > 0) {
        right(outside == 1 ? LineChart::tr("1 outlier not in view")
                           : LineChart::tr("%1 outliers not in view").arg(formatCount(outside)),
              TextStyle::Caption, Role::Muted);
    }
    const auto hidden = static_cast<qint64>(q->hiddenByLogCount());
    if (hidden > 0) {
        right(hidden == 1 ? LineChart::tr("1 point at or below 0 has no place on a log axis")
                          : LineChart::tr("%1 points at or below 0 have no place on a log axis")
                                .arg(formatCount(hidden)),
              TextStyle::Caption, Role::Warning);
    }
    if (hasPoints() || overlay_title.isEmpty()) {
        return;
    }
    const auto put = [&](double top, TextStyle style, const QString& text, Role role) {
        paintText(painter, {area.left(), top, area.width(), lineHeight(style)}, Qt::AlignCenter,
                  text, theme.font(style), theme.color(role));
    };
    put(area.center().y() - 2.0 - lineHeight(TextStyle::Strong), TextStyle::Strong, overlay_title,
        Role::Text);
    put(area.center().y() + 2.0, TextStyle::Caption, overlay_detail, Role::Muted);
}

} // namespace weft::widgets
