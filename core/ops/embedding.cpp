// SPDX-License-Identifier: Apache-2.0
// Rows of a table by index; and of large tables, of which an update touches some rows alone.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"
#include "core/ops/split.h"

#include <array>

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
    return einsum(view, "vc,...->...c", {{'v', Combine::sum, 0.0}});
}

/// Ids counted from the first row that is here; 0 where the row is elsewhere.
struct LocalIds {
    ir::ValueId ids;    // i32 [...]
    ir::ValueId inside; // [..., 1] in the asked type: 1 where the row is here, else 0
};

LocalIds local_ids(SplitContext& c, ir::ValueId ids, int rows, ir::DType dtype) {
    Builder& b = c.builder();
    const ir::ValueId first =
        cast(b, c.origin(std::array{rows}, std::array{std::int64_t{0}}), ir::DType::f32);
    const ir::ValueId zero = constant(b, 0.0);
    const ir::ValueId end = constant(b, static_cast<double>(c.local_size(rows)));
    ir::Shape shape = b.shape(ids);
    const bool scalar = shape.rank() == 0;
    ids = scalar ? reshape(b, ids, {1}) : ids;
    const ir::ValueId row = sub(b, cast(b, ids, ir::DType::f32), first);
    const ir::ValueId before = b.emit("less", {row, zero});
    const ir::ValueId inside = mul(b, affine(b, before, -1.0, 1.0), b.emit("less", {row, end}));
    ir::ValueId local = cast(b, select(b, inside, row, zero), ir::DType::i32);
    local = scalar ? reshape(b, local, {}) : local;
    shape.push_back(1);
    return {local, cast(b, reshape(b, inside, shape), dtype)};
}

// Rows that are elsewhere are terms of zero.
void split_embedding(SplitContext& c) {
    const int rows = factor_of(c.rule().inputs[0], 0);
    if (!c.is_split(rows)) {
        return c.set_all(c.emit_same());
    }
    Builder& b = c.builder();
    const LocalIds local = local_ids(c, c.input(1), rows, b.type(c.input(0)).dtype);
    const auto found = c.emit_same({c.input(0), local.ids});
    c.set(0, mul(b, found[0], local.inside));
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
    return einsum(view, "...,...c->vc", {{'.', Combine::sum, 0.0}});
}

ir::Attributes localise_embedding_grad(const OpView&, std::span<const ir::Type>,
                                       std::span<const ir::Type> outputs) {
    return {{"rows", outputs[0].shape[0]}};
}

void split_embedding_grad(SplitContext& c) {
    const int rows = factor_of(c.rule().outputs[0], 0);
    if (!c.is_split(rows)) {
        return c.set_all(c.emit_same());
    }
    Builder& b = c.builder();
    const LocalIds local = local_ids(c, c.input(0), rows, b.type(c.input(1)).dtype);
    c.set_all(c.emit_same({local.ids, mul(b, c.input(1), local.inside)}));
}

OpCost embedding_grad_cost(const OpView& view) {
    return cost(view, static_cast<double>(view.input(1).shape.elements()));
}

/// Rows [..., C] with an id i32 [...] each.
std::string want_named_rows(const ir::Type& ids, const ir::Type& rows) {
    const std::string wrong = first_of({want_integer("ids", ids), want_float("rows", rows)});
    if (wrong.empty() && (rows.shape.rank() == 0 || leading(rows.shape) != ids.shape)) {
        return "rows " + word(rows) + " must have the ids' shape " + word(ids.shape) +
               " with a feature dimension";
    }
    return wrong;
}

Inferred infer_sum_rows(const OpView& view) {
    const ir::Type& ids = view.input(0);
    const ir::Type& rows = view.input(1);
    const std::string wrong = want_named_rows(ids, rows);
    return wrong.empty() ? Inferred{{ids, {statistics_dtype(rows.dtype), rows.shape}}, {}}
                         : fail(wrong);
}

// Who stands first is known of all together.
FactorRule sum_rows_factors(const OpView& view) {
    return einsum(view, "...,...c->...,...c", {{'.', Combine::whole}, {'c', Combine::custom}});
}

// Every part of the features finds the same ids.
void split_sum_rows(SplitContext& c) {
    c.set_all(c.emit_same());
}

OpCost sum_rows_cost(const OpView& view) {
    return cost(view, static_cast<double>(view.input(1).shape.elements()));
}

Inferred infer_write_rows(const OpView& view) {
    const ir::Type& table = view.input(0);
    const ir::Type& rows = view.input(2);
    const std::string wrong = first_of({want_rank("table", table, 2), want_float("table", table),
                                        want_named_rows(view.input(1), rows)});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    if (rows.dtype != table.dtype || rows.shape.back() != table.shape[1]) {
        return fail("rows ", rows, " do not fit into the table ", table);
    }
    return {{table}, {}};
}

FactorRule write_rows_factors(const OpView& view) {
    return einsum(view, "vc,...,...c->vc", {{'v', Combine::custom}, {'.', Combine::whole}});
}

// A row that is elsewhere is not written.
void split_write_rows(SplitContext& c) {
    const int rows = factor_of(c.rule().inputs[0], 0);
    if (!c.is_split(rows)) {
        return c.set_all(c.emit_same());
    }
    Builder& b = c.builder();
    const LocalIds local = local_ids(c, c.input(1), rows, ir::DType::f32);
    const ir::ValueId inside = reshape(b, local.inside, b.shape(local.ids));
    const ir::ValueId here =
        select(b, inside, cast(b, local.ids, ir::DType::f32), constant(b, -1.0));
    c.set_all(c.emit_same({c.input(0), cast(b, here, ir::DType::i32), c.input(2)}));
}

// Written in place: only these rows move.
OpCost write_rows_cost(const OpView& view) {
    return {0, 2.0 * static_cast<double>(view.input(2).bytes()), 0};
}

} // namespace

const OpDef kEmbedding{.name = "embedding",
                       .help = "table [V, C], ids i32 [...] -> [..., C]",
                       .min_inputs = 2,
                       .max_inputs = 2,
                       .infer = infer_embedding,
                       .gradient = embedding_gradient,
                       .factors = embedding_factors,
                       .cost = embedding_cost,
                       .split = split_embedding};

const OpDef kEmbeddingGrad{.name = "embedding_grad",
                           .help = "ids, dy [..., C] -> dtable f32 [V, C]",
                           .min_inputs = 2,
                           .max_inputs = 2,
                           .attributes = {{"rows", AttributeKind::integer, true, "V"}},
                           .infer = infer_embedding_grad,
                           .factors = embedding_grad_factors,
                           .cost = embedding_grad_cost,
                           .localise = localise_embedding_grad,
                           .split = split_embedding_grad,
                           .full_outputs = {0}};

const OpDef kReadRows{.name = "read_rows",
                      .help = "table [V, C], ids i32 [...] -> [..., C], as they are kept",
                      .min_inputs = 2,
                      .max_inputs = 2,
                      .infer = infer_embedding,
                      .factors = embedding_factors,
                      .cost = embedding_cost,
                      .split = split_embedding,
                      .precision = Precision::full};

const OpDef kSumRows{
    .name = "sum_rows",
    .help = "ids i32 [...], rows [..., C] -> each id where it stands first, -1 where it stands "
            "again or is below 0; there the sum f32 [..., C] of all rows of the id, else 0",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = infer_sum_rows,
    .factors = sum_rows_factors,
    .cost = sum_rows_cost,
    .split = split_sum_rows,
    .precision = Precision::full};

const OpDef kWriteRows{.name = "write_rows",
                       .help = "table [V, C], ids i32 [...], rows [..., C] -> table with rows at "
                               "ids, each of which is there once; one below 0 writes nothing",
                       .min_inputs = 3,
                       .max_inputs = 3,
                       .infer = infer_write_rows,
                       .factors = write_rows_factors,
                       .cost = write_rows_cost,
                       .split = split_write_rows,
                       .aliases = {{0, 0}},
                       .precision = Precision::full};

} // namespace weft::ops
