// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/reference_list.h"

#include <algorithm>
#include <cmath>

namespace weft::kernels::reference {

Body make_softmax(const Op& op) {
    require(op.input(0).rank >= 1 && same_shape(op.input(0), op.output(0)),
            "softmax keeps the shape");
    const std::int64_t rows = row_count(op.input(0));
    const std::int64_t width = last_dim(op.input(0));
    return [=](const Call& call) {
        for (std::int64_t r = 0; r < rows && width > 0; ++r) {
            const double* x = call.in(0) + r * width;
            double* y = call.out(0) + r * width;
            const double max = *std::max_element(x, x + width);
            double sum = 0.0;
            for (std::int64_t v = 0; v < width; ++v) {
                y[v] = std::exp(x[v] - max);
                sum += y[v];
            }
            for (std::int64_t v = 0; v < width; ++v) {
                y[v] /= sum;
            }
        }
        return WEFT_OK;
    };
}

Body make_softmax_grad(const Op& op) { // dx = y (dy - sum(y dy))
    require(op.input(0).rank >= 1 && same_shape(op.input(0), op.output(0)) &&
                same_shape(op.input(0), op.input(1)),
            "softmax_grad keeps the shape");
    const std::int64_t rows = row_count(op.input(0));
    const std::int64_t width = last_dim(op.input(0));
    return [=](const Call& call) {
        for (std::int64_t r = 0; r < rows; ++r) {
            const double* y = call.in(0) + r * width;
            const double* dy = call.in(1) + r * width;
            double sum = 0.0;
            for (std::int64_t v = 0; v < width; ++v) {
                sum += y[v] * dy[v];
            }
            for (std::int64_t v = 0; v < width; ++v) {
                call.out(0)[r * width + v] = y[v] * (dy[v] - sum);
            }
        }
        return WEFT_OK;
    };
}

} // namespace weft::kernels::reference
