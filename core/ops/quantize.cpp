// SPDX-License-Identifier: Apache-2.0
// Numbers in eight bits, block by block: codes of the map in kernels/eight_bit_map.h, and the
// largest size of a block as its scale (Dettmers et al. 2022). What an optimizer keeps between
// updates.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

constexpr AttributeDef kBlock{"block", AttributeKind::integer, true,
                              "numbers of a block; divides the last dimension"};
constexpr AttributeDef kHasSign{"has_sign", AttributeKind::flag, true, "numbers may be negative"};

ir::Shape blocks_of(const OpView& view, const ir::Shape& numbers) {
    return with_last(leading(numbers), numbers.back() / view.attributes().integer("block"));
}

// Empty: fine.
std::string want_blocks(const OpView& view, const ir::Type& numbers) {
    const std::int64_t block = view.attributes().integer("block");
    if (numbers.shape.rank() == 0 || block < 1 || numbers.shape.back() % block != 0) {
        return "blocks of " + std::to_string(block) + " do not divide the last dimension of " +
               ir::to_text(numbers);
    }
    return {};
}

Inferred infer_quantize(const OpView& view) {
    const ir::Type& x = view.input(0);
    std::string wrong = first_of({want_float("x", x), want_blocks(view, x)});
    if (wrong.empty()) {
        wrong = first_of({want_shape("keep", view.input(1), {}),
                          want_shape("codes", view.input(2), x.shape),
                          want_shape("scales", view.input(3), blocks_of(view, x.shape))});
    }
    if (!wrong.empty()) {
        return fail(wrong);
    }
    if (view.input(2).dtype != ir::DType::u8) {
        return fail("codes must be u8, but are ", view.input(2));
    }
    return {{view.input(2), view.input(3)}, {}};
}

Inferred infer_dequantize(const OpView& view) {
    const ir::Type& codes = view.input(0);
    std::string wrong = want_blocks(view, codes);
    if (wrong.empty()) {
        wrong = want_shape("scales", view.input(1), blocks_of(view, codes.shape));
    }
    if (!wrong.empty()) {
        return fail(wrong);
    }
    if (codes.dtype != ir::DType::u8) {
        return fail("codes must be u8, but are ", codes);
    }
    return {{{view.input(1).dtype, codes.shape}}, {}};
}

// Blocks are independent.
FactorRule quantize_factors(const OpView& view) {
    return einsum(view, "...(kg),,...(kg),...k->...(kg),...k", {{'g', Combine::whole}});
}

FactorRule dequantize_factors(const OpView& view) {
    return einsum(view, "...(kg),...k->...(kg)", {{'g', Combine::whole}});
}

// The largest size, a quotient, and eight steps of a search of four operations each.
OpCost quantize_cost(const OpView& view) {
    return cost(view, 36.0 * static_cast<double>(view.input(0).shape.elements()));
}

} // namespace

const OpDef kQuantize{.name = "quantize",
                      .help = "x [..., n], keep [], codes u8 [..., n], scales [..., n / block] -> "
                              "codes, scales of x; those given where keep is not 0",
                      .min_inputs = 4,
                      .max_inputs = 4,
                      .attributes = {kBlock, kHasSign},
                      .infer = infer_quantize,
                      .factors = quantize_factors,
                      .cost = quantize_cost,
                      .aliases = {{0, 2}, {1, 3}},
                      .precision = Precision::full};

const OpDef kDequantize{.name = "dequantize",
                        .help = "codes u8 [..., n], scales [..., n / block] -> x [..., n]",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attributes = {kBlock, kHasSign},
                        .infer = infer_dequantize,
                        .factors = dequantize_factors,
                        .precision = Precision::full};

} // namespace weft::ops
