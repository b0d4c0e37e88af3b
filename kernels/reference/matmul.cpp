// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul_shape.h"
#include "kernels/operand_format.h"
#include "kernels/reference/reference_list.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::kernels::reference {
namespace {

/// To nearest, ties to even.
double rounded_to(const NumberFormat& format, double value) {
    const int exponent = value == 0 ? 0 : std::max(std::ilogb(value), format.smallest_exponent);
    const double unit = std::ldexp(1.0, exponent - format.fraction_bits);
    return std::clamp(std::nearbyint(value / unit) * unit, -format.largest, format.largest);
}

/// One operand of a product in its format.
class Rounded {
public:
    Rounded(const NumberFormat& format, std::int64_t count)
        : format_(format), values_(&format == &kAsStored ? 0 : static_cast<std::size_t>(count)) {}

    const double* of(const double* given) {
        if (values_.empty()) {
            return given;
        }
        double largest = 0;
        for (std::size_t i = 0; i < values_.size(); ++i) {
            largest = std::isnan(given[i]) ? given[i] : std::max(largest, std::abs(given[i]));
        }
        // A number that is not finite is not hidden by one that is.
        const double spoilt = std::isfinite(largest) ? 0 : std::numeric_limits<double>::quiet_NaN();
        const int exponent = format_.scaled ? scale_exponent(format_, largest) : 0;
        for (std::size_t i = 0; i < values_.size(); ++i) {
            values_[i] =
                format_.scaled && std::isnan(spoilt)
                    ? spoilt
                    : std::ldexp(rounded_to(format_, std::ldexp(given[i], exponent)), -exponent);
        }
        return values_.data();
    }

private:
    const NumberFormat& format_;
    std::vector<double> values_;
};

/// What operand 2 is: nothing, a number for each column, or one for each element, which the result
/// may lie over.
enum class Start : std::uint8_t { zero, bias, sum };

Body multiply(const Op& op, const MatmulShape& s, Start start) {
    const OperandFormats formats = operand_formats(op);
    const std::int64_t x_row = s.transpose_x ? 1 : s.k;
    const std::int64_t x_col = s.transpose_x ? s.m : 1;
    const std::int64_t y_row = s.transpose_y ? 1 : s.n;
    const std::int64_t y_col = s.transpose_y ? s.k : 1;
    return [=, rounded_x = Rounded(*formats.x, s.batch * s.m * s.k),
            rounded_y = Rounded(*formats.y, (s.shared_y ? 1 : s.batch) * s.k * s.n)](
               const Call& call) mutable {
        const double* all_x = rounded_x.of(call.in(0));
        const double* all_y = rounded_y.of(call.in(1));
        for (std::int64_t b = 0; b < s.batch; ++b) {
            const double* x = all_x + b * s.m * s.k;
            const double* y = all_y + (s.shared_y ? 0 : b * s.k * s.n);
            double* out = call.out(0) + b * s.m * s.n;
            for (std::int64_t i = 0; i < s.m; ++i) {
                for (std::int64_t j = 0; j < s.n; ++j) {
                    out[i * s.n + j] = start == Start::bias  ? call.in(2)[j]
                                       : start == Start::sum ? call.in(2)[(b * s.m + i) * s.n + j]
                                                             : 0.0;
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
    return multiply(op, matmul_shape(op), Start::zero);
}

Body make_linear(const Op& op) {
    return multiply(op, linear_shape(op), op.inputs() == 3 ? Start::bias : Start::zero);
}

Body make_matmul_add(const Op& op) {
    require(same_shape(op.input(2), op.output(0)), "what is added to is not [..., M, N]");
    return multiply(op, matmul_shape(op), Start::sum);
}

Body make_linear_gelu(const Op& op) {
    require(same_shape(op.output(0), op.output(1)), "the outputs are not both [..., N]");
    const std::int64_t count = element_count(op.output(0));
    return [product = make_linear(op), count](const Call& call) {
        const weft_status status = product(call);
        for (std::int64_t i = 0; i < count; ++i) {
            call.out(1)[i] = call.out(0)[i];
            call.out(0)[i] = gelu(call.out(1)[i]);
        }
        return status;
    };
}

Body make_matmul_gelu_grad(const Op& op) {
    require(same_shape(op.input(2), op.output(0)), "x is not [..., M, N]");
    const std::int64_t count = element_count(op.output(0));
    return [product = make_matmul(op), count](const Call& call) {
        const weft_status status = product(call);
        for (std::int64_t i = 0; i < count; ++i) {
            call.out(0)[i] *= gelu_slope(call.in(2)[i]);
        }
        return status;
    };
}

Body make_matmul_sums(const Op& op) {
    const MatmulShape s = matmul_sums_shape(op);
    return [product = make_matmul(op), s](const Call& call) {
        const weft_status status = product(call);
        for (std::int64_t n = 0; n < s.n; ++n) {
            call.out(1)[n] = 0;
            for (std::int64_t k = 0; k < s.k; ++k) {
                call.out(1)[n] += call.in(1)[k * s.n + n];
            }
        }
        return status;
    };
}

} // namespace weft::kernels::reference
