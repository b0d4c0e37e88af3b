// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"
#include "kernels/numbers.h"
#include "kernels/reference/reference_list.h"

#include <cmath>
#include <numbers>

namespace weft::kernels::reference {
namespace {

double sigmoid(double x) {
    return 1.0 / (1.0 + std::exp(-x));
}

// Hendrycks and Gimpel, "Gaussian error linear units", section 2: the tanh approximation.
constexpr double kGeluCubic = 0.044715;
const double kGeluScale = std::sqrt(2.0 / std::numbers::pi);

double normal_distribution(double x) {
    return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}
double normal_density(double x) {
    return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}

double unary(std::int32_t opcode, double x, const Step& step) {
    switch (opcode) {
    case WEFT_EW_NEG: return -x;
    case WEFT_EW_ABS: return std::fabs(x);
    case WEFT_EW_EXP: return std::exp(x);
    case WEFT_EW_LOG: return std::log(x);
    case WEFT_EW_SQRT: return std::sqrt(x);
    case WEFT_EW_RSQRT: return 1.0 / std::sqrt(x);
    case WEFT_EW_TANH: return std::tanh(x);
    case WEFT_EW_SIGMOID: return sigmoid(x);
    case WEFT_EW_SQUARE: return x * x;
    case WEFT_EW_SIGN: return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; // NaN and zero stay
    case WEFT_EW_IS_FINITE: return std::isfinite(x) ? 1.0 : 0.0;
    case WEFT_EW_RELU: return x < 0.0 ? 0.0 : x; // NaN stays
    case WEFT_EW_GELU: return gelu(x);
    case WEFT_EW_GELU_ERF: return x * normal_distribution(x);
    case WEFT_EW_SILU: return x * sigmoid(x);
    case WEFT_EW_SYMLOG: return std::copysign(std::log1p(std::fabs(x)), x);
    case WEFT_EW_AFFINE: return x * step.scale + step.shift;
    default: // WEFT_EW_CAST
        return x;
    }
}

double binary(std::int32_t opcode, double x, double y) {
    switch (opcode) {
    case WEFT_EW_ADD: return x + y;
    case WEFT_EW_SUB: return x - y;
    case WEFT_EW_MUL: return x * y;
    case WEFT_EW_DIV: return x / y;
    case WEFT_EW_MAXIMUM: // both propagate NaN
        return x >= y || std::isnan(x) ? x : y;
    case WEFT_EW_MINIMUM: return x <= y || std::isnan(x) ? x : y;
    case WEFT_EW_POW: return std::pow(x, y);
    case WEFT_EW_ATAN2: return std::atan2(x, y);
    case WEFT_EW_LESS: return x < y ? 1.0 : 0.0;
    case WEFT_EW_EQUAL: return x == y ? 1.0 : 0.0;
    case WEFT_EW_RELU_GRAD: return x > 0.0 ? y : 0.0;
    case WEFT_EW_GELU_GRAD: return y * gelu_slope(x);
    case WEFT_EW_GELU_ERF_GRAD: return y * (normal_distribution(x) + x * normal_density(x));
    case WEFT_EW_SILU_GRAD: return y * sigmoid(x) * (1.0 + x * (1.0 - sigmoid(x)));
    case WEFT_EW_TANH_GRAD: // x is the output
        return y * (1.0 - x * x);
    default: // WEFT_EW_SIGMOID_GRAD: x is the output
        return y * x * (1.0 - x);
    }
}

double rounded(std::int32_t dtype, double value) {
    switch (dtype) {
    case WEFT_F32: return static_cast<double>(static_cast<float>(value));
    case WEFT_BF16: return static_cast<double>(round_to_bf16(static_cast<float>(value)));
    case WEFT_F16: return static_cast<double>(round_to_f16(static_cast<float>(value)));
    case WEFT_F64: return value;
    default: return std::trunc(value);
    }
}

double run_step(const Step& step, const std::vector<double>& registers) {
    const double a = registers[static_cast<std::size_t>(step.operand[0])];
    if (step.arity == 1) {
        return rounded(step.dtype, unary(step.opcode, a, step));
    }
    const double b = registers[static_cast<std::size_t>(step.operand[1])];
    if (step.arity == 2) {
        return rounded(step.dtype, binary(step.opcode, a, b));
    }
    return rounded(step.dtype, a != 0.0 ? b : registers[static_cast<std::size_t>(step.operand[2])]);
}

} // namespace

double gelu(double x) {
    return 0.5 * x * (1.0 + std::tanh(kGeluScale * (x + kGeluCubic * x * x * x)));
}

double gelu_slope(double x) {
    const double t = std::tanh(kGeluScale * (x + kGeluCubic * x * x * x));
    return 0.5 * (1.0 + t) +
           0.5 * x * (1.0 - t * t) * kGeluScale * (1.0 + 3.0 * kGeluCubic * x * x);
}

Body make_fused(const Op& op) {
    const Group group = elementwise_group(op);
    const Dims dense = dense_strides(shape_of(group.shape));
    std::vector<double> registers(group.inputs() + group.steps.size());
    return [=](const Call& call) mutable {
        const std::size_t inputs = group.inputs();
        const auto offset = [&](std::size_t input, std::int64_t e) {
            if (group.sweep) { // of its tensor's shape
                return group.numbers[input] ? 0 : e;
            }
            std::int64_t sum = 0;
            for (std::size_t d = 0; d < dense.size(); ++d) {
                sum += e / dense[d] % group.shape.shape[d] * group.strides[input][d];
            }
            return sum;
        };
        for (std::size_t tensor = 0; tensor < group.tensors(); ++tensor) {
            for (std::int64_t e = 0; e < group.counts[tensor]; ++e) {
                for (std::size_t i = 0; i < inputs; ++i) {
                    registers[i] = call.in(static_cast<int>(tensor * inputs + i))[offset(i, e)];
                }
                for (std::size_t s = 0; s < group.steps.size(); ++s) {
                    registers[inputs + s] = run_step(group.steps[s], registers);
                }
                for (std::size_t o = 0; o < group.outputs(); ++o) {
                    call.out(static_cast<int>(tensor * group.outputs() + o))[e] =
                        registers[static_cast<std::size_t>(group.output_registers[o])];
                }
            }
        }
        return WEFT_OK;
    };
}

Body make_elementwise(const Op& op) {
    return make_fused(op);
}

} // namespace weft::kernels::reference
