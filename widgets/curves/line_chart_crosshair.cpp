// SPDX-License-Identifier: GPL-3.0-or-later
// The crosshair and its table of values, on a layer of its own: moving it redraws no curve.
#include "widgets/curves/line_chart_private.h"

#include "widgets/look/number_style.h"
#include "widgets/look/painting.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace weft::widgets {
namespace {

constexpr double kReadoutPadding = 12.0;
constexpr int kMostDots = 24;

QString shown(const std::optional<double>& value, const NumberStyle& style) {
    return value ? style.text(*value) : QStringLiteral("–");
}

/// Of all that stands in the table: it is of one measure.
template <class Rows>
NumberStyle styleOf(const Rows& rows) {
    std::vector<double> values;
    for (const auto& row : rows) {
        for (const std::optional<double>& value : {row.smooth, row.raw, row.validation}) {
            if (value) {
                values.push_back(*value);
            }
        }
    }
    return NumberStyle(std::move(values));
}

} // namespace

// Read-outs name real points: the nearest one of the series that leads, and beside its ends the
// nearest of all.
double LineChart::Private::snapped(double x) const {
    const ChartSeries* lead = primary();
    if (lead && x >= lead->store.at(0).x && x <= lead->store.last().x) {
        return lead->store.at(lead->store.nearest(x)).x;
    }
    double nearest = x;
    double distance = INFINITY;
    for (const auto& entry : series) {
        if (entry->isDrawn() && entry->isActual() && !entry->store.empty()) {
            const double at = entry->store.at(entry->store.nearest(x)).x;
            if (std::abs(at - x) < distance) {
                distance = std::abs(at - x);
                nearest = at;
            }
        }
    }
    return nearest;
}

std::vector<LineChart::Private::CrosshairRow> LineChart::Private::crosshairRows(double x) const {
    std::vector<CrosshairRow> rows;
    for (const auto& entry : series) {
        const SeriesStore& store = entry->store;
        if (!entry->spec.visible || store.empty() || !entry->isActual()) {
            continue;
        }
        auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const auto& r) { return r.name == entry->group(); });
        if (row == rows.end()) {
            rows.push_back({entry->group(), entry->spec.slot, entry->spec.dash, {}, {}, {}});
            row = std::prev(rows.end());
        }
        if (x < store.at(0).x || x > store.last().x) {
            continue;
        }
        const std::size_t nearest = store.nearest(x);
        const bool beside =
            entry->spec.form == SeriesForm::Markers || entry->spec.form == SeriesForm::Noted;
        if (beside) {
            // A validation value holds until the next one.
            const std::size_t after = store.lowerBound(std::nextafter(x, INFINITY));
            row->validation = store.at(after > 0 ? after - 1 : 0).y;
        } else {
            row->smooth = store.at(nearest, entry->column()).y;
            if (entry->spec.form == SeriesForm::Smoothed) {
                row->raw = store.at(nearest).y;
            }
        }
    }
    sortRows(rows);
    return rows;
}

// The nearest curve to the pointer first; in the order of the curves where there is no pointer.
void LineChart::Private::sortRows(std::vector<CrosshairRow>& rows) const {
    const auto place = [this](const CrosshairRow& row) {
        const std::optional<double> value = row.smooth ? row.smooth : row.validation;
        if (!value || (log && *value <= 0.0)) {
            return std::numeric_limits<double>::infinity();
        }
        return pointer_y ? std::abs(py(*value) - *pointer_y) : -*value;
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

QString LineChart::Private::placeText(double x) const {
    const QCPRange range = plot->xAxis->range();
    const double pixel = range.size() / std::max(1, plot->axisRect()->width());
    // The power of ten below a pixel; whole numbers (steps) stay whole.
    const double step = std::min(1.0, std::pow(10.0, std::floor(std::log10(pixel))));
    switch (x_kind) {
    case XKind::Seconds: return timeLabel(x, step);
    case XKind::Clock: return clockLabel(x, step);
    case XKind::Count:
    case XKind::Number: break;
    }
    return x == std::round(x) ? axisLabel(x, 1.0, std::abs(x))
                              : axisLabel(x, step, std::max(std::abs(x), range.size()));
}

QStringList LineChart::crosshairTable() const {
    QStringList lines;
    if (d_->crosshair) {
        const std::vector<Private::CrosshairRow> rows = d_->crosshairRows(*d_->crosshair);
        const NumberStyle style = styleOf(rows);
        for (const Private::CrosshairRow& row : rows) {
            lines << QStringList{row.name, shown(row.smooth, style), shown(row.raw, style),
                                 shown(row.validation, style)}
                         .join(QLatin1Char(' '));
        }
    }
    return lines;
}

void LineChart::Private::paintCrosshair(QPainter& painter) {
    const QRectF area = plot->axisRect()->rect();
    const Theme& theme = Theme::current();
    painter.setRenderHint(QPainter::Antialiasing);
    if (drag == Drag::Box) {
        QColor fill = theme.color(Role::Accent);
        fill.setAlphaF(0.12f);
        painter.setPen(QPen(theme.color(Role::Accent), 1.0));
        painter.setBrush(fill);
        painter.drawRect(QRectF(drag_start, drag_now).normalized().intersected(area));
        painter.setBrush(Qt::NoBrush);
    }
    if (keyboard_focus) {
        paintFocus(painter, QRectF(plot->viewport()).adjusted(1, 1, -1, -1), size::kRadius);
    }
    if (!crosshair) {
        return;
    }
    const double x = std::round(px(*crosshair)) + 0.5;
    if (x < area.left() || x > area.right()) {
        return;
    }
    QPen pen(theme.color(Role::Text), 1.0);
    if (!crosshair_locked) {
        pen.setDashPattern({1.5, 2.5});
    }
    painter.setPen(pen);
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    paintCrosshairDots(painter, area, *crosshair);
    if (!readout) {
        return;
    }
    if (compact) {
        paintValueBox(painter, area, *crosshair);
    } else {
        paintTable(painter, area, *crosshair);
    }
}

void LineChart::Private::paintCrosshairDots(QPainter& painter, const QRectF& area, double x) {
    const Theme& theme = Theme::current();
    const auto drawn = std::count_if(series.begin(), series.end(),
                                     [](const auto& entry) { return entry->isDrawn(); });
    for (const auto& entry : series) {
        const SeriesStore& store = entry->store;
        if (swift && drawn > kMostDots && entry->id != highlighted) {
            continue; // more would hide the curves
        }
        const bool line = entry->spec.form != SeriesForm::Markers && entry->isActual();
        if (!entry->isDrawn() || !line || store.empty() || x < store.at(0).x ||
            x > store.last().x) {
            continue;
        }
        const SeriesPoint point = store.at(store.nearest(x), entry->column());
        const QPointF at(px(point.x), log && point.y <= 0.0 ? area.bottom() : py(point.y));
        if (area.contains(at)) {
            painter.setPen(QPen(theme.color(Role::Surface), 1.0));
            painter.setBrush(theme.series(entry->spec.slot));
            painter.drawEllipse(at, 4.0, 4.0);
        }
    }
    painter.setBrush(Qt::NoBrush);
}

// Beside the crosshair, at the first of the heights and on the right rather than on the left, where
// it covers no label of a mark.
QRectF LineChart::Private::readoutPlace(const QSizeF& wanted, double x, double gap,
                                        std::initializer_list<double> tops,
                                        const QRectF& area) const {
    const double right = x + gap;
    const double left = std::max(4.0, x - gap - wanted.width());
    const bool on_right = right + wanted.width() <= area.right();
    const bool on_left = x - gap - wanted.width() >= 4.0;
    const QRectF usual(QPointF(on_right ? right : left, std::round(*tops.begin())), wanted);
    for (const double top : tops) {
        for (const auto& [fits, side] : {std::pair(on_right, right), std::pair(on_left, left)}) {
            const QRectF box(QPointF(side, std::round(top)), wanted);
            if (fits && std::none_of(labels.begin(), labels.end(),
                                     [&](const QRectF& label) { return label.intersects(box); })) {
                return box;
            }
        }
    }
    return usual;
}

void LineChart::Private::paintTable(QPainter& painter, const QRectF& area, double x) {
    std::vector<CrosshairRow> rows = crosshairRows(x);
    if (rows.empty()) {
        return;
    }
    const Theme& theme = Theme::current();
    const double row_height = std::round(20.0 * theme.fontScale());
    // The nearest ones, where there are more than fit.
    const auto room = static_cast<std::size_t>(
        std::max(1.0, (area.height() - 24.0 - kReadoutPadding) / row_height - 2.0));
    const std::size_t left_out = rows.size() > room ? rows.size() - room : 0;
    rows.resize(rows.size() - left_out);
    const double number_width = std::round(60.0 * theme.fontScale());
    const QFont caption = theme.font(TextStyle::Caption);
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const QString head = QStringLiteral("%1 %2").arg(x_name, placeText(x));
    const bool raw = std::any_of(rows.begin(), rows.end(), [](const auto& r) { return !!r.raw; });
    const bool validation =
        std::any_of(rows.begin(), rows.end(), [](const auto& r) { return !!r.validation; });
    const bool smooth = weight > 0.0;
    double names = textWidth(theme.font(TextStyle::CaptionStrong), head);
    for (const CrosshairRow& row : rows) {
        names = std::max(names, textWidth(caption, row.name) + 20.0);
    }
    names = std::min(std::ceil(names), 180.0 * theme.fontScale());
    const int columns = 1 + (raw && smooth ? 1 : 0) + (validation ? 1 : 0);
    const QSizeF wanted(
        2 * kReadoutPadding + names + columns * number_width,
        row_height * (static_cast<double>(rows.size()) + 1.0 + (left_out > 0 ? 1.0 : 0.0)) +
            kReadoutPadding);
    const QRectF box = readoutPlace(
        wanted, std::round(px(x)), kReadoutPadding,
        {area.top() + 24.0, std::max(area.top(), area.bottom() - wanted.height() - 4.0)}, area);
    paintSurface(painter, box, size::kRadius, theme.color(Role::Surface),
                 theme.color(Role::Border));

    double y = box.top() + kReadoutPadding / 2.0;
    const auto number = [&](int column, const QString& text, const QFont& font, Role role) {
        const double right = box.left() + kReadoutPadding + names + (column + 1) * number_width;
        paintText(painter, QRectF(right - number_width, y, number_width, row_height),
                  Qt::AlignRight | Qt::AlignVCenter, text, font, theme.color(role));
    };
    paintText(painter, QRectF(box.left() + kReadoutPadding, y, names + 40.0, row_height),
              Qt::AlignLeft | Qt::AlignVCenter, head, theme.font(TextStyle::CaptionStrong),
              theme.color(Role::Text));
    const NumberStyle style = styleOf(rows);
    int column = 0;
    number(column++, smooth ? LineChart::tr("smooth") : LineChart::tr("value"), caption,
           Role::Muted);
    if (raw && smooth) {
        number(column++, LineChart::tr("raw"), caption, Role::Muted);
    }
    if (validation) {
        number(column++, LineChart::tr("valid."), caption, Role::Muted);
    }
    for (const CrosshairRow& row : rows) {
        y += row_height;
        painter.setPen(QPen(theme.series(row.slot), 2.0, row.dash));
        painter.drawLine(QPointF(box.left() + kReadoutPadding, y + row_height / 2.0),
                         QPointF(box.left() + kReadoutPadding + 12.0, y + row_height / 2.0));
        paintText(painter, QRectF(box.left() + kReadoutPadding + 20.0, y, names - 16.0, row_height),
                  Qt::AlignLeft | Qt::AlignVCenter, row.name, caption, theme.color(Role::Text));
        column = 0;
        number(column++, shown(row.smooth, style), mono, Role::Text);
        if (raw && smooth) {
            number(column++, shown(row.raw, style), mono, Role::Muted);
        }
        if (validation) {
            number(column++, shown(row.validation, style), mono, Role::Text);
        }
    }
    if (left_out > 0) {
        y += row_height;
        paintText(painter,
                  QRectF(box.left() + kReadoutPadding, y, wanted.width() - 24.0, row_height),
                  Qt::AlignLeft | Qt::AlignVCenter, LineChart::tr("and %1 more").arg(left_out),
                  caption, theme.color(Role::Muted));
    }
}

void LineChart::Private::paintValueBox(QPainter& painter, const QRectF& area, double x) {
    const std::vector<CrosshairRow> rows = crosshairRows(x);
    if (rows.empty() || !rows.front().smooth) {
        return;
    }
    const Theme& theme = Theme::current();
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const QString text = formatNumber(*rows.front().smooth);
    const double y = log && *rows.front().smooth <= 0.0 ? area.bottom() : py(*rows.front().smooth);
    const QSizeF wanted(std::ceil(textWidth(mono, text)) + 16.0, 20.0);
    const double lowest = std::max(area.top(), area.bottom() - wanted.height() - 2.0);
    const auto inside = [&](double top) { return std::clamp(top, area.top(), lowest); };
    const QRectF box = readoutPlace(wanted, std::round(px(x)), space::kControl,
                                    {inside(y - 28.0), inside(y + 8.0), area.top(), lowest}, area);
    paintSurface(painter, box, size::kRadius, theme.color(Role::Surface),
                 theme.color(Role::Border));
    paintText(painter, box, Qt::AlignCenter, text, mono, theme.color(Role::Text));
}

void LineChart::Private::moveCrosshair(std::optional<double> x) {
    if (x == crosshair) {
        return;
    }
    crosshair = x;
    if (!replot_pending) {
        renewCrosshair();
    }
    emit q->crosshairMoved(x);
}

// A picture of its own while it moves; without one a replot has less to clear and to blend.
void LineChart::Private::renewCrosshair() {
    crosshair_stale = swift && !canBeSeen();
    if (crosshair_stale) {
        return;
    }
    crosshair_layer->setMode(QCPLayer::lmBuffered);
    crosshair_layer->replot();
}

std::optional<double> LineChart::crosshair() const {
    return d_->crosshair;
}

void LineChart::setCrosshair(std::optional<double> x) {
    d_->moveCrosshair(x ? std::optional<double>(d_->snapped(*x)) : std::nullopt);
}

bool LineChart::isCrosshairLocked() const {
    return d_->crosshair_locked;
}

} // namespace weft::widgets
