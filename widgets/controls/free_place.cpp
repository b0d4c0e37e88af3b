// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/free_place.h"

#include <algorithm>
#include <utility>

namespace weft::widgets {
namespace {

constexpr int kPlaceGrid = 4; // pixels, that of all spacing

} // namespace

FreePlaces::FreePlaces(const QRect& area)
    : area_(area), cells_(area.width() / kPlaceGrid, area.height() / kPlaceGrid) {}

QRect FreePlaces::cellsOf(const QRect& rect) const {
    const QRect inside = rect.translated(-area_.topLeft());
    const int left = inside.left() / kPlaceGrid;
    const int top = inside.top() / kPlaceGrid;
    return QRect(QPoint(left, top),
                 QPoint(inside.right() / kPlaceGrid, inside.bottom() / kPlaceGrid)) &
           QRect(QPoint(0, 0), cells_);
}

void FreePlaces::keep(const QRect& rect, Keep how) {
    const QRect seen = rect & area_;
    if (!seen.isEmpty()) {
        kept_.emplace_back(cellsOf(seen), how);
    }
}

FreePlaces::Sums FreePlaces::sumsOf(Keep how) const {
    const auto pitch = static_cast<std::size_t>(cells_.width()) + 1;
    Sums sums(pitch * (static_cast<std::size_t>(cells_.height()) + 1), 0);
    const auto at = [&](int x, int y) -> int& {
        return sums[static_cast<std::size_t>(y) * pitch + static_cast<std::size_t>(x)];
    };
    for (const auto& [cells, kept] : kept_) {
        for (int y = cells.top(); kept == how && y <= cells.bottom(); ++y) {
            std::fill(&at(cells.left() + 1, y + 1), &at(cells.right() + 1, y + 1) + 1, 1);
        }
    }
    for (int y = 1; y <= cells_.height(); ++y) {
        for (int x = 1; x <= cells_.width(); ++x) {
            at(x, y) += at(x - 1, y) + at(x, y - 1) - at(x - 1, y - 1);
        }
    }
    return sums;
}

int FreePlaces::covered(const Sums& sums, const QRect& cells) const {
    const int pitch = cells_.width() + 1;
    const auto at = [&](int x, int y) { return sums[static_cast<std::size_t>(y * pitch + x)]; };
    const int right = cells.right() + 1;
    const int bottom = cells.bottom() + 1;
    return at(right, bottom) - at(cells.left(), bottom) - at(right, cells.top()) +
           at(cells.left(), cells.top());
}

FreePlaces::Place FreePlaces::at(const QRect& rect) const {
    const QRect cells = cellsOf(rect & area_);
    return {rect, covered(sumsOf(Keep::Free), cells), covered(sumsOf(Keep::Seen), cells)};
}

FreePlaces::Place FreePlaces::find(const QSize& size) const {
    const QSize wanted((size.width() + kPlaceGrid - 1) / kPlaceGrid,
                       (size.height() + kPlaceGrid - 1) / kPlaceGrid);
    const QSize room(std::max(0, cells_.width() - wanted.width()),
                     std::max(0, cells_.height() - wanted.height()));
    const Sums controls = sumsOf(Keep::Free);
    const Sums others = sumsOf(Keep::Seen);
    const auto place = [&](int from_right, int from_top) {
        const QRect cells =
            QRect(QPoint(room.width() - from_right, from_top), wanted) & QRect(QPoint(), cells_);
        return Place{QRect(area_.topLeft() + cells.topLeft() * kPlaceGrid, size),
                     covered(controls, cells), covered(others, cells)};
    };
    Place best = place(0, 0);
    // Outwards from the corner: of equals the nearest is met first.
    for (int away = 1; away <= room.width() + room.height(); ++away) {
        for (int x = std::max(0, away - room.height()); x <= std::min(away, room.width()); ++x) {
            if (const Place next = place(x, away - x); next.betterThan(best)) {
                best = next;
            }
        }
    }
    return best;
}

} // namespace weft::widgets
