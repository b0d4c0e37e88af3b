// SPDX-License-Identifier: Apache-2.0
// The geometry of ops on one dimension of an array, read once for every back end.
#pragma once

#include "kernels/op.h"

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

} // namespace weft::kernels
