// SPDX-License-Identifier: GPL-3.0-or-later
// The names of the lines at their ends, in a margin at the right of the plot.
#include "widgets/curves/line_chart_private.h"

#include "widgets/look/fitting_text.h"
#include "widgets/look/painting.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kMostLineNameShare = 0.3; // of the chart's width
constexpr double kNameSample = 14.0;   // of the line, before the name
constexpr double kNameGap = 6.0;
constexpr double kNameEdge = 4.0; // to the edge of the chart

} // namespace

void LineChart::setNamesShown(bool shown) {
    d_->names_shown = shown;
    d_->applyMargins();
    d_->scheduleReplot();
}

QStringList LineChart::nameLabels() const {
    QStringList labels;
    for (const Private::EndName& name : d_->endNames()) {
        labels << name.text;
    }
    return labels;
}

double LineChart::Private::namesWidth() const {
    const QFont font = Theme::current().font(TextStyle::Caption);
    double longest = 0.0;
    for (const auto& entry : series) {
        if (names_shown && entry->isDrawn() && entry->isActual()) {
            longest = std::max(longest, std::ceil(textWidth(font, entry->group())));
        }
    }
    const double wanted =
        longest > 0.0 ? kNameGap + kNameSample + kNameGap + longest + kNameEdge : 0.0;
    return std::min(wanted, kMostLineNameShare * q->width());
}

// At the height of the line's last point in view, and no two over each other. Where there are more
// than have room, the last place says how many.
std::vector<LineChart::Private::EndName> LineChart::Private::endNames() const {
    const QRectF area = plot->axisRect()->rect();
    const double view_end = plot->xAxis->range().upper;
    std::vector<EndName> names;
    for (const auto& entry : series) {
        const std::size_t in_view = entry->store.lowerBound(std::nextafter(view_end, INFINITY));
        const bool known = std::any_of(names.begin(), names.end(), [&](const EndName& name) {
            return name.text == entry->group();
        });
        if (!names_shown || known || !entry->isDrawn() || !entry->isActual() || in_view == 0) {
            continue;
        }
        const double value = entry->store.at(in_view - 1, entry->column()).y;
        const double y = log && value <= 0.0 ? area.bottom() : py(value);
        names.push_back({entry->group(), entry->spec.slot, entry->spec.dash,
                         std::clamp(y, area.top(), area.bottom())});
    }
    std::stable_sort(names.begin(), names.end(),
                     [](const EndName& a, const EndName& b) { return a.y < b.y; });
    const double line = captionHeight();
    const auto room = static_cast<std::size_t>(std::max(1.0, plot->height() / line));
    if (names.size() > room) {
        const auto left_out = static_cast<qint64>(names.size() - (room - 1));
        names.resize(room);
        names.back() = {LineChart::tr("%1 more").arg(formatCount(left_out)), -1, Qt::NoPen,
                        area.bottom()};
    }
    for (std::size_t i = 1; i < names.size(); ++i) {
        names[i].y = std::max(names[i].y, names[i - 1].y + line);
    }
    double lowest = plot->height() - line / 2.0;
    for (auto name = names.rbegin(); name != names.rend(); ++name, lowest -= line) {
        name->y = std::min(name->y, lowest);
    }
    return names;
}

void LineChart::Private::paintNames(QPainter& painter) {
    const std::vector<EndName> names = endNames();
    if (names.empty()) {
        return;
    }
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::Caption);
    const double left = plot->axisRect()->right() + 1 + kNameGap;
    const double text_left = left + kNameSample + kNameGap;
    const double width = plot->width() - text_left - 1.0;
    QStringList texts;
    for (const EndName& name : names) {
        texts << name.text;
    }
    texts = elidedApart(texts, font, width);
    const double height = captionHeight();
    for (std::size_t i = 0; i < names.size(); ++i) {
        const EndName& name = names[i];
        if (name.dash != Qt::NoPen) {
            const double y = std::round(name.y) + 0.5;
            painter.setPen(QPen(theme.series(name.slot), 2.0, name.dash));
            painter.drawLine(QPointF(left, y), QPointF(left + kNameSample, y));
        }
        paintText(painter, QRectF(text_left, name.y - height / 2.0, width, height),
                  Qt::AlignLeft | Qt::AlignVCenter, texts[static_cast<qsizetype>(i)], font,
                  theme.color(name.dash == Qt::NoPen ? Role::Muted : Role::Text), Qt::ElideNone);
    }
}

} // namespace weft::widgets
