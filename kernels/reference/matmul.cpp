// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul_shape.h"
#include "kernels/reference/reference_list.h"

namespace weft::kernels::reference {
namespace {

Body multiply(const MatmulShape& s, bool bias) {
    const std::int64_t x_row = s.transpose_x ? 1 : s.k;
    const std::int64_t x_col = s.transpose_x ? s.m : 1;
    const std::int64_t y_row = s.transpose_y ? 1 : s.n;
    const std::int64_t y_col = s.transpose_y ? s.k : 1;
    return [=](const Call& call) {
        for (std::int64_t b = 0; b < s.batch; ++b) {
            const double* x = call.in(0) + b * s.m * s.k;
            const double* y = call.in(1) + (s.shared_y ? 0 : b * s.k * s.n);
            double* out = call.out(0) + b * s.m * s.n;
            for (std::int64_t i = 0; i < s.m; ++i) {
                for (std::int64_t j = 0; j < s.n; ++j) {
                    out[i * s.n + j] = bias ? call.in(2)[j] : 0.0;
                }
                for (std::int64_t k = 0; k < s.k; ++k) {
                    for (std::int64_t j = 0; j < s.n; ++j) {
                        out[i * s.n + j] += x[i * x_row + k * x_col] * y[k * y_row + j * y_col];
                    }
                }
            }
        }
        return WEFT_OK;
    };
}

} // namespace

Body make_matmul(const Op& op) {
    return multiply(matmul_shape(op), false);
}

Body make_linear(const Op& op) {
    return multiply(linear_shape(op), op.inputs() == 3);
}

} // namespace weft::kernels::reference
