// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tile_array.h"

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
