// SPDX-License-Identifier: Apache-2.0
#include "core/nn/expression/words.h"

#include "core/nn/functions.h"

#include <algorithm>
#include <array>

namespace weft::nn {
namespace {

using ops::Builder;
using Operands = std::span<const ExpressionOperand>;
using Takes = ExpressionWord::Rule;

/// The op of this name over one or two operands.
template <const char* kKind>
ir::ValueId op(Builder& b, Operands in, std::int64_t) {
    return in.size() == 1 ? b.emit(kKind, {in[0].value})
                          : b.emit(kKind, {in[0].value, in[1].value});
}

constexpr char kAbs[] = "abs", kSquare[] = "square", kSqrt[] = "sqrt", kExp[] = "exp",
               kLog[] = "log", kTanh[] = "tanh", kSigmoid[] = "sigmoid", kRelu[] = "relu",
               kSign[] = "sign", kNeg[] = "neg", kAdd[] = "add", kSub[] = "sub", kMul[] = "mul",
               kDiv[] = "div", kMinimum[] = "minimum", kMaximum[] = "maximum", kLess[] = "less",
               kEqual[] = "equal", kSoftmax[] = "softmax";

ir::ValueId log_one_plus(Builder& b, Operands in, std::int64_t) {
    return b.emit("log", {ops::affine(b, in[0].value, 1.0, 1.0)});
}

ir::ValueId soft_plus(Builder& b, Operands in, std::int64_t) {
    return softplus(b, in[0].value);
}

/// Of a known exponent the op that has its slope everywhere.
ir::ValueId power_of(Builder& b, Operands in, std::int64_t) {
    const std::optional<double> exponent = in[1].literal;
    return exponent == 1.0   ? in[0].value
           : exponent == 2.0 ? b.emit("square", {in[0].value})
           : exponent == 0.5 ? b.emit("sqrt", {in[0].value})
                             : b.emit("pow", {in[0].value, in[1].value});
}

ir::ValueId is_greater(Builder& b, Operands in, std::int64_t) {
    return b.emit("less", {in[1].value, in[0].value});
}

ir::ValueId one_minus(Builder& b, ir::ValueId x) {
    return ops::affine(b, x, -1.0, 1.0);
}

ir::ValueId is_at_most(Builder& b, Operands in, std::int64_t classes) {
    return one_minus(b, is_greater(b, in, classes));
}

ir::ValueId is_at_least(Builder& b, Operands in, std::int64_t) {
    return one_minus(b, b.emit("less", {in[0].value, in[1].value}));
}

ir::ValueId is_different(Builder& b, Operands in, std::int64_t) {
    return one_minus(b, b.emit("equal", {in[0].value, in[1].value}));
}

ir::ValueId clipped(Builder& b, Operands in, std::int64_t) {
    return b.emit("minimum", {b.emit("maximum", {in[0].value, in[1].value}), in[2].value});
}

ir::ValueId chosen(Builder& b, Operands in, std::int64_t) {
    return ops::select(b, in[0].value, in[1].value, in[2].value);
}

ir::ValueId mean_of_term(Builder& b, Operands in, std::int64_t) {
    return mean_last(b, in[0].value);
}

ir::ValueId sum_of_term(Builder& b, Operands in, std::int64_t) {
    return sum_last(b, in[0].value);
}

ir::ValueId log_soft_max(Builder& b, Operands in, std::int64_t) {
    return log_softmax(b, in[0].value);
}

ir::ValueId class_one_hot(Builder& b, Operands in, std::int64_t classes) {
    return one_hot(b, in[0].value, classes);
}

ir::ValueId class_nats(Builder& b, Operands in, std::int64_t) {
    return b.emit("cross_entropy", {in[0].value, in[1].value}, {{"label_smoothing", 0.0}});
}

// The order in which they are offered.
constexpr std::array kWords = {
    ExpressionWord{"mean", 1, Takes::reduce, "mean(x)", "of a term's values", mean_of_term},
    ExpressionWord{"sum", 1, Takes::reduce, "sum(x)", "of a term's values", sum_of_term},
    ExpressionWord{"abs", 1, Takes::each, "abs(x)", "|x|", op<kAbs>},
    ExpressionWord{"square", 1, Takes::each, "square(x)", "x * x", op<kSquare>},
    ExpressionWord{"sqrt", 1, Takes::each, "sqrt(x)", "square root", op<kSqrt>},
    ExpressionWord{"exp", 1, Takes::each, "exp(x)", "e^x", op<kExp>},
    ExpressionWord{"log", 1, Takes::each, "log(x)", "natural logarithm", op<kLog>},
    ExpressionWord{"log1p", 1, Takes::each, "log1p(x)", "log(1 + x)", log_one_plus},
    ExpressionWord{"tanh", 1, Takes::each, "tanh(x)", "hyperbolic tangent", op<kTanh>},
    ExpressionWord{"sigmoid", 1, Takes::each, "sigmoid(x)", "1 / (1 + exp(-x))", op<kSigmoid>},
    ExpressionWord{"relu", 1, Takes::each, "relu(x)", "max(x, 0)", op<kRelu>},
    ExpressionWord{"softplus", 1, Takes::each, "softplus(x)", "log(1 + exp(x))", soft_plus},
    ExpressionWord{"sign", 1, Takes::each, "sign(x)", "-1, 0 or 1; has no slope", op<kSign>},
    ExpressionWord{"min", 2, Takes::each, "min(x, y)", "the smaller one", op<kMinimum>},
    ExpressionWord{"max", 2, Takes::each, "max(x, y)", "the larger one", op<kMaximum>},
    ExpressionWord{"clip", 3, Takes::each, "clip(x, low, high)", "x within bounds", clipped},
    ExpressionWord{"where", 3, Takes::each, "where(c, x, y)", "x where c is not 0, else y", chosen},
    ExpressionWord{"softmax", 1, Takes::along, "softmax(y)", "shares that add up to 1",
                   op<kSoftmax>},
    ExpressionWord{"log_softmax", 1, Takes::along, "log_softmax(y)", "their logarithms",
                   log_soft_max},
    ExpressionWord{"one_hot", 1, Takes::one_hot, "one_hot(t)", "1 at the class, 0 elsewhere",
                   class_one_hot},
    ExpressionWord{"cross_entropy", 2, Takes::to_label, "cross_entropy(y, t)",
                   "-log of the class's share", class_nats},
    ExpressionWord{"neg", 1, Takes::each, "", "", op<kNeg>},
    ExpressionWord{"+", 2, Takes::each, "", "", op<kAdd>},
    ExpressionWord{"-", 2, Takes::each, "", "", op<kSub>},
    ExpressionWord{"*", 2, Takes::each, "", "", op<kMul>},
    ExpressionWord{"/", 2, Takes::each, "", "", op<kDiv>},
    ExpressionWord{"^", 2, Takes::each, "", "", power_of},
    ExpressionWord{"<", 2, Takes::each, "", "", op<kLess>},
    ExpressionWord{">", 2, Takes::each, "", "", is_greater},
    ExpressionWord{"<=", 2, Takes::each, "", "", is_at_most},
    ExpressionWord{">=", 2, Takes::each, "", "", is_at_least},
    ExpressionWord{"==", 2, Takes::each, "", "", op<kEqual>},
    ExpressionWord{"!=", 2, Takes::each, "", "", is_different},
};

} // namespace

std::span<const ExpressionWord> expression_words() {
    return kWords;
}

const ExpressionWord* find_expression_word(std::string_view name) {
    const auto found = std::find_if(kWords.begin(), kWords.end(),
                                    [&](const ExpressionWord& word) { return word.name == name; });
    return found == kWords.end() ? nullptr : &*found;
}

} // namespace weft::nn
