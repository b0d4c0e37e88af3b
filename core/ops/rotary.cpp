// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding (Su et al. 2021): pairs of channels turn with the position, so that a
// product of query and key depends on their distance. Channel i forms a pair with i + D / 2: the
// "rotate half" layout of Hugging Face, not the interleaved one of the paper.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"
#include "core/ops/split.h"

#include <array>

namespace weft::ops {
namespace {

using ir::ValueId;

using ir::ValueIds;

Inferred infer_rotary(const OpView& view) {
    const ir::Type& x = view.input(0);
    const std::string wrong = first_of({want_float("x", x), want_rank("x", x, 4)});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    if (x.shape[3] % 2 != 0) {
        return fail("x turns pairs of channels, but its head width is ", x.shape[3]);
    }
    if (!(view.attributes().real("theta") > 0.0)) {
        return fail("theta must be positive");
    }
    const std::string place = view.inputs() > 1 ? want_position(view.input(1)) : "";
    return place.empty() ? Inferred{{x}, {}} : fail(place);
}

// A rotation's transpose is the rotation back.
void rotary_gradient(GradientContext& c) {
    ValueIds operands{c.upstream()};
    if (c.inputs() > 1) {
        operands.push_back(c.input(1));
    }
    ir::Attributes attributes = c.op().attributes;
    attributes.set("inverse", !attributes.flag("inverse"));
    c.set(0, c.builder().emit("rotary", operands, attributes));
}

// Without a position rows count from 0, and a part from its first row.
FactorRule rotary_factors(const OpView& view) {
    const Combine rows = view.inputs() > 1 ? Combine::whole : Combine::custom;
    return einsum(view, "nthd,->nthd", {{'t', rows}, {'d', Combine::whole}});
}

void split_rotary(SplitContext& c) {
    const int rows = factor_of(c.rule().inputs[0], 1);
    if (!c.is_split(rows)) {
        return c.set_all(c.emit_same());
    }
    const ValueId first = c.origin(std::array{rows}, std::array{std::int64_t{0}});
    c.set_all(c.emit_same({c.input(0), reshape(c.builder(), first, {})}));
}

OpCost rotary_cost(const OpView& view) {
    return cost(view, 3.0 * static_cast<double>(view.input(0).shape.elements()));
}

} // namespace

const OpDef kRotary{
    .name = "rotary",
    .help = "x [N, T, H, D], position? -> x with channels i and i + D / 2 of row t turned by "
            "(position + t) theta^(-2 i / D)",
    .min_inputs = 1,
    .max_inputs = 2,
    .attributes = {{"theta", AttributeKind::real, true, "base of the wave lengths"},
                   {"inverse", AttributeKind::flag, true, "turn back: the gradient"}},
    .infer = infer_rotary,
    .gradient = rotary_gradient,
    .factors = rotary_factors,
    .cost = rotary_cost,
    .split = split_rotary,
    .aliases = {{0, 0}}};

} // namespace weft::ops
