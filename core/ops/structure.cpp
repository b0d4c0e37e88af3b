// SPDX-License-Identifier: Apache-2.0
// Ops that make or move values without arithmetic.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

using ir::ValueId;
using List = std::vector<std::int64_t>;

constexpr AttributeDef kShapeAttribute{"shape", AttributeKind::list, true, "extents of the result"};

// --- constant ----------------------------------------------------------------------------------

Inferred infer_constant(const OpView& view) {
    const auto dtype = ir::parse_dtype(view.attributes().text("dtype"));
    const auto shape = shape_of_list(view.attributes().list("shape"));
    if (!dtype) {
        return fail("'", view.attributes().text("dtype"), "' is not an element type");
    }
    if (!shape) {
        return fail("shape needs at most ", ir::Shape::kMaxRank, " extents, none negative");
    }
    return {{{*dtype, *shape}}, {}};
}

OpCost write_cost(const OpView& view) {
    return cost(view, 0);
}

// --- reshape -----------------------------------------------------------------------------------

Inferred infer_reshape(const OpView& view) {
    const auto shape = shape_of_list(view.attributes().list("shape"));
    if (!shape) {
        return fail("shape needs at most ", ir::Shape::kMaxRank, " extents, none negative");
    }
    if (shape->elements() != view.input(0).shape.elements()) {
        return fail("cannot turn ", view.input(0), " into ", *shape, ": ",
                    view.input(0).shape.elements(), " and ", shape->elements(), " elements");
    }
    return {{{view.input(0).dtype, *shape}}, {}};
}

void reshape_gradient(GradientContext& c) {
    c.set(0, reshape(c.builder(), c.upstream(), c.builder().shape(c.input(0))));
}

// Walks both shapes from the major end and takes the common factors off; what shares none is whole.
FactorRule reshape_factors(const OpView& view) {
    RuleBuilder rule(view);
    const ir::Shape& from = view.input(0).shape;
    const ir::Shape& to = view.output(0).shape;
    if (from.elements() == 0) {
        return rule.finish();
    }
    std::int64_t left = 1; // what is not yet covered of the current dimension of either side
    std::int64_t right = 1;
    int i = -1;
    int j = -1;
    while (true) {
        while (left == 1 && ++i < from.rank()) {
            left = from[i];
        }
        while (right == 1 && ++j < to.rank()) {
            right = to[j];
        }
        if (left == 1 || right == 1) {
            return rule.finish();
        }
        if (left % right != 0 && right % left != 0) {
            // Unaligned dimensions: everything up to the next common boundary stays whole.
            std::int64_t in_product = left;
            std::int64_t out_product = right;
            rule.input(0, i, rule.add(left, Combine::whole));
            rule.output(0, j, rule.add(right, Combine::whole));
            while (in_product != out_product) {
                if (in_product < out_product) {
                    in_product *= from[++i];
                    rule.input(0, i, rule.add(from[i], Combine::whole));
                } else {
                    out_product *= to[++j];
                    rule.output(0, j, rule.add(to[j], Combine::whole));
                }
            }
            left = right = 1;
            continue;
        }
        const std::int64_t size = std::min(left, right);
        const int factor = rule.add(size);
        rule.input(0, i, factor);
        rule.output(0, j, factor);
        left /= size;
        right /= size;
    }
}

// Only the chosen elements are read.
OpCost slice_cost(const OpView& view) {
    return {0, 2.0 * static_cast<double>(view.output(0).bytes()), 0};
}

OpCost no_cost(const OpView&) {
    return {};
}

// --- transpose ---------------------------------------------------------------------------------

Inferred infer_transpose(const OpView& view) {
    const List& permutation = view.attributes().list("permutation");
    const ir::Type& x = view.input(0);
    List sorted = permutation;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (sorted[i] != static_cast<std::int64_t>(i)) {
            return fail("permutation must name each dimension once");
        }
    }
    if (static_cast<int>(permutation.size()) != x.shape.rank()) {
        return fail("permutation has ", static_cast<int>(permutation.size()), " entries for ", x);
    }
    ir::Type out{x.dtype, {}};
    for (const std::int64_t from : permutation) {
        out.shape.push_back(x.shape[static_cast<int>(from)]);
    }
    return {{out}, {}};
}

void transpose_gradient(GradientContext& c) {
    const List& permutation = c.op().attributes.list("permutation");
    List inverse(permutation.size());
    for (std::size_t i = 0; i < permutation.size(); ++i) {
        inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
    }
    c.set(0, transpose(c.builder(), c.upstream(), inverse));
}

FactorRule transpose_factors(const OpView& view) {
    RuleBuilder rule(view);
    const List& permutation = view.attributes().list("permutation");
    for (std::size_t dim = 0; dim < permutation.size(); ++dim) {
        const int factor = rule.add(view.output(0).shape[static_cast<int>(dim)]);
        rule.input(0, static_cast<int>(permutation[dim]), factor);
        rule.output(0, static_cast<int>(dim), factor);
    }
    return rule.finish();
}

// --- broadcast ---------------------------------------------------------------------------------

Inferred infer_broadcast(const OpView& view) {
    const auto shape = shape_of_list(view.attributes().list("shape"));
    if (!shape) {
        return fail("shape needs at most ", ir::Shape::kMaxRank, " extents, none negative");
    }
    const auto joined = broadcast_shapes(view.input(0).shape, *shape);
    if (!joined || *joined != *shape) {
        return fail(view.input(0), " does not broadcast to ", *shape);
    }
    return {{{view.input(0).dtype, *shape}}, {}};
}

void broadcast_gradient(GradientContext& c) {
    c.set(0, sum_to_shape(c.builder(), c.upstream(), c.builder().shape(c.input(0))));
}

// --- slice and pad -----------------------------------------------------------------------------

Inferred infer_slice(const OpView& view) {
    const List& starts = view.attributes().list("starts");
    const List& sizes = view.attributes().list("sizes");
    const ir::Type& x = view.input(0);
    const auto rank = static_cast<std::size_t>(x.shape.rank());
    if (starts.size() != rank || sizes.size() != rank) {
        return fail("starts and sizes need one entry for each dimension of ", x);
    }
    ir::Type out{x.dtype, {}};
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t extent = x.shape[static_cast<int>(i)];
        if (starts[i] < 0 || sizes[i] < 0 || starts[i] > extent - sizes[i]) {
            return fail("elements ", starts[i], " to ", starts[i] + sizes[i] - 1, " of dimension ",
                        static_cast<int>(i), " are outside ", x);
        }
        out.shape.push_back(sizes[i]);
    }
    return {{out}, {}};
}

void slice_gradient(GradientContext& c) {
    const ir::Shape shape = c.builder().shape(c.input(0));
    const List& starts = c.op().attributes.list("starts");
    const List& sizes = c.op().attributes.list("sizes");
    List high;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        high.push_back(shape[static_cast<int>(i)] - starts[i] - sizes[i]);
    }
    c.set(0, c.builder().emit("pad", {c.upstream()},
                              {{"low", starts}, {"high", high}, {"value", 0.0}}));
}

Inferred infer_pad(const OpView& view) {
    const List& low = view.attributes().list("low");
    const List& high = view.attributes().list("high");
    const ir::Type& x = view.input(0);
    const auto rank = static_cast<std::size_t>(x.shape.rank());
    if (low.size() != rank || high.size() != rank) {
        return fail("low and high need one entry for each dimension of ", x);
    }
    ir::Type out{x.dtype, {}};
    for (std::size_t i = 0; i < rank; ++i) {
        if (low[i] < 0 || high[i] < 0) {
            return fail("padding of dimension ", static_cast<int>(i), " is negative");
        }
        out.shape.push_back(x.shape[static_cast<int>(i)] + low[i] + high[i]);
    }
    return {{out}, {}};
}

void pad_gradient(GradientContext& c) {
    c.set(0, slice(c.builder(), c.upstream(), c.op().attributes.list("low"),
                   list_of_shape(c.builder().shape(c.input(0)))));
}

// Dimensions that keep their extent are independent; the others stay whole.
FactorRule same_extent_factors(const OpView& view) {
    RuleBuilder rule(view);
    const ir::Shape& to = view.output(0).shape;
    for (int dim = 0; dim < to.rank(); ++dim) {
        if (view.input(0).shape[dim] == to[dim]) {
            const int factor = rule.add(to[dim]);
            rule.input(0, dim, factor);
            rule.output(0, dim, factor);
        }
    }
    return rule.finish();
}

// --- concat ------------------------------------------------------------------------------------

Inferred infer_concat(const OpView& view) {
    const std::int64_t dim = view.attributes().integer("dim");
    ir::Type out = view.input(0);
    if (dim < 0 || dim >= out.shape.rank()) {
        return fail("dimension ", dim, " does not exist in ", out);
    }
    const int at = static_cast<int>(dim);
    for (int i = 1; i < view.inputs(); ++i) {
        const ir::Type& type = view.input(i);
        ir::Type expected = out;
        if (type.shape.rank() == out.shape.rank()) {
            expected.shape[at] = type.shape[at];
        }
        if (type != expected) {
            return fail("operand ", i, " is ", type, ", which does not continue ", view.input(0),
                        " along dimension ", dim);
        }
        out.shape[at] += type.shape[at];
    }
    return {{out}, {}};
}

void concat_gradient(GradientContext& c) {
    const auto dim = static_cast<int>(c.op().attributes.integer("dim"));
    List starts(static_cast<std::size_t>(c.builder().shape(c.upstream()).rank()), 0);
    for (int i = 0; i < c.inputs(); ++i) {
        const ir::Shape shape = c.builder().shape(c.input(i));
        if (c.needs(i)) {
            c.set(i, slice(c.builder(), c.upstream(), starts, list_of_shape(shape)));
        }
        starts[static_cast<std::size_t>(dim)] += shape[dim];
    }
}

FactorRule concat_factors(const OpView& view) {
    RuleBuilder rule(view);
    const ir::Shape& to = view.output(0).shape;
    for (int dim = 0; dim < to.rank(); ++dim) {
        if (dim == view.attributes().integer("dim")) {
            continue;
        }
        const int factor = rule.add(to[dim]);
        rule.output(0, dim, factor);
        for (int i = 0; i < view.inputs(); ++i) {
            rule.input(i, dim, factor);
        }
    }
    return rule.finish();
}

// --- copy --------------------------------------------------------------------------------------

Inferred infer_copy(const OpView& view) {
    return {{view.input(0)}, {}};
}

void copy_gradient(GradientContext& c) {
    c.set(0, c.upstream());
}

} // namespace

const OpDef kConstant{.name = "constant",
                      .help = "one number in every element",
                      .min_inputs = 0,
                      .max_inputs = 0,
                      .attributes = {{"value", AttributeKind::real, true, "the number"},
                                     {"dtype", AttributeKind::text, true, "element type"},
                                     kShapeAttribute},
                      .infer = infer_constant,
                      .gradient = zero_gradient,
                      .factors = elementwise_factors,
                      .cost = write_cost};

const OpDef kReshape{.name = "reshape",
                     .help = "the same elements in the same order under another shape",
                     .attributes = {kShapeAttribute},
                     .infer = infer_reshape,
                     .gradient = reshape_gradient,
                     .factors = reshape_factors,
                     .cost = no_cost,
                     .aliases = {{0, 0}},
                     .view = true};

const OpDef kTranspose{.name = "transpose",
                       .help = "output dimension i is input dimension permutation[i]",
                       .attributes = {{"permutation", AttributeKind::list, true,
                                       "input dimension of each output one"}},
                       .infer = infer_transpose,
                       .gradient = transpose_gradient,
                       .factors = transpose_factors,
                       .cost = write_cost};

const OpDef kBroadcast{.name = "broadcast",
                       .help = "x repeated to a larger shape, right-aligned",
                       .attributes = {kShapeAttribute},
                       .infer = infer_broadcast,
                       .gradient = broadcast_gradient,
                       .factors = elementwise_factors,
                       .cost = write_cost};

const OpDef kSlice{.name = "slice",
                   .help = "the elements starts[i] ... starts[i] + sizes[i] - 1 of each dimension",
                   .attributes = {{"starts", AttributeKind::list, true, "first index by dimension"},
                                  {"sizes", AttributeKind::list, true, "extent by dimension"}},
                   .infer = infer_slice,
                   .gradient = slice_gradient,
                   .factors = same_extent_factors,
                   .cost = slice_cost};

const OpDef kPad{.name = "pad",
                 .help = "x with a margin of one number around it",
                 .attributes = {{"low", AttributeKind::list, true, "margin before, by dimension"},
                                {"high", AttributeKind::list, true, "margin after, by dimension"},
                                {"value", AttributeKind::real, true, "the number"}},
                 .infer = infer_pad,
                 .gradient = pad_gradient,
                 .factors = same_extent_factors,
                 .cost = write_cost};

const OpDef kConcat{.name = "concat",
                    .help = "the operands one after the other along one dimension",
                    .max_inputs = std::numeric_limits<int>::max(),
                    .attributes = {{"dim", AttributeKind::integer, true, "the dimension"}},
                    .infer = infer_concat,
                    .gradient = concat_gradient,
                    .factors = concat_factors,
                    .cost = write_cost};

const OpDef kCopy{.name = "copy",
                  .help = "x in memory of its own",
                  .infer = infer_copy,
                  .gradient = copy_gradient,
                  .factors = elementwise_factors,
                  .cost = write_cost};

} // namespace weft::ops
