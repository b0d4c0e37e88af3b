// SPDX-License-Identifier: Apache-2.0
// Functions and operators of expressions.
#pragma once

#include "core/ir/program.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace weft::ops {
class Builder; // its `emit` is a word of Qt's, and the studio offers these words
}

namespace weft::nn {

/// What a part of an expression is.
enum class ExpressionForm : std::uint8_t {
    literal, // a number that is known
    one,     // f32 per term: [B] or [B, T]
    values,  // f32 [terms..., K]
    label    // i32 [terms...]
};

/// Operands of a call in the graph. Of elementwise functions they broadcast with each other.
struct ExpressionOperand {
    ir::ValueId value;
    std::optional<double> literal{};
};

struct ExpressionWord {
    /// What operands may be, and what becomes of them.
    enum class Rule : std::uint8_t {
        each,     // literal, one, values: element by element, the widest of them
        reduce,   // values -> one
        along,    // values -> values
        one_hot,  // label -> values
        to_label, // values, label -> one
    };
    std::string_view name;
    int operands;
    Rule rule;
    std::string_view usage; // "clip(x, low, high)"; empty: an operator
    std::string_view help;
    /// `classes` is the extent of the values where the targets are classes.
    ir::ValueId (*make)(ops::Builder& builder, std::span<const ExpressionOperand> operands,
                        std::int64_t classes);
};

/// Every function and operator.
std::span<const ExpressionWord> expression_words();
/// Null when there is none of this name.
const ExpressionWord* find_expression_word(std::string_view name);

} // namespace weft::nn
