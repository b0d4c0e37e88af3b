// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: a value depends only on seed, step, stream and logical index. The
// part of an array that one device makes is told by where it begins in the whole: the random
// operand then is i64[3 + R] = {seed, step, first sample, origin...}, and `extents` are those of
// the whole.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"
#include "core/ops/split.h"

namespace weft::ops {
namespace {

constexpr AttributeDef kStream{"stream", AttributeKind::text, true, "name of the random stream"};
constexpr AttributeDef kExtents{"extents", AttributeKind::list, false,
                                "of the whole array; random then tells where this part begins"};

FactorRule random_factors(const OpView& view) {
    RuleBuilder rule(view);
    const ir::Shape& shape = view.output(0).shape;
    const int last = view.inputs() - 1; // the random operand
    for (int dim = 0; dim < shape.rank(); ++dim) {
        const int factor = rule.add(shape[dim]);
        rule.output(0, dim, factor);
        for (int i = 0; i < last; ++i) {
            rule.input(i, dim, factor);
        }
    }
    return rule.finish();
}

/// Makes the local part of a random op, whose random operand is the last: part by part along the
/// first dimension that a device holds several stretches of.
ir::ValueId local_random(SplitContext& c, ir::ValueId x, const ir::Shape& shape, int dim,
                         std::vector<std::int64_t> base) {
    Builder& b = c.builder();
    const auto& factors = c.rule().outputs[0];
    const auto rank = static_cast<int>(factors.size());
    std::vector<int> of_dim;
    for (int i = 0; i < rank; ++i) {
        of_dim.push_back(factor_of(factors, i));
    }
    while (dim < rank && (of_dim[static_cast<std::size_t>(dim)] < 0 ||
                          c.parts(of_dim[static_cast<std::size_t>(dim)]) == 1)) {
        ++dim;
    }
    const ir::ValueId random = c.inputs().back();
    if (dim == rank) {
        ir::ValueIds operands;
        if (x.valid()) {
            operands.push_back(x);
        }
        operands.push_back(
            b.emit("concat", {random, c.origin(of_dim, base)}, {{"dim", std::int64_t{0}}}));
        ir::Attributes attributes = c.attributes();
        attributes.set("extents", list_of_shape(c.whole().output(0).shape));
        if (attributes.has("shape")) {
            attributes.set("shape", list_of_shape(shape));
        }
        return b.emit(c.whole().op.kind, operands, attributes);
    }
    const std::int64_t parts = c.parts(of_dim[static_cast<std::size_t>(dim)]);
    ir::Shape part = shape;
    part[dim] /= parts;
    ir::ValueIds made;
    for (std::int64_t i = 0; i < parts; ++i) {
        std::vector<std::int64_t> starts(static_cast<std::size_t>(rank), 0);
        starts[static_cast<std::size_t>(dim)] = i * part[dim];
        const ir::ValueId own = x.valid() ? slice(b, x, std::move(starts), list_of_shape(part)) : x;
        std::vector<std::int64_t> from = base;
        from[static_cast<std::size_t>(dim)] += i * (c.whole().output(0).shape[dim] / parts);
        made.push_back(local_random(c, own, part, dim + 1, std::move(from)));
    }
    return b.emit("concat", made, {{"dim", std::int64_t{dim}}});
}

void split_random(SplitContext& c) {
    const ir::Shape& shape = c.output_type(0).shape;
    if (shape == c.whole().output(0).shape) {
        return c.set_all(c.emit_same());
    }
    const ir::ValueId x = c.inputs().size() == 2 ? c.input(0) : ir::ValueId();
    c.set(0, local_random(c, x, shape, 0,
                          std::vector<std::int64_t>(static_cast<std::size_t>(shape.rank()), 0)));
}

std::string want_key(const OpView& view) {
    const ir::Type& random = view.input(view.inputs() - 1);
    if (!view.attributes().has("extents")) {
        return want_random(random);
    }
    const auto rank = static_cast<std::int64_t>(view.attributes().list("extents").size());
    return random == ir::Type{ir::DType::i64, {3 + rank}}
               ? ""
               : "random needs the origin in " + word(rank) + " extents, but is " + word(random);
}

Inferred infer_dropout(const OpView& view) {
    const double rate = view.attributes().real("rate");
    const std::string wrong = first_of({want_float("x", view.input(0)), want_key(view)});
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
    if (const std::string wrong = want_key(view); !wrong.empty()) {
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
            .attributes = {kShapeAttribute, first, second, kStream, kExtents},
            .infer = infer_random,
            .gradient = zero_gradient,
            .factors = random_factors,
            .cost = random_cost,
            .localise = localise_shape,
            .split = split_random,
            .precision = Precision::full,
            .random = true};
}

} // namespace

const OpDef kDropout{
    .name = "dropout",
    .help = "x [N, ...], random -> x / (1 - rate) where kept, else 0",
    .min_inputs = 2,
    .max_inputs = 2,
    .attributes = {{"rate", AttributeKind::real, true, "probability of dropping a value"},
                   kStream,
                   kExtents},
    .infer = infer_dropout,
    .gradient = dropout_gradient,
    .factors = random_factors,
    .cost = random_cost,
    .split = split_random,
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
