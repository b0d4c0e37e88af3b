// SPDX-License-Identifier: GPL-3.0-or-later
// One array cut up over the devices of a mesh, as plain values: what the tile view and the strips
// of the devices draw. Extents are elements.
#pragma once

#include <QString>

#include <vector>

namespace weft::widgets {

/// Elements [first, first + count) of a dimension that devices hold as one, and what pads them.
struct TileSpan {
    qint64 first = 0;
    qint64 count = 0;
    qint64 padding = 0; // elements behind them that only fill the device's part up

    qint64 extent() const { return count + padding; }
    friend bool operator==(const TileSpan&, const TileSpan&) = default;
};

struct TileArray {
    std::vector<qint64> shape; // without padding
    /// Per dimension its spans, ascending; they cover it. One span: the dimension is not split.
    std::vector<std::vector<TileSpan>> dims;
    /// Per tile the devices that hold a copy, ascending. Tiles are numbered row-major over the
    /// spans.
    std::vector<std::vector<int>> holders;
    std::vector<int> mesh; // sizes of the axes, major to minor; empty: one device

    int rank() const { return static_cast<int>(shape.size()); }
    int deviceCount() const;
    int tileCount() const { return static_cast<int>(holders.size()); }
    int spanCount(int dim) const {
        return static_cast<int>(dims[static_cast<std::size_t>(dim)].size());
    }
    /// Which span of a dimension a tile lies in, and back: one number per dimension.
    std::vector<int> spansOf(int tile) const;
    int tileAt(const std::vector<int>& spans) const;
    const TileSpan& span(int dim, int index) const {
        return dims[static_cast<std::size_t>(dim)][static_cast<std::size_t>(index)];
    }
    const std::vector<int>& holdersOf(int tile) const {
        return holders[static_cast<std::size_t>(tile)];
    }
    bool holds(int tile, int device) const;
    /// Devices that hold the same tiles as this one, itself included; empty: it holds none.
    std::vector<int> devicesLike(int device) const;
};

/// The distinct shards of an array: what the same devices hold, numbered by their first tiles.
struct ShardGroups {
    std::vector<std::vector<int>> tiles;  // [shard] ascending; fused arrays have several parts
    std::vector<std::vector<int>> owners; // [shard] the devices that hold a copy, ascending
    std::vector<int> of_device;           // [device] its shard; -1: it holds nothing
    std::vector<int> grid; // over how many places along each split dimension they lie

    int count() const { return static_cast<int>(tiles.size()); }
    /// -1 without such a device, too.
    int shardOf(int device) const;
};
ShardGroups shardGroups(const TileArray& array);
/// The owner after the selected one, from the first on.
int nextOwner(const std::vector<int>& owners, int selected);

/// "0:768" of a span, or ":" when it is the whole dimension.
QString sliceText(const TileSpan& span, qint64 extent);
/// "0-3, 8" of ascending numbers; cut off with an ellipsis after `most` stretches.
QString deviceListText(const std::vector<int>& devices, int most = 1000);

} // namespace weft::widgets
