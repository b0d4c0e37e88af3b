// SPDX-License-Identifier: Apache-2.0
// The geometry of ops on one dimension of an array, read once for every back end.
#pragma once

#include "kernels/op.h"

#include <algorithm>
#include <cmath>

namespace weft::kernels {

/// x [outer, extent, inner], where the middle one is the dimension of attribute `dim`.
struct ShardShape {
    std::int64_t outer = 1, extent = 1, inner = 1;
    std::int64_t size = 1; // bytes of an element
};

inline ShardShape shard_shape(const Op& op) {
    const Type& x = op.input(0);
    const std::int64_t dim = op.integer("dim");
    require(dim >= 0 && dim < x.rank, "the dimension does not exist");
    require(op.input(1).dtype == WEFT_I64 && element_count(op.input(1)) == 1,
            "the index is not i64[1]");
    require(op.output(0).dtype == x.dtype, "input and output differ in dtype");
    ShardShape s;
    for (std::int32_t d = 0; d < x.rank; ++d) {
        (d < dim ? s.outer : d == dim ? s.extent : s.inner) *= x.shape[d];
    }
    s.size = dtype_size(x.dtype);
    return s;
}

/// What `mask` writes: attribute `value`, or the last number of f16 before it where that has none
/// so large. What is finite stays it: losses may multiply it by 0.
inline double padding_value(const Op& op) {
    constexpr double kMostF16 = 65504.0;
    const double value = op.real("value");
    return op.output(0).dtype == WEFT_F16 && std::isfinite(value)
               ? std::clamp(value, -kMostF16, kMostF16)
               : value;
}

} // namespace weft::kernels
