// SPDX-License-Identifier: Apache-2.0
// How another program lays out the numbers of a tensor that we have too.
#pragma once

#include "core/ir/type.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft::foreign {

enum class Layout : std::uint8_t {
    same,
    transposed,  // ours [in, out], theirs [out, in]
    convolution, // ours [kh, kw, in, out], theirs [out, in, kh, kw]
    in_one,      // theirs has an extent of 1 before ours
    in_two,      // two of them
};

/// The shape there of what has this shape here.
ir::Shape shape_there(Layout layout, const ir::Shape& here);

/// The same numbers in the order of the other side.
std::vector<float> to_ours(Layout layout, const ir::Shape& theirs, std::span<const float> values);
std::vector<float> to_theirs(Layout layout, const ir::Shape& ours, std::span<const float> values);

/// Parts of `ours`, joined along its last dimension; all have the same extents.
std::vector<float> joined(std::span<const std::vector<float>> parts, std::int64_t rows);
/// Part `index` of `count` equal ones along the last dimension.
std::vector<float> part_of(std::span<const float> values, std::int64_t rows, std::size_t index,
                           std::size_t count);

} // namespace weft::foreign
