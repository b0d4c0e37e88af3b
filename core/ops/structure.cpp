// SPDX-License-Identifier: Apache-2.0
// Ops that make or move values without arithmetic.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

using ir::ValueId;
using List = std::vector<std::int64_t>;

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
// One dimension of a block and of what the block is cut from or put into. A block that starts at a
// multiple of its own size lies within every part when both are split alike.
struct BlockDim {
    std::int64_t block, whole, start;

    bool aligned() const { return block > 0 && whole % block == 0 && start % block == 0; }
    /// Where the block starts on one device, which holds `local_block` of it.
    std::int64_t local_start(std::int64_t local_block) const {
        return local_block == block ? start : start / block * local_block;
    }
};

BlockDim slice_dim(const OpView& view, int dim) {
    return {view.output(0).shape[dim], view.input(0).shape[dim],
            view.attributes().list("starts")[static_cast<std::size_t>(dim)]};
}

BlockDim pad_dim(const OpView& view, int dim) {
    return {view.input(0).shape[dim], view.output(0).shape[dim],
            view.attributes().list("low")[static_cast<std::size_t>(dim)]};
}

FactorRule slice_factors(const OpView& view) {
    RuleBuilder rule(view);
    for (int dim = 0; dim < view.output(0).shape.rank(); ++dim) {
        const BlockDim d = slice_dim(view, dim);
        if (d.aligned()) {
            if (d.whole != d.block) {
                rule.input(0, dim, rule.add(d.whole / d.block, Combine::whole));
            }
            const int factor = rule.add(d.block);
            rule.input(0, dim, factor);
            rule.output(0, dim, factor);
        }
    }
    return rule.finish();
}

ir::Attributes localise_slice(const OpView& view, std::span<const ir::Type>,
                              std::span<const ir::Type> outputs) {
    List starts;
    for (int dim = 0; dim < outputs[0].shape.rank(); ++dim) {
        starts.push_back(slice_dim(view, dim).local_start(outputs[0].shape[dim]));
    }
    return {{"starts", starts}, {"sizes", list_of_shape(outputs[0].shape)}};
}

FactorRule pad_factors(const OpView& view) {
    RuleBuilder rule(view);
    for (int dim = 0; dim < view.output(0).shape.rank(); ++dim) {
        const BlockDim d = pad_dim(view, dim);
        if (d.aligned()) {
            if (d.whole != d.block) {
                rule.output(0, dim, rule.add(d.whole / d.block, Combine::whole));
            }
            const int factor = rule.add(d.block);
            rule.input(0, dim, factor);
            rule.output(0, dim, factor);
        }
    }
    return rule.finish();
}

ir::Attributes localise_pad(const OpView& view, std::span<const ir::Type> inputs,
                            std::span<const ir::Type> outputs) {
    List low;
    List high;
    for (int dim = 0; dim < inputs[0].shape.rank(); ++dim) {
        const std::int64_t block = inputs[0].shape[dim];
        low.push_back(pad_dim(view, dim).local_start(block));
        high.push_back(outputs[0].shape[dim] - low.back() - block);
    }
    return {{"low", low}, {"high", high}, {"value", view.attributes().real("value")}};
}

Partial pad_partial(const OpView& view) {
    return view.attributes().real("value") == 0.0 ? Partial::together : Partial::resolve;
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

// Operands of one size are the parts of the result; others stay whole.
void join(const OpView& view, RuleBuilder& rule, int dim) {
    const std::int64_t block = view.input(0).shape[dim];
    for (int i = 1; i < view.inputs(); ++i) {
        if (view.input(i).shape[dim] != block) {
            return;
        }
    }
    if (view.inputs() > 1) {
        rule.output(0, dim, rule.add(view.inputs(), Combine::whole));
    }
    const int factor = rule.add(block);
    rule.output(0, dim, factor);
    for (int i = 0; i < view.inputs(); ++i) {
        rule.input(i, dim, factor);
    }
}

FactorRule concat_factors(const OpView& view) {
    RuleBuilder rule(view);
    const ir::Shape& to = view.output(0).shape;
    for (int dim = 0; dim < to.rank(); ++dim) {
        if (dim == view.attributes().integer("dim")) {
            join(view, rule, dim);
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
                      .cost = write_cost,
                      .localise = localise_shape};

const OpDef kReshape{.name = "reshape",
                     .help = "the same elements in the same order under another shape",
                     .attributes = {kShapeAttribute},
                     .infer = infer_reshape,
                     .gradient = reshape_gradient,
                     .factors = reshape_factors,
                     .cost = no_cost,
                     .localise = localise_shape,
                     .partial = together,
                     .aliases = {{0, 0}},
                     .view = true};

const OpDef kTranspose{.name = "transpose",
                       .help = "output dimension i is input dimension permutation[i]",
                       .attributes = {{"permutation", AttributeKind::list, true,
                                       "input dimension of each output one"}},
                       .infer = infer_transpose,
                       .gradient = transpose_gradient,
                       .factors = transpose_factors,
                       .cost = write_cost,
                       .partial = together};

const OpDef kBroadcast{.name = "broadcast",
                       .help = "x repeated to a larger shape, right-aligned",
                       .attributes = {kShapeAttribute},
                       .infer = infer_broadcast,
                       .gradient = broadcast_gradient,
                       .factors = elementwise_factors,
                       .cost = write_cost,
                       .localise = localise_shape,
                       .partial = together};

const OpDef kSlice{.name = "slice",
                   .help = "the elements starts[i] ... starts[i] + sizes[i] - 1 of each dimension",
                   .attributes = {{"starts", AttributeKind::list, true, "first index by dimension"},
                                  {"sizes", AttributeKind::list, true, "extent by dimension"}},
                   .infer = infer_slice,
                   .gradient = slice_gradient,
                   .factors = slice_factors,
                   .cost = slice_cost,
                   .localise = localise_slice,
                   .partial = together};

const OpDef kPad{.name = "pad",
                 .help = "x with a margin of one number around it",
                 .attributes = {{"low", AttributeKind::list, true, "margin before, by dimension"},
                                {"high", AttributeKind::list, true, "margin after, by dimension"},
                                {"value", AttributeKind::real, true, "the number"}},
                 .infer = infer_pad,
                 .gradient = pad_gradient,
                 .factors = pad_factors,
                 .cost = write_cost,
                 .localise = localise_pad,
                 .partial = pad_partial};

const OpDef kConcat{.name = "concat",
                    .help = "the operands one after the other along one dimension",
                    .max_inputs = std::numeric_limits<int>::max(),
                    .attributes = {{"dim", AttributeKind::integer, true, "the dimension"}},
                    .infer = infer_concat,
                    .gradient = concat_gradient,
                    .factors = concat_factors,
                    .cost = write_cost,
                    .partial = together};

const OpDef kCopy{.name = "copy",
                  .help = "x in memory of its own",
                  .infer = infer_copy,
                  .gradient = copy_gradient,
                  .factors = elementwise_factors,
                  .cost = write_cost,
                  .partial = together};

const OpDef kStopGradient{.name = "stop_gradient",
                          .help = "x, which gets no gradient through it",
                          .infer = infer_copy,
                          .gradient = zero_gradient,
                          .factors = elementwise_factors,
                          .cost = no_cost,
                          .partial = together,
                          .aliases = {{0, 0}},
                          .view = true};

} // namespace weft::ops
