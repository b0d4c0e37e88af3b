// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: a value depends only on seed, step, stream and logical index, so
// the leading dimension may be split when `first sample` moves along; the others stay whole.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

constexpr AttributeDef kStream{"stream", AttributeKind::text, true, "name of the random stream"};
constexpr AttributeDef kShapeAttribute{"shape", AttributeKind::list, true, "extents of the result"};

// The leading dimension is a pointwise factor, all others are whole.
FactorRule leading_factor(const OpView& view) {
    RuleBuilder rule(view);
    const ir::Shape& shape = view.output(0).shape;
    const int last = view.inputs() - 1; // the random operand
    for (int dim = 0; dim < shape.rank(); ++dim) {
        const int factor = rule.add(shape[dim], dim == 0 ? Combine::pointwise : Combine::whole);
        rule.output(0, dim, factor);
        for (int i = 0; i < last; ++i) {
            rule.input(i, dim, factor);
        }
    }
    return rule.finish();
}

Inferred infer_dropout(const OpView& view) {
    const double rate = view.attributes().real("rate");
    const std::string wrong =
        first_of({want_float("x", view.input(0)), want_random(view.input(1))});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    if (!(rate >= 0.0 && rate < 1.0)) {
        return fail("rate must be at least 0 and less than 1, but is ", std::to_string(rate));
    }
    return {{view.input(0)}, {}};
}

// The same values are dropped from the gradient: the op is its own derivative.
void dropout_gradient(GradientContext& c) {
    c.set(0, c.builder().emit("dropout", {c.upstream(), c.input(1)}, c.op().attributes));
}

Inferred infer_random(const OpView& view) {
    const auto shape = shape_of_list(view.attributes().list("shape"));
    if (const std::string wrong = want_random(view.input(0)); !wrong.empty()) {
        return fail(wrong);
    }
    if (!shape) {
        return fail("shape needs at most ", ir::Shape::kMaxRank, " extents, none negative");
    }
    return {{{ir::DType::f32, *shape}}, {}};
}

OpCost random_cost(const OpView& view) {
    return cost(view, kRandomFlops * static_cast<double>(view.output(0).shape.elements()));
}

OpDef random_op(std::string_view name, std::string_view help, AttributeDef first,
                AttributeDef second) {
    return {.name = name,
            .help = help,
            .attributes = {kShapeAttribute, first, second, kStream},
            .infer = infer_random,
            .gradient = zero_gradient,
            .factors = leading_factor,
            .cost = random_cost,
            .precision = Precision::full,
            .random = true};
}

} // namespace

const OpDef kDropout{
    .name = "dropout",
    .help = "x [N, ...], random -> x / (1 - rate) where kept, else 0",
    .min_inputs = 2,
    .max_inputs = 2,
    .attributes = {{"rate", AttributeKind::real, true, "probability of dropping a value"}, kStream},
    .infer = infer_dropout,
    .gradient = dropout_gradient,
    .factors = leading_factor,
    .cost = random_cost,
    .aliases = {{0, 0}},
    .random = true};

const OpDef kRandomUniform = random_op("random_uniform", "random -> values in [low, high)",
                                       {"low", AttributeKind::real, true, "least value"},
                                       {"high", AttributeKind::real, true, "bound above"});
const OpDef kRandomNormal = random_op("random_normal", "random -> normally distributed values",
                                      {"mean", AttributeKind::real, true, "mean"},
                                      {"stddev", AttributeKind::real, true, "standard deviation"});
const OpDef kRandomTruncatedNormal =
    random_op("random_truncated_normal", "random -> normal values within 2 standard deviations",
              {"mean", AttributeKind::real, true, "mean"},
              {"stddev", AttributeKind::real, true, "standard deviation before the cut"});

} // namespace weft::ops
