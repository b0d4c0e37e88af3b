// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/mesh/device_times.h"

#include "widgets/mesh/device_palette.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kTimesRow = 30.0;
constexpr double kMeasuredBar = 12.0;
constexpr double kPlannedBar = 4.0;
constexpr double kLegend = 24.0;
constexpr double kTimesGap = 12.0;
constexpr double kMostForHost = 96.0;
constexpr double kHeadroom = 1.15; // of the scale over the longest step

enum class Part { Compute, Collective, Wait, Planned };

QString nameOf(Part part) {
    switch (part) {
    case Part::Compute: return DeviceTimes::tr("computing");
    case Part::Collective: return DeviceTimes::tr("collectives");
    case Part::Wait: return DeviceTimes::tr("waiting for others");
    case Part::Planned: return DeviceTimes::tr("planned");
    }
    return {};
}

void paintPart(QPainter& painter, const QRectF& rect, Part part) {
    const Theme& theme = Theme::current();
    switch (part) {
    case Part::Compute: painter.fillRect(rect, theme.color(Role::Accent)); break;
    case Part::Collective:
        paintFill(painter, rect, theme.memory(MemoryCategory::Communication),
                  memoryFill(MemoryCategory::Communication));
        break;
    case Part::Wait:
        painter.fillRect(rect, theme.color(Role::Inset));
        paintFill(painter, rect, theme.color(Role::EmptyBar), Fill::Hatched);
        break;
    case Part::Planned: painter.fillRect(rect, theme.color(Role::Faint)); break;
    }
}

QString milliseconds(double ms) {
    return DeviceTimes::tr("%1 ms").arg(formatNumber(ms));
}

} // namespace

DeviceTimes::DeviceTimes(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("How each device spent the step"));
}

void DeviceTimes::setTimes(std::vector<DeviceTime> times, std::vector<int> mesh) {
    if (times.size() != times_.size()) {
        updateGeometry();
    }
    times_ = std::move(times);
    mesh_ = std::move(mesh);
    double longest_ms = 0;
    for (const DeviceTime& time : times_) {
        longest_ms = std::max({longest_ms, time.total_ms(), time.planned_ms()});
    }
    if (longest_ms > scale_ms_ || longest_ms < scale_ms_ / 2) {
        scale_ms_ = longest_ms * kHeadroom;
    }
    itemsChanged();
}

void DeviceTimes::setSelectedDevice(int id) {
    selected_ = id;
    update();
}

QSize DeviceTimes::sizeHint() const {
    return {360, minimumSizeHint().height()};
}

QSize DeviceTimes::minimumSizeHint() const {
    return {240, static_cast<int>(kTimesRow * itemCount() + kLegend)};
}

QRectF DeviceTimes::rowRect(int index, double width) const {
    return {0, index * kTimesRow, width, kTimesRow};
}

ViewItem DeviceTimes::item(int index) const {
    const DeviceTime& time = times_[static_cast<std::size_t>(index)];
    QString name = tr("%1: computes %2, collectives %3, waits %4")
                       .arg(time.host.isEmpty() ? tr("device %1").arg(time.id)
                                                : tr("device %1 on %2").arg(time.id).arg(time.host))
                       .arg(milliseconds(time.compute_ms), milliseconds(time.collective_ms),
                            milliseconds(time.waited_ms));
    if (time.planned_ms() > 0) {
        name += tr("; planned: computes %1, collectives %2")
                    .arg(milliseconds(time.planned_compute_ms),
                         milliseconds(time.planned_collective_ms));
    }
    return {rowRect(index, width()), name, {}};
}

double DeviceTimes::numbersWidth() const {
    return textWidth(Theme::current().font(TextStyle::Mono), milliseconds(88888.0)) + kTimesGap;
}

/// With the gap behind them; 0: all are of this process.
double DeviceTimes::hostsWidth() const {
    const QFont font = Theme::current().font(TextStyle::Caption);
    double widest = 0;
    for (const DeviceTime& time : times_) {
        widest = std::max(widest, textWidth(font, time.host));
    }
    return widest > 0 ? std::min(widest + 1, kMostForHost) + kTimesGap : 0;
}

void DeviceTimes::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const std::vector<QColor> colors = devicePalette(mesh_);
    const double hosts = hostsWidth();
    for (std::size_t i = 0; i < times_.size(); ++i) {
        const auto device = static_cast<std::size_t>(times_[i].id);
        paintRow(painter, times_[i],
                 device < colors.size() ? colors[device] : Theme::current().color(Role::Muted),
                 rowRect(static_cast<int>(i), view_size.width()), hosts);
    }
    paintLegend(painter, view_size.width());
}

void DeviceTimes::paintRow(QPainter& painter, const DeviceTime& time, const QColor& color,
                           const QRectF& rect, double hosts) const {
    const Theme& theme = Theme::current();
    if (time.id == selected_) {
        painter.fillRect(rect, theme.color(Role::AccentTint));
    }
    const double badge = deviceBadgeWidth(std::max<int>(1, itemCount()));
    const double left = rect.left() + kTimesGap;
    paintDeviceBadge(painter,
                     {left, rect.center().y() - kDeviceBadgeHeight / 2, badge, kDeviceBadgeHeight},
                     time.id, color);
    const double from = left + badge + kTimesGap + hosts;
    if (hosts > 0) {
        paintText(painter, {from - hosts, rect.top(), hosts - kTimesGap, kTimesRow},
                  Qt::AlignLeft | Qt::AlignVCenter, time.host, theme.font(TextStyle::Caption),
                  theme.color(Role::Muted));
    }
    const double room = rect.right() - numbersWidth() - kTimesGap - from;
    const double per_ms = scale_ms_ > 0 ? room / scale_ms_ : 0;
    const double top = std::round(rect.center().y() - (kMeasuredBar + 2 + kPlannedBar) / 2);
    const auto paint_run = [&](double y, double height,
                               std::initializer_list<std::pair<Part, double>> parts) {
        double x = from;
        for (const auto& [part, ms] : parts) {
            const double next = x + ms * per_ms;
            const QRectF piece(std::round(x), y, std::round(next) - std::round(x), height);
            if (piece.width() >= 1) {
                paintPart(painter, piece, part);
            }
            x = next;
        }
    };
    paint_run(top, kMeasuredBar,
              {{Part::Compute, time.compute_ms},
               {Part::Collective, time.collective_ms},
               {Part::Wait, time.waited_ms}});
    paint_run(top + kMeasuredBar + 2, kPlannedBar, {{Part::Planned, time.planned_ms()}});
    paintText(painter,
              {rect.right() - numbersWidth(), rect.top(), numbersWidth() - kTimesGap, kTimesRow},
              Qt::AlignRight | Qt::AlignVCenter, milliseconds(time.total_ms()),
              theme.font(TextStyle::Mono), theme.color(Role::Text));
}

void DeviceTimes::paintLegend(QPainter& painter, double width) const {
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::Caption);
    const bool planned = std::any_of(times_.begin(), times_.end(),
                                     [](const DeviceTime& time) { return time.planned_ms() > 0; });
    double x = kTimesGap;
    const double y = kTimesRow * itemCount();
    for (const Part part : {Part::Compute, Part::Collective, Part::Wait, Part::Planned}) {
        const double text = textWidth(font, nameOf(part));
        if ((part == Part::Planned && !planned) || x + kSwatch + 4 + text > width) {
            continue;
        }
        const double height = part == Part::Planned ? kPlannedBar : kSwatch;
        paintPart(painter, {x, std::round(y + (kLegend - height) / 2), kSwatch, height}, part);
        paintText(painter, {x + kSwatch + 4, y, text + 1, kLegend},
                  Qt::AlignLeft | Qt::AlignVCenter, nameOf(part), font, theme.color(Role::Muted),
                  Qt::ElideNone);
        x += kSwatch + 4 + text + kTimesGap;
    }
}

} // namespace weft::widgets
