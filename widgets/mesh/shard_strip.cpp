// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/mesh/shard_strip.h"

#include "widgets/mesh/device_palette.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kShardRow = 20.0;
constexpr double kBoxWidth = 56.0;
constexpr double kBoxHeight = 14.0;
constexpr double kShardGap = 12.0;
constexpr int kMostRows = 3;

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

ShardStrip::ShardStrip(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Shards and the devices that hold them"));
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(this, &PaintedView::itemActivated, this, [this](int index) {
        const auto shard = static_cast<std::size_t>(shardOf(index));
        emit deviceActivated(nextOwner(shards_.owners[shard], selected_));
    });
}

void ShardStrip::setArray(const TileArray& array, int row_axis, int column_axis) {
    shards_ = shardGroups(array);
    mesh_ = array.mesh;
    parts_.assign(static_cast<std::size_t>(shards_.count()), {});
    names_.clear();
    most_owners_ = 0;
    const auto rows = shares(array, row_axis);
    const auto columns = shares(array, column_axis);
    for (int shard = 0; shard < shards_.count(); ++shard) {
        const auto s = static_cast<std::size_t>(shard);
        double share = 0;
        for (const int tile : shards_.tiles[s]) {
            const std::vector<int> spans = array.spansOf(tile);
            const auto part = [&](const auto& list, int axis) {
                const auto at = static_cast<std::size_t>(axis);
                return list[axis < 0 ? 0 : static_cast<std::size_t>(spans[at])];
            };
            const auto [top, height] = part(rows, row_axis);
            const auto [left, width] = part(columns, column_axis);
            const QRectF rect(left, top, width, height);
            if (!rect.isEmpty() && (parts_[s].empty() || parts_[s].back() != rect)) {
                parts_[s].push_back(rect);
                share += width * height;
            }
        }
        const std::vector<int>& owners = shards_.owners[s];
        const QString who = owners.size() == 1 ? tr("device %1").arg(owners.front())
                                               : tr("devices %1").arg(deviceListText(owners));
        const QString what =
            share > 0.999 ? tr("all of it") : tr("%1 %").arg(share * 100.0, 0, 'f', 1);
        const auto copies = static_cast<int>(owners.size());
        most_owners_ = std::max(most_owners_, copies);
        names_.push_back(tr("shard %1, %2, on %3").arg(shard).arg(what, who) +
                         (copies > 1 ? tr(", %n copies", nullptr, copies) : QString()));
    }
    itemsChanged();
    updateGeometry();
}

void ShardStrip::setSelectedDevice(int device) {
    selected_ = device;
    itemsChanged(); // other shards may come into view
}

void ShardStrip::setColumn(bool column) {
    if (column == column_) {
        return;
    }
    column_ = column;
    QSizePolicy policy(column ? QSizePolicy::Fixed : QSizePolicy::Expanding,
                       column ? QSizePolicy::Expanding : QSizePolicy::Fixed);
    policy.setHeightForWidth(!column);
    setSizePolicy(policy);
    itemsChanged();
    updateGeometry();
}

void ShardStrip::setStale(bool stale) {
    if (stale != stale_) {
        stale_ = stale;
        update();
    }
}

/// As many as the shard with most owners has, up to four; where some lack room a number says so.
int ShardStrip::badgeCount() const {
    return most_owners_ <= kMostDeviceBadges ? std::max(1, most_owners_) : kMostDeviceBadges - 1;
}

/// "×4" copies, "+13  ×16" where some have no badge; empty of a single one.
QString ShardStrip::countText(int copies) const {
    const QString times = QStringLiteral("×") + formatCount(copies);
    return copies <= 1              ? QString()
           : copies <= badgeCount() ? times
                                    : tr("+%1  %2").arg(formatCount(copies - badgeCount()), times);
}

double ShardStrip::countWidth() const {
    const QString longest = countText(most_owners_);
    return longest.isEmpty()
               ? 0
               : std::ceil(textWidth(Theme::current().font(TextStyle::Caption), longest)) +
                     space::kControl;
}

double ShardStrip::cellWidth() const {
    const double badge = deviceBadgeWidth(static_cast<int>(shards_.of_device.size()));
    return badgeCount() * (badge + space::kTight) + space::kTight + countWidth() + kBoxWidth +
           kShardGap;
}

int ShardStrip::columnsIn(double width) const {
    return column_ ? 1 : std::max(1, static_cast<int>((width + kShardGap) / cellWidth()));
}

int ShardStrip::mostRows() const {
    return column_ ? std::max(1, static_cast<int>(height() / kShardRow)) : kMostRows;
}

int ShardStrip::shownIn(double width) const {
    const int places = columnsIn(width) * mostRows();
    return shards_.count() <= places ? shards_.count()
                                     : places - 1; // the last place says how many more there are
}

int ShardStrip::itemCount() const {
    return shownIn(width());
}

int ShardStrip::first() const {
    const int shown = itemCount();
    const int shard = shards_.shardOf(selected_);
    return shard < shown || shown == 0 ? 0
                                       : std::min(shard / shown * shown, shards_.count() - shown);
}

QRectF ShardStrip::cell(int index, double width) const {
    const int columns = columnsIn(width);
    const int rows = std::min(mostRows(), shards_.count());
    const double top = column_ ? std::max(0.0, (height() - rows * kShardRow) / 2.0) : 0.0;
    return {index % columns * cellWidth(), top + index / columns * kShardRow,
            cellWidth() - kShardGap, kShardRow};
}

ViewItem ShardStrip::item(int index) const {
    return {cell(index, width()), names_[static_cast<std::size_t>(shardOf(index))], {}};
}

QSize ShardStrip::sizeHint() const {
    return column_ ? minimumSizeHint() : QSize(320, heightForWidth(320));
}

QSize ShardStrip::minimumSizeHint() const {
    return {static_cast<int>(std::ceil(cellWidth())), static_cast<int>(kShardRow)};
}

int ShardStrip::heightForWidth(int width) const {
    const int columns = columnsIn(width);
    const int rows = std::min(kMostRows, (shards_.count() + columns - 1) / columns);
    return static_cast<int>(std::ceil(std::max(1, rows) * kShardRow));
}

int ShardStrip::neighbour(int index, int key) const {
    return gridNeighbour(index, key, columnsIn(width()));
}

/// Returns where they end.
double ShardStrip::paintOwners(QPainter& painter, int shard, const QRectF& place,
                               const std::vector<QColor>& colors) const {
    const Theme& theme = Theme::current();
    const double badge = deviceBadgeWidth(static_cast<int>(colors.size()));
    const std::vector<int>& owners = shards_.owners[static_cast<std::size_t>(shard)];
    double x = place.left();
    for (int i = 0; i < std::min(badgeCount(), static_cast<int>(owners.size())); ++i) {
        const int owner = owners[static_cast<std::size_t>(i)];
        const QRectF rect(x, place.center().y() - kDeviceBadgeHeight / 2.0, badge,
                          kDeviceBadgeHeight);
        paintDeviceBadge(painter, rect, owner, colors[static_cast<std::size_t>(owner)]);
        if (owner == selected_) {
            paintSurface(painter, rect.adjusted(-2, -2, 2, 2), size::kRadius, {},
                         theme.color(Role::Accent), Qt::SolidLine, 2.0);
        }
        x += badge + space::kTight;
    }
    x = place.left() + badgeCount() * (badge + space::kTight) + space::kTight;
    if (countWidth() > 0) {
        paintText(painter, {x, place.top(), countWidth() - space::kControl, place.height()},
                  Qt::AlignRight | Qt::AlignVCenter, countText(static_cast<int>(owners.size())),
                  theme.font(TextStyle::Caption), theme.color(Role::Muted), Qt::ElideNone);
    }
    return x + countWidth();
}

void ShardStrip::paintPart(QPainter& painter, int shard, const QRectF& box,
                           const QColor& color) const {
    const Theme& theme = Theme::current();
    painter.fillRect(box, theme.color(Role::EmptyBar));
    const QRectF inner = box.adjusted(1, 1, -1, -1);
    for (const QRectF& part : parts_[static_cast<std::size_t>(shard)]) {
        // A sliver is still a part: at least one pixel of it shows.
        painter.fillRect(QRectF(inner.left() + part.left() * inner.width(),
                                inner.top() + part.top() * inner.height(),
                                std::max(1.0, part.width() * inner.width()),
                                std::max(1.0, part.height() * inner.height())),
                         color);
    }
    const bool chosen = shard == shards_.shardOf(selected_);
    paintSurface(painter, chosen ? box.adjusted(-2, -2, 2, 2) : box, chosen ? 2.0 : 0.0, {},
                 theme.color(chosen ? Role::Accent : Role::Border), Qt::SolidLine,
                 chosen ? 2.0 : 1.0);
}

void ShardStrip::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    if (stale_) {
        painter.setOpacity(kStaleOpacity);
    }
    const std::vector<QColor> colors = shardPalette(shards_, mesh_);
    const int shown = shownIn(view_size.width());
    for (int i = 0; i < shown; ++i) {
        const int shard = shardOf(i);
        const QRectF place = cell(i, view_size.width());
        const double x = paintOwners(painter, shard, place, colors);
        const QRectF box(x, std::round(place.center().y() - kBoxHeight / 2.0), kBoxWidth,
                         kBoxHeight);
        const int owner = shards_.owners[static_cast<std::size_t>(shard)].front();
        paintPart(painter, shard, box, colors[static_cast<std::size_t>(owner)]);
    }
    if (shown < shards_.count()) {
        paintText(painter, cell(shown, view_size.width()), Qt::AlignLeft | Qt::AlignVCenter,
                  tr("+%n shards", nullptr, shards_.count() - shown),
                  theme.font(TextStyle::Caption), theme.color(Role::Muted));
    }
}

} // namespace weft::widgets
