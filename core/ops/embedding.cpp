// SPDX-License-Identifier: Apache-2.0
// Rows of a table by index.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

Inferred infer_embedding(const OpView& view) {
    const ir::Type& table = view.input(0);
    const ir::Type& ids = view.input(1);
    const std::string wrong = first_of(
        {want_rank("table", table, 2), want_float("table", table), want_integer("ids", ids)});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    if (ids.shape.rank() == ir::Shape::kMaxRank) {
        return fail("ids have no room for a feature dimension: ", ids);
    }
    return {{{table.dtype, with_last(ids.shape, table.shape[1])}}, {}};
}

void embedding_gradient(GradientContext& c) {
    const std::int64_t rows = c.builder().shape(c.input(0))[0];
    c.set(0, c.builder().emit("embedding_grad", {c.input(1), c.upstream()}, {{"rows", rows}}));
}

FactorRule embedding_factors(const OpView& view) {
    return einsum(view, "vc,...->...c", {{'v', Combine::whole}});
}

OpCost embedding_cost(const OpView& view) {
    // Only the chosen rows are read.
    const auto out = static_cast<double>(view.output(0).bytes());
    return {0, 2 * out + static_cast<double>(view.input(1).bytes()), 0};
}

Inferred infer_embedding_grad(const OpView& view) {
    const ir::Type& ids = view.input(0);
    const ir::Type& dy = view.input(1);
    const std::int64_t rows = view.attributes().integer("rows");
    const std::string wrong = first_of({want_integer("ids", ids), want_float("dy", dy)});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    if (rows < 1 || dy.shape.rank() != ids.shape.rank() + 1 || leading(dy.shape) != ids.shape) {
        return fail("dy ", dy, " must be the ids' shape ", ids.shape,
                    " with a feature dimension, and rows positive");
    }
    return {{{statistics_dtype(dy.dtype), {rows, dy.shape.back()}}}, {}};
}

FactorRule embedding_grad_factors(const OpView& view) {
    return einsum(view, "...,...c->vc", {{'.', Combine::sum, 0.0}, {'v', Combine::whole}});
}

OpCost embedding_grad_cost(const OpView& view) {
    return cost(view, static_cast<double>(view.input(1).shape.elements()));
}

} // namespace

const OpDef kEmbedding{.name = "embedding",
                       .help = "table [V, C], ids i32 [...] -> [..., C]",
                       .min_inputs = 2,
                       .max_inputs = 2,
                       .infer = infer_embedding,
                       .gradient = embedding_gradient,
                       .factors = embedding_factors,
                       .cost = embedding_cost};

const OpDef kEmbeddingGrad{.name = "embedding_grad",
                           .help = "ids, dy [..., C] -> dtable f32 [V, C]",
                           .min_inputs = 2,
                           .max_inputs = 2,
                           .attributes = {{"rows", AttributeKind::integer, true, "V"}},
                           .infer = infer_embedding_grad,
                           .factors = embedding_grad_factors,
                           .cost = embedding_grad_cost,
                           .full_outputs = {0}};

} // namespace weft::ops
