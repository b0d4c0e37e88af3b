// SPDX-License-Identifier: Apache-2.0
// Elementwise ops as every back end sees them: names, arity, and a checked group of steps, which is
// also the form of a single op (a group of one).
#pragma once

#include "kernels/op.h"

namespace weft::kernels {

struct ElementwiseName {
    const char* name;
    std::int32_t opcode; // weft_elementwise
    int arity;
};

inline constexpr ElementwiseName kElementwiseNames[] = {
    {"cast", WEFT_EW_CAST, 1},
    {"neg", WEFT_EW_NEG, 1},
    {"abs", WEFT_EW_ABS, 1},
    {"exp", WEFT_EW_EXP, 1},
    {"log", WEFT_EW_LOG, 1},
    {"sqrt", WEFT_EW_SQRT, 1},
    {"rsqrt", WEFT_EW_RSQRT, 1},
    {"tanh", WEFT_EW_TANH, 1},
    {"sigmoid", WEFT_EW_SIGMOID, 1},
    {"square", WEFT_EW_SQUARE, 1},
    {"sign", WEFT_EW_SIGN, 1},
    {"is_finite", WEFT_EW_IS_FINITE, 1},
    {"relu", WEFT_EW_RELU, 1},
    {"gelu", WEFT_EW_GELU, 1},
    {"gelu_erf", WEFT_EW_GELU_ERF, 1},
    {"silu", WEFT_EW_SILU, 1},
    {"symlog", WEFT_EW_SYMLOG, 1},
    {"affine", WEFT_EW_AFFINE, 1},
    {"add", WEFT_EW_ADD, 2},
    {"sub", WEFT_EW_SUB, 2},
    {"mul", WEFT_EW_MUL, 2},
    {"div", WEFT_EW_DIV, 2},
    {"maximum", WEFT_EW_MAXIMUM, 2},
    {"minimum", WEFT_EW_MINIMUM, 2},
    {"pow", WEFT_EW_POW, 2},
    {"atan2", WEFT_EW_ATAN2, 2},
    {"less", WEFT_EW_LESS, 2},
    {"equal", WEFT_EW_EQUAL, 2},
    {"relu_grad", WEFT_EW_RELU_GRAD, 2},
    {"gelu_grad", WEFT_EW_GELU_GRAD, 2},
    {"gelu_erf_grad", WEFT_EW_GELU_ERF_GRAD, 2},
    {"silu_grad", WEFT_EW_SILU_GRAD, 2},
    {"tanh_grad", WEFT_EW_TANH_GRAD, 2},
    {"sigmoid_grad", WEFT_EW_SIGMOID_GRAD, 2},
    {"select", WEFT_EW_SELECT, 3},
};
static_assert(std::size(kElementwiseNames) == WEFT_EW_COUNT);

struct Step {
    std::int32_t opcode;
    std::int32_t dtype;
    int arity;
    int operand[3];
    double scale, shift;
};

/// Steps whose registers are known to exist, over inputs that are known to broadcast: for one
/// tensor, or for several that differ in shapes alone. Operands of a tensor follow those of the
/// tensor before.
struct Group {
    std::vector<Step> steps;
    std::vector<int> output_registers;
    Type shape;                       // common type of the first tensor's outputs (shape only)
    std::vector<Dims> strides;        // [input] right-aligned broadcasting to `shape`
    std::vector<bool> numbers;        // [input] one number for all elements
    std::vector<std::int64_t> counts; // [tensor] elements
    bool sweep = false;               // made for any number of tensors

    std::size_t tensors() const { return counts.size(); }
    std::size_t inputs() const { return strides.size(); } // of one tensor
    std::size_t outputs() const { return output_registers.size(); }
};

/// The group of a "fused" or "sweep" op or of a single elementwise op. Throws BAD_ARGUMENT.
Group elementwise_group(const Op& op);

} // namespace weft::kernels
