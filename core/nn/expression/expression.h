// SPDX-License-Identifier: Apache-2.0
// An expression over outputs and targets: checked while it is typed, and made into ops.
#pragma once

#include "core/nn/expression/parse.h"
#include "core/nn/loss_def.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::nn {

/// What is known of the targets; where nothing is, an expression is right if it suits either.
struct ExpressionTargets {
    enum class Kind : std::uint8_t { unknown, numbers, classes };
    Kind kind = Kind::unknown;
    std::int64_t values = 0; // outputs per term; 0: unknown
};

/// What is wrong first; none: it is a loss.
std::optional<ExpressionProblem> find_problem(std::string_view expression,
                                              const ExpressionTargets& targets);

/// The loss: f32 per term [B] or [B, T], 0 where the target is ignored. Throws weft::Error{usage}
/// at the column of what is wrong.
ir::ValueId build_expression(ops::Builder& builder, std::string_view expression,
                             const Prediction& prediction);

} // namespace weft::nn
