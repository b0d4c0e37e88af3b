// SPDX-License-Identifier: Apache-2.0
// The loop. What its inputs, body and outputs are stands in core/ir/program.h.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

ir::Type slice_type(const ir::Type& type) {
    return {type.dtype, ir::Shape(type.shape.span().subspan(1))};
}

ir::Type stacked_type(const ir::Type& type, std::int64_t count) {
    ir::Type out{type.dtype, {count}};
    for (const std::int64_t extent : type.shape) {
        out.shape.push_back(extent);
    }
    return out;
}

Inferred infer_repeat(const OpView& view) {
    const std::int64_t count = view.attributes().integer("count");
    const std::int64_t carried = view.attributes().integer("carried");
    if (view.op.body.size() != 1) {
        return fail("needs one body block");
    }
    const ir::Block& body = view.op.body[0];
    if (count < 1 || carried < 0 || carried > view.inputs() ||
        carried > static_cast<std::int64_t>(body.results.size())) {
        return fail("count must be positive and carried at most the number of inputs and results");
    }
    if (body.arguments.size() != view.op.inputs.size()) {
        return fail("the body has ", static_cast<int>(body.arguments.size()), " arguments for ",
                    view.inputs(), " inputs");
    }
    for (int i = 0; i < view.inputs(); ++i) {
        const ir::Type& type = view.input(i);
        if (i >= carried && (type.shape.rank() == 0 || type.shape[0] != count)) {
            return fail("per-iteration input ", i, " is ", type, ", but count is ", count);
        }
        const ir::Type& argument = view.program.type(body.arguments[static_cast<std::size_t>(i)]);
        if (argument != (i < carried ? type : slice_type(type))) {
            return fail("body argument ", i, " is ", argument, ", which does not fit input ", type);
        }
    }
    Inferred out;
    for (std::size_t i = 0; i < body.results.size(); ++i) {
        const ir::Type& type = view.program.type(body.results[i]);
        if (static_cast<std::int64_t>(i) >= carried) {
            if (type.shape.rank() == ir::Shape::kMaxRank) {
                return fail("result ", static_cast<int>(i),
                            " has no room for a stacking dimension");
            }
            out.outputs.push_back(stacked_type(type, count));
            continue;
        }
        if (type != view.input(static_cast<int>(i))) {
            return fail("carried value ", static_cast<int>(i), " starts as ",
                        view.input(static_cast<int>(i)), ", but the body gives ", type);
        }
        out.outputs.push_back(type);
    }
    return out;
}

OpCost repeat_cost(const OpView& view) {
    OpCost total;
    for (const ir::Op& op : view.op.body[0].ops) {
        const OpCost one = cost_of({view.program, op});
        total.flops += one.flops;
        total.bytes += one.bytes;
        total.products += one.products;
    }
    const auto count = static_cast<double>(view.attributes().integer("count"));
    return {total.flops * count, total.bytes * count, total.products * count};
}

} // namespace

// Its gradient is made by core/autodiff, its sharding inside its body.
const OpDef kRepeat{
    .name = "repeat",
    .help = "runs its body count times over carried values and slices of its inputs",
    .min_inputs = 0,
    .max_inputs = std::numeric_limits<int>::max(),
    .attributes = {{"count", AttributeKind::integer, true, "iterations"},
                   {"carried", AttributeKind::integer, true, "how many inputs are carried"},
                   {"reverse", AttributeKind::flag, true, "visit the slices from last to first"}},
    .infer = infer_repeat,
    .factors = whole_factors,
    .cost = repeat_cost};

} // namespace weft::ops
