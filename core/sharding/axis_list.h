// SPDX-License-Identifier: Apache-2.0
// Lists of mesh axes, by number: what they have in common.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

namespace weft::sharding {

inline bool contains(std::span<const int> axes, int axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// Whether two lists have an axis in common.
inline bool share(std::span<const int> a, std::span<const int> b) {
    return std::any_of(a.begin(), a.end(), [&](int axis) { return contains(b, axis); });
}

/// Adds the axes that are not there yet; ascending.
inline void add_axes(std::vector<int>& to, std::span<const int> axes) {
    for (const int axis : axes) {
        if (!contains(to, axis)) {
            to.push_back(axis);
        }
    }
    std::sort(to.begin(), to.end());
}

inline std::vector<int> axes_in_both(std::span<const int> a, std::span<const int> b) {
    std::vector<int> out;
    std::copy_if(a.begin(), a.end(), std::back_inserter(out),
                 [&](int axis) { return contains(b, axis); });
    return out;
}

} // namespace weft::sharding
