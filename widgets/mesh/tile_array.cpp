// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/mesh/tile_array.h"

#include <QStringList>

#include <algorithm>

namespace weft::widgets {

int TileArray::deviceCount() const {
    int count = 1;
    for (const int size : mesh) {
        count *= size;
    }
    return count;
}

std::vector<int> TileArray::spansOf(int tile) const {
    std::vector<int> out(shape.size());
    for (int dim = rank() - 1; dim >= 0; --dim) {
        out[static_cast<std::size_t>(dim)] = tile % spanCount(dim);
        tile /= spanCount(dim);
    }
    return out;
}

int TileArray::tileAt(const std::vector<int>& spans) const {
    int tile = 0;
    for (int dim = 0; dim < rank(); ++dim) {
        tile = tile * spanCount(dim) + spans[static_cast<std::size_t>(dim)];
    }
    return tile;
}

bool TileArray::holds(int tile, int device) const {
    const std::vector<int>& all = holdersOf(tile);
    return std::binary_search(all.begin(), all.end(), device);
}

std::vector<int> TileArray::devicesLike(int device) const {
    // Whoever shares one tile with a device shares all of them: tiles are dealt out by coordinates.
    for (int tile = 0; tile < tileCount(); ++tile) {
        if (holds(tile, device)) {
            return holdersOf(tile);
        }
    }
    return {};
}

int ShardGroups::shardOf(int device) const {
    return device >= 0 && device < static_cast<int>(of_device.size())
               ? of_device[static_cast<std::size_t>(device)]
               : -1;
}

ShardGroups shardGroups(const TileArray& array) {
    ShardGroups out;
    if (array.holders.empty()) {
        return out;
    }
    out.of_device.assign(static_cast<std::size_t>(array.deviceCount()), -1);
    for (int tile = 0; tile < array.tileCount(); ++tile) {
        const std::vector<int>& owners = array.holdersOf(tile);
        if (owners.empty()) {
            continue;
        }
        // Whoever shares one tile with a device shares all of them.
        int& shard = out.of_device[static_cast<std::size_t>(owners.front())];
        if (shard < 0) {
            shard = out.count();
            out.tiles.emplace_back();
            out.owners.push_back(owners);
            for (const int owner : owners) {
                out.of_device[static_cast<std::size_t>(owner)] = shard;
            }
        }
        out.tiles[static_cast<std::size_t>(shard)].push_back(tile);
    }
    if (out.count() == array.tileCount()) {
        for (int dim = 0; dim < array.rank(); ++dim) {
            if (array.spanCount(dim) > 1) {
                out.grid.push_back(array.spanCount(dim));
            }
        }
    } else {
        out.grid = {out.count()};
    }
    return out;
}

int nextOwner(const std::vector<int>& owners, int selected) {
    const bool inside = std::binary_search(owners.begin(), owners.end(), selected);
    const auto next = std::upper_bound(owners.begin(), owners.end(), selected);
    return inside && next != owners.end() ? *next : owners.front();
}

QString sliceText(const TileSpan& span, qint64 extent) {
    return span.first == 0 && span.count == extent
               ? QStringLiteral(":")
               : QStringLiteral("%1:%2").arg(span.first).arg(span.first + span.count);
}

QString deviceListText(const std::vector<int>& devices, int most) {
    QStringList out;
    for (std::size_t i = 0; i < devices.size();) {
        if (out.size() == most) {
            out.append(QStringLiteral("…"));
            break;
        }
        std::size_t last = i;
        while (last + 1 < devices.size() && devices[last + 1] == devices[last] + 1) {
            ++last;
        }
        out.append(last == i ? QString::number(devices[i])
                             : QStringLiteral("%1-%2").arg(devices[i]).arg(devices[last]));
        i = last + 1;
    }
    return out.join(QStringLiteral(", "));
}

} // namespace weft::widgets
