// SPDX-License-Identifier: Apache-2.0
// Matrix products. Gradients of inputs and weights are products of their own.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"
#include "core/ops/split.h"

#include <array>

namespace weft::ops {
namespace {

using ir::ValueId;

using ir::ValueIds;

constexpr AttributeDef kWide{"wide", AttributeKind::flag, false,
                             "f32 result of bf16 or f16 operands, for weight gradients"};

// Type of a product of two operands; none when they do not mix.
std::optional<ir::DType> product_dtype(const OpView& view) {
    const auto dtype = promote(view.input(0).dtype, view.input(1).dtype);
    return dtype && view.attributes().flag("wide") ? statistics_dtype(*dtype) : dtype;
}

// --- matmul ------------------------------------------------------------------------------------

Inferred infer_matmul(const OpView& view) {
    const ir::Type& x = view.input(0);
    const ir::Type& y = view.input(1);
    if (x.shape.rank() < 2 || y.shape.rank() < 2) {
        return fail("operands need at least 2 dimensions, but are ", x, " and ", y);
    }
    const auto dtype = product_dtype(view);
    if (!dtype) {
        return fail("element types ", x.dtype, " and ", y.dtype, " do not mix");
    }
    if (const std::string wrong = want_operands(view, true); !wrong.empty()) {
        return fail(wrong);
    }
    if (y.shape.rank() != 2 && leading(y.shape, 2) != leading(x.shape, 2)) {
        return fail("leading dimensions of ", x, " and ", y,
                    " differ; y may also have 2 dimensions only");
    }
    const int tx = view.attributes().flag("transpose_x") ? 1 : 0;
    const int ty = view.attributes().flag("transpose_y") ? 1 : 0;
    const std::int64_t inner_x = x.shape[x.shape.rank() - 1 - tx];
    const std::int64_t inner_y = y.shape[y.shape.rank() - 2 + ty];
    if (inner_x != inner_y) {
        return fail("inner dimensions ", inner_x, " of ", x, " and ", inner_y, " of ", y,
                    " differ");
    }
    const std::int64_t rows = x.shape[x.shape.rank() - 2 + tx];
    const std::int64_t columns = y.shape[y.shape.rank() - 1 - ty];
    return {{{*dtype, with_last(with_last(leading(x.shape, 2), rows), columns)}}, {}};
}

// [..., M, K] x [..., M, N] -> [K, N], summing over all leading dimensions: the gradient of a 2-D
// y.
ValueId flat_product(Builder& b, ValueId x, ValueId y) {
    const auto flat = [&](ValueId v) {
        const ir::Shape shape = b.shape(v);
        return shape.rank() == 2 ? v : reshape(b, v, {shape.rows(), shape.back()});
    };
    return matmul(b, flat(x), flat(y), true);
}

ValueId transpose_last(Builder& b, ValueId x) {
    const int rank = b.shape(x).rank();
    std::vector<std::int64_t> permutation;
    for (int dim = 0; dim < rank - 2; ++dim) {
        permutation.push_back(dim);
    }
    permutation.push_back(rank - 1);
    permutation.push_back(rank - 2);
    return transpose(b, x, permutation);
}

// z = a b with a = x or x^T and b = y or y^T: da = dz b^T, db = a^T dz, each transposed back.
void matmul_gradient(GradientContext& c) {
    Builder& b = c.builder();
    const ValueId x = c.input(0);
    const ValueId y = c.input(1);
    const ValueId dz = c.upstream();
    const bool tx = c.op().attributes.flag("transpose_x");
    const bool ty = c.op().attributes.flag("transpose_y");
    const bool shared = b.shape(y).rank() == 2 && b.shape(x).rank() > 2;
    if (c.needs(0) && !(tx && shared)) {
        c.set(0, tx ? matmul(b, y, dz, ty, true) : matmul(b, dz, y, false, !ty));
    } else if (c.needs(0)) { // dx = b dz^T, but only the second operand may be shared
        c.set(0, transpose_last(b, matmul(b, dz, y, false, !ty)));
    }
    if (!c.needs(1)) {
        return;
    }
    if (!shared) {
        c.set(1, ty ? matmul(b, dz, x, true, tx) : matmul(b, x, dz, !tx, false));
        return;
    }
    const ValueId rows = tx ? transpose_last(b, x) : x; // [..., M, K]
    c.set(1, ty ? flat_product(b, dz, rows) : flat_product(b, rows, dz));
}

FactorRule matmul_factors(const OpView& view) {
    const bool shared = view.input(1).shape.rank() == 2;
    std::string text = view.attributes().flag("transpose_x") ? "...km," : "...mk,";
    text += shared ? "" : "...";
    text += view.attributes().flag("transpose_y") ? "nk" : "kn";
    return einsum(view, text + "->...mn", {{'k', Combine::sum, 0.0}});
}

OpCost matmul_cost(const OpView& view) {
    const ir::Shape& x = view.input(0).shape;
    const std::int64_t inner = view.attributes().flag("transpose_x") ? x[x.rank() - 2] : x.back();
    return product_cost(view, 2.0 * static_cast<double>(inner) *
                                  static_cast<double>(view.output(0).shape.elements()));
}

// --- linear ------------------------------------------------------------------------------------

Inferred infer_linear(const OpView& view) {
    const ir::Type& x = view.input(0);
    const ir::Type& weight = view.input(1);
    if (x.shape.rank() < 1) {
        return fail("input needs at least 1 dimension, but is ", x);
    }
    if (const std::string wrong =
            first_of({want_rank("weight", weight, 2), want_operands(view, true)});
        !wrong.empty()) {
        return fail(wrong);
    }
    if (x.shape.back() != weight.shape[0]) {
        return fail("input has ", x.shape.back(), " features, but weight expects ",
                    weight.shape[0]);
    }
    const auto dtype = product_dtype(view);
    if (!dtype) {
        return fail("element types ", x.dtype, " and ", weight.dtype, " do not mix");
    }
    if (view.inputs() == 3) {
        const ir::Type& bias = view.input(2);
        const std::string wrong =
            first_of({want_shape("bias", bias, {weight.shape[1]}), want_float("bias", bias)});
        if (!wrong.empty()) {
            return fail(wrong);
        }
    }
    return {{{*dtype, with_last(leading(x.shape), weight.shape[1])}}, {}};
}

void linear_gradient(GradientContext& c) {
    Builder& b = c.builder();
    const ValueId dy = c.upstream();
    const bool vector = b.shape(dy).rank() == 1; // a single row: products need two dimensions
    const ValueId rows = vector ? reshape(b, dy, {1, b.shape(dy).back()}) : dy;
    if (c.needs(0)) {
        const ValueId dx = matmul(b, rows, c.input(1), false, true);
        c.set(0, vector ? reshape(b, dx, b.shape(c.input(0))) : dx);
    }
    if (c.needs(1)) {
        const ValueId x = c.input(0);
        c.set(1, flat_product(b, vector ? reshape(b, x, {1, b.shape(x).back()}) : x, rows));
    }
    if (c.inputs() == 3 && c.needs(2)) {
        c.set(2, sum_to_shape(b, dy, b.shape(c.input(2))));
    }
}

FactorRule linear_factors(const OpView& view) {
    return einsum(view, "...k,kn,n->...n", {{'k', Combine::sum, 0.0}});
}

// Of the devices that split k only the first adds the bias to its term of the sum.
void split_linear(SplitContext& c) {
    const int k = factor_of(c.rule().inputs[1], 0);
    ValueIds inputs = c.inputs();
    if (inputs.size() == 3 && c.is_split(k)) {
        Builder& b = c.builder();
        const ValueId origin = cast(b, c.origin(std::array{k}, std::array{std::int64_t{0}}),
                                    ir::DType::f32); // f32[1]
        const ValueId later = minimum(b, origin, constant(b, 1.0));
        const ValueId share =
            cast(b, affine(b, later, -1.0, 1.0), b.type(inputs[2]).dtype);
        inputs[2] = mul(b, inputs[2], share);
    }
    c.set_all(c.emit_same(inputs));
}

OpCost linear_cost(const OpView& view) {
    return product_cost(view, 2.0 * static_cast<double>(view.input(0).shape.back()) *
                                  static_cast<double>(view.output(0).shape.elements()));
}

// --- with what follows them --------------------------------------------------------------------

/// The product's arithmetic, and that of `followed` for each element.
OpCost cost_with(const OpDef& followed, const OpCost& product, const OpView& view) {
    OpCost out = product;
    out.flops += followed.element_flops * static_cast<double>(view.output(0).shape.elements());
    return out;
}

Inferred infer_linear_gelu(const OpView& view) {
    Inferred out = infer_linear(view);
    if (out.error.empty()) {
        out.outputs.push_back(out.outputs[0]);
    }
    return out;
}

FactorRule linear_gelu_factors(const OpView& view) {
    return einsum(view, "...k,kn,n->...n,...n", {{'k', Combine::whole}});
}

OpCost linear_gelu_cost(const OpView& view) {
    return cost_with(kGelu, linear_cost(view), view);
}

Inferred infer_matmul_gelu_grad(const OpView& view) {
    const Inferred out = infer_matmul(view);
    if (out.error.empty() && view.input(2) != out.outputs[0]) {
        return fail("x must be as the product, ", out.outputs[0], ", but is ", view.input(2));
    }
    return out;
}

/// Of a third operand [..., M, N], which goes with the whole product.
FactorRule matmul_and_more_factors(const OpView& view) {
    const bool shared = view.input(1).shape.rank() == 2;
    std::string text = view.attributes().flag("transpose_x") ? "...km," : "...mk,";
    text += shared ? "" : "...";
    text += view.attributes().flag("transpose_y") ? "nk" : "kn";
    return einsum(view, text + ",...mn->...mn", {{'k', Combine::whole}});
}

OpCost matmul_gelu_grad_cost(const OpView& view) {
    return cost_with(kGeluGrad, matmul_cost(view), view);
}

Inferred infer_matmul_add(const OpView& view) {
    const Inferred out = infer_matmul(view);
    if (out.error.empty() && view.input(2) != out.outputs[0]) {
        return fail("what is added to must be as the product, ", out.outputs[0], ", but is ",
                    view.input(2));
    }
    return out;
}

OpCost matmul_add_cost(const OpView& view) {
    OpCost out = matmul_cost(view);
    out.flops += static_cast<double>(view.output(0).shape.elements());
    return out;
}

Inferred infer_matmul_sums(const OpView& view) {
    if (view.input(0).shape.rank() != 2 || view.input(1).shape.rank() != 2) {
        return fail("operands need 2 dimensions, but are ", view.input(0), " and ", view.input(1));
    }
    Inferred out = infer_matmul(view);
    if (out.error.empty()) {
        out.outputs.push_back(
            {statistics_dtype(view.input(1).dtype), {view.input(1).shape.back()}});
    }
    return out;
}

FactorRule matmul_sums_factors(const OpView& view) {
    const char* x = view.attributes().flag("transpose_x") ? "km" : "mk";
    return einsum(view, std::string(x) + ",kn->mn,n",
                  {{'k', Combine::sum, 0.0}, {'m', Combine::whole}});
}

OpCost matmul_sums_cost(const OpView& view) {
    OpCost out = matmul_cost(view);
    out.flops += static_cast<double>(view.input(1).shape.elements());
    return out;
}

} // namespace

const OpDef kMatmul{.name = "matmul",
                    .help = "x [..., M, K], y [..., K, N] or [K, N] -> [..., M, N]",
                    .min_inputs = 2,
                    .max_inputs = 2,
                    .attributes = {{"transpose_x", AttributeKind::flag, false, "x is [..., K, M]"},
                                   {"transpose_y", AttributeKind::flag, false, "y is [..., N, K]"},
                                   kWide,
                                   kOperands},
                    .infer = infer_matmul,
                    .gradient = matmul_gradient,
                    .factors = matmul_factors,
                    .cost = matmul_cost,
                    .wide_outputs = {0}};

const OpDef kLinear{.name = "linear",
                    .help = "x [..., K], weight [K, N], bias [N]? -> [..., N]",
                    .min_inputs = 2,
                    .max_inputs = 3,
                    .attributes = {kWide, kOperands},
                    .infer = infer_linear,
                    .gradient = linear_gradient,
                    .factors = linear_factors,
                    .cost = linear_cost,
                    .split = split_linear,
                    .wide_outputs = {0}};

const OpDef kLinearGelu{.name = "linear_gelu",
                        .help = "linear -> y [..., N] = gelu(pre), pre [..., N]",
                        .min_inputs = 2,
                        .max_inputs = 3,
                        .attributes = {kOperands},
                        .infer = infer_linear_gelu,
                        .factors = linear_gelu_factors,
                        .cost = linear_gelu_cost};

const OpDef kMatmulGeluGrad{
    .name = "matmul_gelu_grad",
    .help = "matmul of dz and y, times the derivative of gelu at x [..., M, N] -> dx",
    .min_inputs = 3,
    .max_inputs = 3,
    .attributes = {{"transpose_x", AttributeKind::flag, false, "dz is [..., K, M]"},
                   {"transpose_y", AttributeKind::flag, false, "y is [..., N, K]"},
                   kOperands},
    .infer = infer_matmul_gelu_grad,
    .factors = matmul_and_more_factors,
    .cost = matmul_gelu_grad_cost};

const OpDef kMatmulAdd{
    .name = "matmul_add",
    .help = "sum [..., M, N] plus matmul of x and y -> [..., M, N]",
    .min_inputs = 3,
    .max_inputs = 3,
    .attributes = {{"transpose_x", AttributeKind::flag, false, "x is [..., K, M]"},
                   {"transpose_y", AttributeKind::flag, false, "y is [..., N, K]"},
                   kWide,
                   kOperands},
    .infer = infer_matmul_add,
    .factors = matmul_and_more_factors,
    .cost = matmul_add_cost,
    .aliases = {{0, 2}}};

const OpDef kMatmulSums{
    .name = "matmul_sums",
    .help = "matmul of x and y [K, N] -> [M, N], sums of y's columns [N]",
    .min_inputs = 2,
    .max_inputs = 2,
    .attributes = {{"transpose_x", AttributeKind::flag, false, "x is [K, M]"}, kWide, kOperands},
    .infer = infer_matmul_sums,
    .factors = matmul_sums_factors,
    .cost = matmul_sums_cost};

} // namespace weft::ops
