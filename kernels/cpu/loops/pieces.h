// SPDX-License-Identifier: Apache-2.0
// Work cut into pieces: how products walk their rows, columns and depth.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace weft::kernels::cpu {

/// How many pieces of at most `most` make `total`.
constexpr std::int64_t pieces(std::int64_t total, std::int64_t most) {
    return (total + most - 1) / most;
}

/// The size of pieces that are as equal as can be and no larger than `most`, which is at least 1.
constexpr std::int64_t equal_size(std::int64_t total, std::int64_t most) {
    return pieces(total, pieces(total, most));
}

struct Range {
    std::int64_t begin = 0, end = 0;

    std::int64_t count() const { return end - begin; }
};

/// Calls fn(piece) for the pieces of a range.
template <class Fn>
void for_pieces(const Range& all, std::int64_t size, const Fn& fn) {
    for (std::int64_t begin = all.begin; begin < all.end; begin += size) {
        fn(Range{begin, std::min(begin + size, all.end)});
    }
}

/// Rows by columns of something, shared out to a team: parts of `part_rows` by `part_columns`.
struct PartGrid {
    std::int64_t row_parts, column_parts, part_rows, part_columns;
};

/// The grid of `team` parts whose cost(part_rows, part_columns) is least.
template <class Cost>
PartGrid cheapest_grid(std::int64_t rows, std::int64_t columns, std::int64_t team,
                       const Cost& cost) {
    PartGrid best{};
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t parts = 1; parts <= team; ++parts) {
        if (team % parts != 0) {
            continue;
        }
        const PartGrid grid{parts, team / parts, pieces(rows, parts),
                            pieces(columns, team / parts)};
        const double now =
            cost(static_cast<double>(grid.part_rows), static_cast<double>(grid.part_columns));
        if (now < least) {
            least = now;
            best = grid;
        }
    }
    return best;
}

} // namespace weft::kernels::cpu
