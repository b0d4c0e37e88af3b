// SPDX-License-Identifier: Apache-2.0
// What a device does with its place on the mesh: its number along some axes, its part of a value
// that it holds as a whole, and the end of what is real in a padded dimension. The partition pass
// makes these; models do not.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

using List = std::vector<std::int64_t>;

constexpr AttributeDef kDim{"dim", AttributeKind::integer, true, "the dimension"};

std::string want_index(const OpView& view, int i) {
    const ir::Type expected{ir::DType::i64, {1}};
    return view.input(i) == expected ? ""
                                     : "the index must be i64[1], but is " + word(view.input(i));
}

std::string want_dim(const OpView& view) {
    const std::int64_t dim = view.attributes().integer("dim");
    return dim >= 0 && dim < view.input(0).shape.rank()
               ? ""
               : "dimension " + word(dim) + " does not exist in " + word(view.input(0));
}

Inferred infer_mesh_index(const OpView& view) {
    const ir::Type& place = view.input(0);
    const auto& strides = view.attributes().list("strides");
    const auto& base = view.attributes().list("base");
    if (place.dtype != ir::DType::i64 || place.shape.rank() != 1) {
        return fail("coordinates must be i64[A], but are ", place);
    }
    if (base.empty() || strides.size() != base.size() * static_cast<std::size_t>(place.shape[0])) {
        return fail("strides need ", place.shape[0], " entries for each of base");
    }
    return {{{ir::DType::i64, {static_cast<std::int64_t>(base.size())}}}, {}};
}

Inferred infer_pick(const OpView& view) {
    const std::string wrong = first_of({want_index(view, 1), want_dim(view)});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    const auto dim = static_cast<int>(view.attributes().integer("dim"));
    ir::Type out{view.input(0).dtype, {}};
    for (int i = 0; i < view.input(0).shape.rank(); ++i) {
        if (i != dim) {
            out.shape.push_back(view.input(0).shape[i]);
        }
    }
    return {{out}, {}};
}

Inferred infer_mask(const OpView& view) {
    const std::string wrong = first_of({want_index(view, 1), want_dim(view)});
    return wrong.empty() ? Inferred{{view.input(0)}, {}} : fail(wrong);
}

OpCost copy_cost(const OpView& view) {
    return {0, 2.0 * static_cast<double>(view.output(0).bytes()), 0};
}

OpCost index_cost(const OpView& view) {
    return cost(view, 0);
}

} // namespace

const OpDef kMeshIndex{
    .name = "mesh_index",
    .help = "coordinates i64[A] -> i64[R]: base[r] + the sum of strides[r A + a] coordinates[a]",
    .attributes = {{"strides", AttributeKind::list, true, "one row per result"},
                   {"base", AttributeKind::list, true, "added to each result"}},
    .infer = infer_mesh_index,
    .gradient = zero_gradient,
    .factors = whole_factors,
    .cost = index_cost};

const OpDef kPick{.name = "pick",
                  .help = "x, index i64[1] -> the part of x at that index of one dimension",
                  .min_inputs = 2,
                  .max_inputs = 2,
                  .attributes = {kDim},
                  .infer = infer_pick,
                  .factors = whole_factors,
                  .cost = copy_cost};

const OpDef kMask{.name = "mask",
                  .help =
                      "x, first i64[1] -> x, and `value` where first + index is not below extent",
                  .min_inputs = 2,
                  .max_inputs = 2,
                  .attributes = {kDim,
                                 {"extent", AttributeKind::integer, true, "end of what is real"},
                                 {"value", AttributeKind::real, true,
                                  "stands in the padding; in f16 within its finite numbers"}},
                  .infer = infer_mask,
                  .factors = whole_factors,
                  .cost = copy_cost,
                  .aliases = {{0, 0}}};

} // namespace weft::ops
