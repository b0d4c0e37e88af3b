// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul_shape.h"

namespace weft::kernels {
namespace {

std::int64_t dim_from_end(const Type& type, int back) {
    return type.shape[type.rank - 1 - back];
}

} // namespace

MatmulShape matmul_shape(const Op& op) {
    const Type& x = op.input(0);
    const Type& y = op.input(1);
    const Type& out = op.output(0);
    require(x.rank >= 2 && y.rank >= 2 && out.rank == x.rank, "matmul takes matrices");
    MatmulShape s{1, 0, 0, 0, op.flag("transpose_x"), op.flag("transpose_y"), y.rank == 2};
    s.m = dim_from_end(x, s.transpose_x ? 0 : 1);
    s.k = dim_from_end(x, s.transpose_x ? 1 : 0);
    s.n = dim_from_end(y, s.transpose_y ? 1 : 0);
    require(dim_from_end(y, s.transpose_y ? 0 : 1) == s.k, "the inner dimensions differ");
    require(dim_from_end(out, 1) == s.m && dim_from_end(out, 0) == s.n,
            "the output is not [..., M, N]");
    require(s.shared_y || y.rank == x.rank, "the batch dimensions differ");
    for (int d = 0; d + 2 < x.rank; ++d) {
        require(out.shape[d] == x.shape[d] && (s.shared_y || y.shape[d] == x.shape[d]),
                "the batch dimensions differ");
        s.batch *= x.shape[d];
    }
    if (s.shared_y && !s.transpose_x) { // the batch is just more rows
        s.m *= s.batch;
        s.batch = 1;
    }
    return s;
}

MatmulShape matmul_sums_shape(const Op& op) {
    const MatmulShape s = matmul_shape(op);
    require(op.input(0).rank == 2 && op.input(1).rank == 2 && !s.transpose_y,
            "matmul_sums takes two matrices, the second as it is");
    require(op.output(1).rank == 1 && op.output(1).shape[0] == s.n, "the sums are not [N]");
    return s;
}

MatmulShape linear_shape(const Op& op) {
    const Type& x = op.input(0);
    const Type& weight = op.input(1);
    const Type& out = op.output(0);
    require(x.rank >= 1 && weight.rank == 2 && out.rank == x.rank,
            "linear takes [..., K] and [K, N]");
    const MatmulShape s{1, row_count(x), last_dim(x), last_dim(weight), false, false, true};
    require(weight.shape[0] == s.k, "the inner dimensions differ");
    require(last_dim(out) == s.n && row_count(out) == s.m, "the output is not [..., N]");
    require(op.inputs() < 3 || (op.input(2).rank == 1 && op.input(2).shape[0] == s.n),
            "the bias is not [N]");
    return s;
}

} // namespace weft::kernels
