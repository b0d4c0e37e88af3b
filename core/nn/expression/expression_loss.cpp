// SPDX-License-Identifier: Apache-2.0
// The loss that is written as an expression.
#include "core/nn/expression/expression.h"
#include "core/nn/loss_def.h"

namespace weft::nn {
namespace {

using config::Json;

config::FieldTable expression_fields() {
    return {config::text_field(
        "expression", "mean(square(y - t))",
        "One number per sample (per position of a language model) from the outputs y and the "
        "targets t, of which the loss is the mean. Operators: + - * / ^ and comparisons; y[0] is "
        "the first output; functions: abs, square, sqrt, exp, log, log1p, tanh, sigmoid, relu, "
        "softplus, sign, min, max, clip, where; of a sample's values mean, sum, softmax, "
        "log_softmax; of classes one_hot(t), cross_entropy(y, t).")};
}

void check_expression(const Json& settings, const std::string& pointer, config::Diagnostics& out) {
    const auto problem =
        find_problem(settings.at("expression").get_ref<const std::string&>(), ExpressionTargets());
    if (problem) {
        out.push_back({pointer + "/expression", config::Severity::error,
                       "column " + std::to_string(problem->column) + ": " + problem->text,
                       problem->hint});
    }
}

ir::ValueId build_own_loss(ops::Builder& b, const Json& settings, const Prediction& p) {
    const auto& text = settings.at("expression").get_ref<const std::string&>();
    return by_shares(b, p, [&](ir::ValueId target) {
        return build_expression(b, text, {p.output, target});
    });
}

} // namespace

const LossDef kExpressionLoss = {.name = "expression",
                                 .help = "A loss of one's own, written over outputs and targets.",
                                 .fields = expression_fields,
                                 .needs_classes = false,
                                 .build = build_own_loss,
                                 .takes_either = true,
                                 .check = check_expression};

} // namespace weft::nn
