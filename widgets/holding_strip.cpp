// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/holding_strip.h"

#include "widgets/device_palette.h"

#include <QStringList>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kHoldingRow = 20.0;
constexpr double kBoxWidth = 56.0;
constexpr double kBoxHeight = 14.0;
constexpr double kHoldingGap = 12.0;
constexpr int kMostRows = 2;

/// Spans of a dimension as shares of its length, padding included.
std::vector<std::pair<double, double>> shares(const TileArray& array, int axis) {
    if (axis < 0) {
        return {{0.0, 1.0}};
    }
    qint64 whole = 0;
    for (const TileSpan& span : array.dims[static_cast<std::size_t>(axis)]) {
        whole += span.extent();
    }
    std::vector<std::pair<double, double>> out;
    qint64 at = 0;
    for (const TileSpan& span : array.dims[static_cast<std::size_t>(axis)]) {
        const auto size = static_cast<double>(std::max<qint64>(1, whole));
        out.emplace_back(static_cast<double>(at) / size, static_cast<double>(span.count) / size);
        at += span.extent();
    }
    return out;
}

} // namespace

HoldingStrip::HoldingStrip(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("What each device holds"));
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(this, &PaintedView::itemActivated, this,
            [this](int index) { emit deviceActivated(deviceOf(index)); });
}

void HoldingStrip::setArray(const TileArray& array, int row_axis, int column_axis) {
    devices_ = array.holders.empty() ? 0 : array.deviceCount();
    mesh_ = array.mesh;
    parts_.assign(static_cast<std::size_t>(devices_), {});
    names_.assign(static_cast<std::size_t>(devices_), {});
    std::vector<int> tiles(static_cast<std::size_t>(devices_), 0);
    const auto rows = shares(array, row_axis);
    const auto columns = shares(array, column_axis);
    for (int tile = 0; tile < array.tileCount() && devices_ > 0; ++tile) {
        const std::vector<int> spans = array.spansOf(tile);
        const auto part = [&](const auto& list, int axis) {
            return list[axis < 0 ? 0
                                 : static_cast<std::size_t>(spans[static_cast<std::size_t>(axis)])];
        };
        const auto [top, height] = part(rows, row_axis);
        const auto [left, width] = part(columns, column_axis);
        for (const int device : array.holdersOf(tile)) {
            const auto d = static_cast<std::size_t>(device);
            ++tiles[d];
            const QRectF rect(left, top, width, height);
            if (!rect.isEmpty() && (parts_[d].empty() || parts_[d].back() != rect)) {
                parts_[d].push_back(rect);
            }
        }
    }
    for (int device = 0; device < devices_; ++device) {
        const auto d = static_cast<std::size_t>(device);
        double share = 0;
        for (const QRectF& rect : parts_[d]) {
            share += rect.width() * rect.height();
        }
        names_[d] = tiles[d] == 0 ? tr("device %1 holds nothing").arg(device)
                    : share > 0.999
                        ? tr("device %1 holds all of it").arg(device)
                        : tr("device %1 holds %2 %").arg(device).arg(share * 100.0, 0, 'f', 1);
    }
    itemsChanged();
}

void HoldingStrip::setSelectedDevice(int device) {
    selected_ = device;
    itemsChanged(); // other devices may come into view
}

void HoldingStrip::setStale(bool stale) {
    if (stale != stale_) {
        stale_ = stale;
        update();
    }
}

double HoldingStrip::cellWidth() const {
    return deviceBadgeWidth(std::max(1, devices_)) + space::kControl + kBoxWidth + kHoldingGap;
}

int HoldingStrip::columnsIn(double width) const {
    return std::max(1, static_cast<int>((width + kHoldingGap) / cellWidth()));
}

int HoldingStrip::shownIn(double width) const {
    const int places = columnsIn(width) * kMostRows;
    return devices_ <= places ? devices_
                              : places - 1; // the last place says how many more there are
}

int HoldingStrip::itemCount() const {
    return shownIn(width());
}

int HoldingStrip::first() const {
    const int shown = itemCount();
    return selected_ < shown || shown == 0 ? 0
                                           : std::min(selected_ / shown * shown, devices_ - shown);
}

QRectF HoldingStrip::cell(int index, double width) const {
    const int columns = columnsIn(width);
    return {index % columns * cellWidth(), index / columns * kHoldingRow, cellWidth() - kHoldingGap,
            kHoldingRow};
}

ViewItem HoldingStrip::item(int index) const {
    return {cell(index, width()), names_[static_cast<std::size_t>(deviceOf(index))], {}};
}

QSize HoldingStrip::minimumSizeHint() const {
    return {static_cast<int>(std::ceil(cellWidth())), static_cast<int>(kHoldingRow)};
}

int HoldingStrip::heightForWidth(int width) const {
    const int columns = columnsIn(width);
    const int rows = std::min(kMostRows, (devices_ + columns - 1) / columns);
    return static_cast<int>(std::ceil(std::max(1, rows) * kHoldingRow));
}

int HoldingStrip::neighbour(int index, int key) const {
    return gridNeighbour(index, key, columnsIn(width()));
}

void HoldingStrip::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    if (stale_) {
        painter.setOpacity(kStaleOpacity);
    }
    const std::vector<QColor> colors = devicePalette(mesh_);
    const double badge = deviceBadgeWidth(std::max(1, devices_));
    for (int i = 0; i < shownIn(view_size.width()); ++i) {
        const int device = deviceOf(i);
        const QRectF place = cell(i, view_size.width());
        const QColor color = colors[static_cast<std::size_t>(device)];
        paintDeviceBadge(painter,
                         {place.left(), place.center().y() - kDeviceBadgeHeight / 2.0, badge,
                          kDeviceBadgeHeight},
                         device, color);
        const QRectF box(place.left() + badge + space::kControl,
                         std::round(place.center().y() - kBoxHeight / 2.0), kBoxWidth, kBoxHeight);
        painter.fillRect(box, theme.color(Role::EmptyBar));
        const QRectF inner = box.adjusted(1, 1, -1, -1);
        for (const QRectF& part : parts_[static_cast<std::size_t>(device)]) {
            // A sliver is still a part: at least one pixel of it shows.
            painter.fillRect(QRectF(inner.left() + part.left() * inner.width(),
                                    inner.top() + part.top() * inner.height(),
                                    std::max(1.0, part.width() * inner.width()),
                                    std::max(1.0, part.height() * inner.height())),
                             color);
        }
        const bool selected = device == selected_;
        paintPanel(painter, selected ? box.adjusted(-2, -2, 2, 2) : box, selected ? 2.0 : 0.0, {},
                   theme.color(selected ? Role::Accent : Role::Border), Qt::SolidLine,
                   selected ? 2.0 : 1.0);
    }
    const int shown = shownIn(view_size.width());
    if (shown < devices_) {
        paintText(painter, cell(shown, view_size.width()), Qt::AlignLeft | Qt::AlignVCenter,
                  tr("+%1 devices").arg(devices_ - shown), theme.font(TextStyle::Caption),
                  theme.color(Role::Muted));
    }
}

} // namespace weft::widgets
