// SPDX-License-Identifier: GPL-3.0-or-later
// Where the devices of a mesh stand in a picture: the last axis runs across, the one before it
// down, and every place of the others is a block. Axes that are too long for the room are folded
// into several lines.
#pragma once

#include <QRectF>
#include <QSizeF>

#include <span>

namespace weft::widgets {

/// What devices are fitted into.
struct PlacesRoom {
    QSizeF size;
    double gap = 2;       // between devices
    double block_gap = 6; // between blocks
    double caption = 0;   // line above a block, where there are several
    QSizeF least;         // arrangements whose devices are as large go before others
    QSizeF most;          // no device is drawn larger
    double aspect = 1;    // across to down, that a device should have
};

/// Device d of row-major numbering stands at column d % columns, row d / columns % rows of block
/// d / (columns * rows). The last line may be shorter.
struct DevicePlaces {
    int count = 0;
    int columns = 1;
    int rows = 1;
    int block_columns = 1;
    bool folded_columns = false; // a line is a part of the last axis
    bool folded_rows = false;    // a block has a part of the axis before it
    QSizeF cell;
    double gap = 2;
    double block_gap = 6;
    double caption = 0;

    /// The arrangement whose devices are largest; axes stay whole where that costs little.
    static DevicePlaces fitted(std::span<const int> mesh, const PlacesRoom& room);
    /// The same arrangement with devices of another size.
    DevicePlaces withCells(const QSizeF& size) const;

    int blocks() const;
    int blockRows() const { return (blocks() + block_columns - 1) / block_columns; }
    QRectF rect(int device) const;
    /// With its caption.
    QRectF block(int block) const;
    QSizeF extent() const;
    /// -1: none.
    int at(const QPointF& position) const;
    /// The device that an arrow key leads to; the same one at an edge.
    int neighbour(int device, int key) const;

private:
    QSizeF pitch() const { return {cell.width() + gap, cell.height() + gap}; }
    QSizeF blockPitch() const;
    int columnOf(int device) const;
    int rowOf(int device) const;
    int deviceAt(int column, int row) const;
};

} // namespace weft::widgets
