// SPDX-License-Identifier: GPL-3.0-or-later
// Which of the stretches in a row of a view of time belongs to a moment.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

namespace weft::widgets {

/// Index of the stretch that runs at a moment, else of the nearest; -1: there is none. They have
/// `start` and `end`, ascend and do not overlap.
template <class Stretch>
int nearestStretch(const std::vector<Stretch>& row, double time) {
    if (row.empty()) {
        return -1;
    }
    const auto behind =
        std::upper_bound(row.begin(), row.end(), time,
                         [](double moment, const Stretch& one) { return moment < one.start; });
    if (behind == row.begin()) {
        return 0;
    }
    const auto before = std::prev(behind);
    const bool next =
        behind != row.end() && time >= before->end && behind->start - time < time - before->end;
    return static_cast<int>((next ? behind : before) - row.begin());
}

} // namespace weft::widgets
