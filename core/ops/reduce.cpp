// SPDX-License-Identifier: Apache-2.0
// Reductions over dimensions.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

using ir::ValueId;
using List = std::vector<std::int64_t>;

const AttributeDef kDims{"dims", AttributeKind::list, true, "dimensions to reduce, ascending"};
const AttributeDef kKeep{"keep", AttributeKind::flag, true, "keep them with extent 1"};

bool reduced(const ir::Attributes& attributes, int dim) {
    const List& dims = attributes.list("dims");
    return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

Inferred infer_reduce(const OpView& view) {
    const ir::Type& x = view.input(0);
    const List& dims = view.attributes().list("dims");
    if (const std::string wrong = want_float("x", x); !wrong.empty()) {
        return fail(wrong);
    }
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] < 0 || dims[i] >= x.shape.rank() || (i > 0 && dims[i] <= dims[i - 1])) {
            return fail("dims must be ascending dimensions of ", x, "; entry ", static_cast<int>(i),
                        " is ", dims[i]);
        }
    }
    ir::Type out{view.attributes().flag("wide") ? statistics_dtype(x.dtype) : x.dtype, {}};
    for (int dim = 0; dim < x.shape.rank(); ++dim) {
        if (!reduced(view.attributes(), dim)) {
            out.shape.push_back(x.shape[dim]);
        } else if (view.attributes().flag("keep")) {
            out.shape.push_back(1);
        }
    }
    return {{out}, {}};
}

FactorRule reduce_factors(const OpView& view, Combine combine, double neutral) {
    RuleBuilder rule(view);
    const ir::Shape& shape = view.input(0).shape;
    const bool keep = view.attributes().flag("keep");
    int to = 0;
    for (int dim = 0; dim < shape.rank(); ++dim) {
        if (reduced(view.attributes(), dim)) {
            rule.input(0, dim, rule.add(shape[dim], combine, neutral));
            to += keep ? 1 : 0;
            continue;
        }
        const int factor = rule.add(shape[dim]);
        rule.input(0, dim, factor);
        rule.output(0, to++, factor);
    }
    return rule.finish();
}

FactorRule reduce_sum_factors(const OpView& view) {
    return reduce_factors(view, Combine::sum, 0.0);
}

FactorRule reduce_max_factors(const OpView& view) {
    return reduce_factors(view, Combine::max, -std::numeric_limits<double>::infinity());
}

OpCost input_cost(const OpView& view) {
    return cost(view, static_cast<double>(view.input(0).shape.elements()));
}

OpCost square_cost(const OpView& view) {
    double elements = 0;
    for (int i = 0; i < view.inputs(); ++i) {
        elements += static_cast<double>(view.input(i).shape.elements());
    }
    return cost(view, 2.0 * elements);
}

// The result's shape with reduced dimensions kept as 1.
ValueId kept(GradientContext& c, ValueId value) {
    ir::Shape shape = c.builder().shape(c.input(0));
    for (const std::int64_t dim : c.op().attributes.list("dims")) {
        shape[static_cast<int>(dim)] = 1;
    }
    return c.builder().shape(value) == shape ? value : reshape(c.builder(), value, shape);
}

void reduce_sum_gradient(GradientContext& c) {
    c.set(0, c.builder().emit("broadcast", {kept(c, c.upstream())},
                              {{"shape", list_of_shape(c.builder().shape(c.input(0)))}}));
}

// Equal maxima share the gradient.
void reduce_max_gradient(GradientContext& c) {
    Builder& b = c.builder();
    const ValueId mask = b.emit("equal", {c.input(0), kept(c, c.output(0))});
    const ValueId count = reduce_sum(b, mask, c.op().attributes.list("dims"), true);
    c.set(0, mul(b, mask, div(b, kept(c, c.upstream()), count)));
}

Inferred infer_sum_squares(const OpView& view) {
    for (int i = 0; i < view.inputs(); ++i) {
        if (const std::string wrong = want_float("x", view.input(i)); !wrong.empty()) {
            return fail(wrong);
        }
        if (view.input(i).dtype != view.input(0).dtype) {
            return fail("element types ", view.input(0).dtype, " and ", view.input(i).dtype,
                        " do not mix");
        }
    }
    return {{{statistics_dtype(view.input(0).dtype), {}}}, {}};
}

void sum_squares_gradient(GradientContext& c) {
    for (int i = 0; i < c.inputs(); ++i) {
        if (c.needs(i)) {
            c.set(i, mul(c.builder(), c.input(i), affine(c.builder(), c.upstream(), 2.0)));
        }
    }
}

// Where one of several is cut, the others would be counted by every device.
FactorRule sum_squares_factors(const OpView& view) {
    return view.inputs() > 1 ? whole_factors(view)
                             : einsum(view, "...->", {{'.', Combine::sum, 0.0}});
}

Inferred infer_argmax(const OpView& view) {
    const ir::Type& x = view.input(0);
    if (const std::string wrong = want_float("x", x); !wrong.empty()) {
        return fail(wrong);
    }
    if (x.shape.rank() == 0 || x.shape.back() == 0) {
        return fail("x needs a last dimension to search, but is ", x);
    }
    return {{{ir::DType::i32, leading(x.shape)}}, {}};
}

FactorRule argmax_factors(const OpView& view) {
    return einsum(view, "...v->...",
                  {{'v', Combine::whole, -std::numeric_limits<double>::infinity()}});
}

} // namespace

const OpDef kReduceSum{.name = "reduce_sum",
                       .help = "sum over dimensions",
                       .attributes = {kDims,
                                      kKeep,
                                      {"wide", AttributeKind::flag, false,
                                       "f32 result of bf16 or f16 terms, for gradients of biases"}},
                       .infer = infer_reduce,
                       .gradient = reduce_sum_gradient,
                       .factors = reduce_sum_factors,
                       .cost = input_cost,
                       .partial = together,
                       .wide_outputs = {0}};

const OpDef kReduceMax{.name = "reduce_max",
                       .help = "maximum over dimensions",
                       .attributes = {kDims, kKeep},
                       .infer = infer_reduce,
                       .gradient = reduce_max_gradient,
                       .factors = reduce_max_factors,
                       .cost = input_cost};

const OpDef kSumSquares{.name = "sum_squares",
                        .help = "x [...]... -> sum of x * x over all, f32[] (f64[] for f64)",
                        .max_inputs = std::numeric_limits<int>::max(),
                        .infer = infer_sum_squares,
                        .gradient = sum_squares_gradient,
                        .factors = sum_squares_factors,
                        .cost = square_cost,
                        .precision = Precision::full};

const OpDef kArgmax{.name = "argmax",
                    .help = "x [..., V] -> index of the first maximum, i32 [...]",
                    .infer = infer_argmax,
                    .factors = argmax_factors,
                    .cost = input_cost};

} // namespace weft::ops
