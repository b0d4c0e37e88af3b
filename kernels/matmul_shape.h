// SPDX-License-Identifier: Apache-2.0
// The geometry of `matmul` and `linear`, read once for every back end.
#pragma once

#include "kernels/op.h"

namespace weft::kernels {

struct MatmulShape {
    std::int64_t batch, m, k, n;
    bool transpose_x, transpose_y;
    bool shared_y; // y is one [K, N] for every batch entry
};

/// x [..., M, K] (or [..., K, M] when transposed), y [..., K, N] or [K, N] -> [..., M, N].
MatmulShape matmul_shape(const Op& op);
/// x [..., K], weight [K, N], bias [N]? -> [..., N], as one matmul with M = every row of x.
MatmulShape linear_shape(const Op& op);
/// x [M, K] (or [K, M] when transposed), y [K, N] -> [M, N], and sums [N] of y's columns.
MatmulShape matmul_sums_shape(const Op& op);

} // namespace weft::kernels
