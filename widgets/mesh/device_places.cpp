// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/mesh/device_places.h"

#include <Qt>

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft::widgets {
namespace {

constexpr double kFolding = 0.8;  // what an arrangement with a folded axis counts,
constexpr double kGappy = 0.85;   // and one whose last line is shorter
constexpr double kSnapping = 3.0; // smaller devices have sides of fractions of a pixel
constexpr int kLongestFold = 256; // devices in a line of a folded axis

double snapped(double side) {
    return side >= kSnapping ? std::floor(side) : side;
}

/// One block of the arrangement, and how many there are.
struct Fold {
    int columns = 1;
    int rows = 1;
    bool columns_folded = false;
    bool rows_folded = false;
};

std::vector<Fold> foldsOf(std::span<const int> mesh) {
    std::vector<int> sizes;
    std::copy_if(mesh.begin(), mesh.end(), std::back_inserter(sizes),
                 [](int size) { return size > 1; });
    if (sizes.empty()) {
        return {{}};
    }
    std::vector<Fold> out;
    const int last = sizes.back();
    const int before = sizes.size() > 1 ? sizes[sizes.size() - 2] : 1;
    for (int rows = 1; rows <= before; ++rows) {
        if (before % rows == 0) {
            out.push_back({last, rows, false, rows < before});
        }
    }
    // A mesh of one axis may end with a shorter line.
    for (int columns = 1; columns < std::min(last, kLongestFold); ++columns) {
        if (last % columns == 0 || sizes.size() == 1) {
            out.push_back({columns, (last + columns - 1) / columns, true, false});
        }
    }
    return out;
}

} // namespace

DevicePlaces DevicePlaces::fitted(std::span<const int> mesh, const PlacesRoom& room) {
    DevicePlaces out;
    out.count = 1;
    for (const int size : mesh) {
        out.count *= size;
    }
    out.gap = room.gap;
    out.block_gap = room.block_gap;
    double best = -1;
    DevicePlaces tried = out;
    for (const Fold& fold : foldsOf(mesh)) {
        tried.columns = fold.columns;
        tried.rows = fold.rows;
        tried.folded_columns = fold.columns_folded;
        tried.folded_rows = fold.rows_folded;
        const int blocks = tried.blocks();
        tried.caption = blocks > 1 ? room.caption : 0;
        const double whole = fold.columns_folded || fold.rows_folded ? kFolding : 1.0;
        for (int across = 1; across <= blocks; ++across) {
            tried.block_columns = across;
            const int down = tried.blockRows();
            const double gaps_x =
                (across - 1) * tried.block_gap + across * (fold.columns - 1) * tried.gap;
            const double gaps_y =
                (down - 1) * tried.block_gap + down * ((fold.rows - 1) * tried.gap + tried.caption);
            const double width =
                std::min(room.most.width(), (room.size.width() - gaps_x) / (across * fold.columns));
            const double height =
                std::min(room.most.height(), (room.size.height() - gaps_y) / (down * fold.rows));
            const double filled = static_cast<double>(out.count) /
                                  (static_cast<double>(across) * down * fold.columns * fold.rows);
            const bool large = width >= room.least.width() && height >= room.least.height();
            const double size = std::min(width / room.aspect, height) * whole * filled *
                                    (filled < 1.0 ? kGappy : 1.0) +
                                (large ? room.size.width() + room.size.height() : 0.0);
            if (size > best) {
                best = size;
                tried.cell = {snapped(std::max(0.5, width)), snapped(std::max(0.5, height))};
                out = tried;
            }
        }
    }
    return out;
}

DevicePlaces DevicePlaces::withCells(const QSizeF& size) const {
    DevicePlaces out = *this;
    out.cell = {snapped(size.width()), snapped(size.height())};
    return out;
}

int DevicePlaces::blocks() const {
    return std::max(1, (count + columns * rows - 1) / (columns * rows));
}

QSizeF DevicePlaces::blockPitch() const {
    return {columns * pitch().width() - gap + block_gap,
            rows * pitch().height() - gap + block_gap + caption};
}

int DevicePlaces::columnOf(int device) const {
    return device / (columns * rows) % block_columns * columns + device % columns;
}

int DevicePlaces::rowOf(int device) const {
    return device / (columns * rows) / block_columns * rows + device / columns % rows;
}

int DevicePlaces::deviceAt(int column, int row) const {
    if (column < 0 || row < 0 || column >= columns * block_columns || row >= rows * blockRows()) {
        return -1;
    }
    const int block = row / rows * block_columns + column / columns;
    const int device = (block * rows + row % rows) * columns + column % columns;
    return device < count ? device : -1;
}

QRectF DevicePlaces::rect(int device) const {
    const int column = columnOf(device);
    const int row = rowOf(device);
    return {column / columns * blockPitch().width() + column % columns * pitch().width(),
            row / rows * blockPitch().height() + caption + row % rows * pitch().height(),
            cell.width(), cell.height()};
}

QRectF DevicePlaces::block(int block) const {
    return {block % block_columns * blockPitch().width(),
            block / block_columns * blockPitch().height(), blockPitch().width() - block_gap,
            blockPitch().height() - block_gap};
}

QSizeF DevicePlaces::extent() const {
    return {block_columns * blockPitch().width() - block_gap,
            blockRows() * blockPitch().height() - block_gap};
}

int DevicePlaces::at(const QPointF& position) const {
    if (position.x() < 0 || position.y() < 0) {
        return -1;
    }
    const auto place = [](double at, double block, double before, double step, int in_block) {
        const int number = static_cast<int>(at / block);
        const double inside = at - number * block - before;
        return inside < 0
                   ? -1
                   : number * in_block + std::min(in_block - 1, static_cast<int>(inside / step));
    };
    const int device =
        deviceAt(place(position.x(), blockPitch().width(), 0, pitch().width(), columns),
                 place(position.y(), blockPitch().height(), caption, pitch().height(), rows));
    return device >= 0 && rect(device).contains(position) ? device : -1;
}

int DevicePlaces::neighbour(int device, int key) const {
    const int across = key == Qt::Key_Left ? -1 : key == Qt::Key_Right ? 1 : 0;
    const int down = key == Qt::Key_Up ? -1 : key == Qt::Key_Down ? 1 : 0;
    const int next = deviceAt(columnOf(device) + across, rowOf(device) + down);
    return next >= 0 ? next : device;
}

} // namespace weft::widgets
