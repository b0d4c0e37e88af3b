// SPDX-License-Identifier: Apache-2.0
// Work cut into pieces: how products walk their rows, columns and depth.
#pragma once

#include <algorithm>
#include <cstdint>

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

} // namespace weft::kernels::cpu
