// SPDX-License-Identifier: Apache-2.0
// Mixture of experts (Shazeer et al. 2017; Lepikhin et al. 2021; Fedus et al. 2022): the choice of
// experts for each token, and the moves of tokens to the rows of their experts and back. Shape
// letters: N samples, T tokens of a sample, K choices of a token, E experts, A rows that an expert
// has for each sample (its capacity), C channels.
//
// Each sample is a group of its own (Lepikhin et al. 2021, section 2.2): what becomes of it depends
// neither on the rest of the batch nor on how that is cut, and tokens are dropped in their order.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

constexpr AttributeDef kExperts{"experts", AttributeKind::integer, true, "E"};
constexpr AttributeDef kCapacity{"capacity", AttributeKind::integer, true, "A, rows per sample"};

// --- Choice ------------------------------------------------------------------------------------

Inferred infer_top_k(const OpView& view) {
    const ir::Type& x = view.input(0);
    const std::int64_t k = view.attributes().integer("k");
    if (const std::string wrong = want_float("x", x); !wrong.empty()) {
        return fail(wrong);
    }
    if (x.shape.rank() == 0 || k < 1 || k > x.shape.back()) {
        return fail("cannot choose ", k, " of the last dimension of ", x);
    }
    const ir::Shape chosen = with_last(leading(x.shape), k);
    return {{{x.dtype, chosen}, {ir::DType::i32, chosen}}, {}};
}

void top_k_gradient(GradientContext& c) {
    Builder& b = c.builder();
    c.set(0, b.emit("top_k_grad", {c.output(1), c.upstream()},
                    {{"extent", b.shape(c.input(0)).back()}}));
}

FactorRule top_k_factors(const OpView& view) {
    return einsum(view, "...v->...k,...k", {{'v', Combine::whole}, {'k', Combine::whole}});
}

// Each value is compared once per choice.
OpCost top_k_cost(const OpView& view) {
    return cost(view, static_cast<double>(view.input(0).shape.elements()) *
                          static_cast<double>(view.attributes().integer("k")));
}

Inferred infer_top_k_grad(const OpView& view) {
    const ir::Type& indices = view.input(0);
    const ir::Type& dvalues = view.input(1);
    const std::int64_t extent = view.attributes().integer("extent");
    const std::string wrong =
        first_of({want_integer("indices", indices), want_float("dvalues", dvalues),
                  want_shape("dvalues", dvalues, indices.shape)});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    if (indices.shape.rank() == 0 || extent < indices.shape.back()) {
        return fail("indices ", indices, " do not choose from ", extent);
    }
    return {{{dvalues.dtype, with_last(leading(indices.shape), extent)}}, {}};
}

FactorRule top_k_grad_factors(const OpView& view) {
    return einsum(view, "...k,...k->...v", {{'v', Combine::whole}, {'k', Combine::whole}});
}

OpCost bytes_cost(const OpView& view) {
    return cost(view, 0);
}

// --- Rows --------------------------------------------------------------------------------------

Inferred infer_expert_rows(const OpView& view) {
    const ir::Type& indices = view.input(0);
    const std::string wrong =
        first_of({want_integer("indices", indices), want_rank("indices", indices, 3)});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    if (view.attributes().integer("experts") < 1 || view.attributes().integer("capacity") < 1) {
        return fail("experts and capacity must be positive");
    }
    return {{indices}, {}};
}

// Which row is free depends on all earlier tokens of the sample.
FactorRule expert_rows_factors(const OpView& view) {
    return einsum(view, "ntk->ntk", {{'t', Combine::whole}, {'k', Combine::whole}});
}

/// rows [N, T, K], gates [N, T, K]? as operands 1 and 2 of tokens [N, T, C]; empty: fine.
std::string want_routing(const OpView& view, const ir::Shape& tokens) {
    const ir::Type& rows = view.input(1);
    std::string wrong = first_of({want_integer("rows", rows), want_rank("rows", rows, 3)});
    if (wrong.empty() && (rows.shape[0] != tokens[0] || rows.shape[1] != tokens[1])) {
        wrong = "rows " + word(rows) + " do not place the tokens " + word(tokens);
    }
    if (wrong.empty() && view.inputs() > 2) {
        wrong = first_of(
            {want_float("gates", view.input(2)), want_shape("gates", view.input(2), rows.shape)});
    }
    return wrong;
}

Inferred infer_dispatch(const OpView& view) {
    const ir::Type& x = view.input(0);
    const std::int64_t experts = view.attributes().integer("experts");
    const std::int64_t capacity = view.attributes().integer("capacity");
    std::string wrong = first_of({want_rank("x", x, 3), want_float("x", x)});
    if (wrong.empty()) {
        wrong = want_routing(view, x.shape);
    }
    if (!wrong.empty()) {
        return fail(wrong);
    }
    if (experts < 1 || capacity < 1) {
        return fail("experts and capacity must be positive");
    }
    return {{{x.dtype, {experts, x.shape[0], capacity, x.shape[2]}}}, {}};
}

void dispatch_gradient(GradientContext& c) {
    Builder& b = c.builder();
    ir::ValueIds operands = c.op().inputs;
    operands[0] = c.upstream();
    c.set(0, b.emit("combine", operands));
    if (c.inputs() > 2 && c.needs(2)) {
        c.set(2, b.emit("gate_grad", {c.upstream(), c.input(1), c.input(0)}));
    }
}

// Devices that hold different tokens of a sample fill different rows: their results add up.
FactorRule dispatch_factors(const OpView& view) {
    constexpr Combine whole = Combine::whole;
    return einsum(view, "ntc,ntk,ntk->enac",
                  {{'t', Combine::sum}, {'k', whole}, {'e', whole}, {'a', whole}});
}

Inferred infer_combine(const OpView& view) {
    const ir::Type& y = view.input(0);
    const ir::Type& rows = view.input(1);
    std::string wrong = first_of({want_rank("y", y, 4), want_float("y", y),
                                  want_integer("rows", rows), want_rank("rows", rows, 3)});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    const ir::Type out{y.dtype, {y.shape[1], rows.shape[1], y.shape[3]}};
    wrong = want_routing(view, out.shape);
    return wrong.empty() ? Inferred{{out}, {}} : fail(wrong);
}

void combine_gradient(GradientContext& c) {
    Builder& b = c.builder();
    const ir::Shape y = b.shape(c.input(0));
    ir::ValueIds operands = c.op().inputs;
    operands[0] = c.upstream();
    c.set(0, b.emit("dispatch", operands, {{"experts", y[0]}, {"capacity", y[2]}}));
    if (c.inputs() > 2 && c.needs(2)) {
        c.set(2, b.emit("gate_grad", {c.input(0), c.input(1), c.upstream()}));
    }
}

// A sample's tokens are where its rows are: experts that are split come here by all-to-all, which
// moves K / devices of what a sum over the devices would.
FactorRule combine_factors(const OpView& view) {
    constexpr Combine whole = Combine::whole;
    return einsum(view, "enac,ntk,ntk->ntc", {{'k', whole}, {'e', whole}, {'a', whole}});
}

Inferred infer_gate_grad(const OpView& view) {
    const ir::Type& y = view.input(0);
    const ir::Type& rows = view.input(1);
    const ir::Type& dout = view.input(2);
    const std::string wrong =
        first_of({want_rank("y", y, 4), want_float("y", y), want_integer("rows", rows),
                  want_rank("rows", rows, 3), want_float("dout", dout)});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    const ir::Shape tokens{y.shape[1], rows.shape[1], y.shape[3]};
    const std::string off = want_shape("dout", dout, tokens);
    if (!off.empty() || rows.shape[0] != tokens[0]) {
        return fail(off.empty() ? "rows " + word(rows) + " do not place the tokens " + word(tokens)
                                : off);
    }
    return {{{statistics_dtype(y.dtype), rows.shape}}, {}};
}

FactorRule gate_grad_factors(const OpView& view) {
    constexpr Combine whole = Combine::whole;
    return einsum(view, "enac,ntk,ntc->ntk",
                  {{'c', Combine::sum}, {'k', whole}, {'e', whole}, {'a', whole}});
}

// A multiplication and an addition per choice and channel.
OpCost routing_cost(const OpView& view) {
    const ir::Shape& channels = view.input(0).shape;
    return cost(view, 2.0 * static_cast<double>(view.input(1).shape.elements() * channels.back()));
}

Partial product(const OpView&) {
    return Partial::product;
}

} // namespace

const OpDef kTopK{.name = "top_k",
                  .help = "x [..., E] -> the k largest [..., k], largest first, and their indices",
                  .attributes = {{"k", AttributeKind::integer, true, "choices"}},
                  .infer = infer_top_k,
                  .gradient = top_k_gradient,
                  .factors = top_k_factors,
                  .cost = top_k_cost,
                  .precision = Precision::full};

const OpDef kTopKGrad{.name = "top_k_grad",
                      .help = "indices [..., k], dvalues [..., k] -> dx [..., E], 0 elsewhere",
                      .min_inputs = 2,
                      .max_inputs = 2,
                      .attributes = {{"extent", AttributeKind::integer, true, "E"}},
                      .infer = infer_top_k_grad,
                      .factors = top_k_grad_factors,
                      .cost = bytes_cost,
                      .precision = Precision::full};

const OpDef kExpertRows{
    .name = "expert_rows",
    .help = "indices [N, T, K] -> the row e A + a that each choice of expert e takes; -1 where the "
            "sample's rows of that expert are full",
    .attributes = {kExperts, kCapacity},
    .infer = infer_expert_rows,
    .factors = expert_rows_factors,
    .cost = bytes_cost};

const OpDef kDispatch{.name = "dispatch",
                      .help = "x [N, T, C], rows [N, T, K], gates [N, T, K]? -> tokens, times "
                              "their gates, in the rows of their experts [E, N, A, C]; 0 elsewhere",
                      .min_inputs = 2,
                      .max_inputs = 3,
                      .attributes = {kExperts, kCapacity},
                      .infer = infer_dispatch,
                      .gradient = dispatch_gradient,
                      .factors = dispatch_factors,
                      .cost = routing_cost,
                      .partial = product,
                      .full_inputs = {2}};

const OpDef kCombine{.name = "combine",
                     .help = "y [E, N, A, C], rows [N, T, K], gates [N, T, K]? -> the sum of each "
                             "token's rows, times their gates [N, T, C]",
                     .min_inputs = 2,
                     .max_inputs = 3,
                     .infer = infer_combine,
                     .gradient = combine_gradient,
                     .factors = combine_factors,
                     .cost = routing_cost,
                     .partial = product,
                     .full_inputs = {2}};

const OpDef kGateGrad{.name = "gate_grad",
                      .help = "y [E, N, A, C], rows [N, T, K], dout [N, T, C] -> dgates [N, T, K]",
                      .min_inputs = 3,
                      .max_inputs = 3,
                      .infer = infer_gate_grad,
                      .factors = gate_grad_factors,
                      .cost = routing_cost,
                      .partial = product,
                      .full_outputs = {0}};

} // namespace weft::ops
