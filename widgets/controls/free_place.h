// SPDX-License-Identifier: GPL-3.0-or-later
// Where something may lie over other things without being in the way: the place nearest to the
// upper right corner that covers nothing, and where there is none, what matters least.
#pragma once

#include <QRect>

#include <vector>

namespace weft::widgets {

class FreePlaces {
public:
    explicit FreePlaces(const QRect& area);

    enum class Keep {
        Free, // covered only where nothing else is left
        Seen  // covered where nothing is free
    };
    void keep(const QRect& rect, Keep how);

    struct Place {
        QRect rect;
        int controls = 0; // covered cells of what is to be kept free,
        int others = 0;   // and of what is to be seen
        bool betterThan(const Place& other) const {
            return controls != other.controls ? controls < other.controls : others < other.others;
        }
    };
    Place find(const QSize& size) const;
    /// What something covers that lies there.
    Place at(const QRect& rect) const;

private:
    using Sums = std::vector<int>; // of the cells above and left of each corner

    Sums sumsOf(Keep how) const;
    int covered(const Sums& sums, const QRect& cells) const;
    /// Cells that a rectangle touches.
    QRect cellsOf(const QRect& rect) const;

    QRect area_;
    QSize cells_;
    std::vector<std::pair<QRect, Keep>> kept_; // in cells
};

} // namespace weft::widgets
