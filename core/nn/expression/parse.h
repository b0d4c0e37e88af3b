// SPDX-License-Identifier: Apache-2.0
// Text of an expression to a tree of calls. Precedence as in mathematics: ^ (to the right), unary
// minus, * and /, + and -, comparisons (which do not chain).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::nn {

/// What is wrong with an expression, and where: columns are characters, from 1.
struct ExpressionProblem {
    std::size_t column = 1;
    std::string text;
    std::string hint;
};

/// A number, a name, or a function or operator with its operands.
struct ExpressionNode {
    enum class Kind { number, name, call };
    Kind kind = Kind::number;
    std::size_t column = 1;
    double number = 0;
    std::string word; // name; of operators "+", "neg", "[]" (y[2] has the operands y and 2), ...
    std::vector<ExpressionNode> operands{};
};

inline constexpr std::size_t kLongestExpression = 4000; // bytes
inline constexpr int kDeepestExpression = 64;           // calls within calls

struct ParsedExpression {
    ExpressionNode root;
    std::optional<ExpressionProblem> problem; // the first; then there is no root
};
ParsedExpression parse_expression(std::string_view text);

} // namespace weft::nn
