// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/loop_sums.h"

#include "core/sharding/axis_list.h"
#include "core/sharding/mesh_context.h"

#include <algorithm>

namespace weft::sharding {

using ir::Op;
using ir::ValueId;
using ops::Combine;
using ops::Partial;

Partial partial_mode(const ir::Program& program, const Op& op) {
    const ops::OpDef& def = ops::op_def(op.kind);
    return def.partial == nullptr ? Partial::resolve : def.partial({program, op});
}

bool has_factor(const std::vector<std::vector<int>>& operand, std::size_t factor) {
    return std::any_of(operand.begin(), operand.end(), [&](const std::vector<int>& dim) {
        return std::find(dim.begin(), dim.end(), static_cast<int>(factor)) != dim.end();
    });
}

LoopSums::LoopSums(const ir::Program& program, const RuleTable& rules,
                   const Propagation& propagation)
    : program_(program), rules_(rules), propagation_(propagation),
      producers_(program.values.size()) {
    find_producers(program.body);
}

void LoopSums::find_producers(const ir::Block& block) {
    for (const Op& op : block.ops) {
        for (const ValueId id : op.outputs) {
            producers_[static_cast<std::size_t>(id.index)] = {&op, &block};
        }
        for (const ir::Block& body : op.body) {
            find_producers(body);
        }
    }
}

std::vector<int> LoopSums::unsummed(const ir::Block& body, std::size_t index) const {
    const Op* maker = producer(body, body.results[index]);
    if (maker == nullptr || maker->kind != "add") {
        return {};
    }
    const ValueId carried = body.arguments[index];
    if (maker->inputs[0] != carried && maker->inputs[1] != carried) {
        return {};
    }
    return natural_sums(body, maker->inputs[maker->inputs[0] == carried ? 1 : 0]);
}

/// The op of the block itself that makes the value; null: there is none.
const Op* LoopSums::producer(const ir::Block& block, ValueId id) const {
    const Producer& found = producers_[static_cast<std::size_t>(id.index)];
    return found.block == &block ? found.op : nullptr;
}

/// Axes that an op sums over where it makes the output.
std::vector<int> LoopSums::contracted_axes(const Op& op, ValueId output) const {
    const ops::FactorRule& rule = rules_.of(op);
    const FactorSplits splits = propagation_.factors(op);
    const auto number = static_cast<std::size_t>(
        std::find(op.outputs.begin(), op.outputs.end(), output) - op.outputs.begin());
    std::vector<int> axes;
    for (std::size_t f = 0; f < splits.size(); ++f) {
        if (rule.factors[f].combine == Combine::sum && !has_factor(rule.outputs[number], f)) {
            for (const Split& split : splits[f]) {
                add_axes(axes, split.axes);
            }
        }
    }
    return axes;
}

/// Sums that a value would have if nothing were added up on the way.
std::vector<int> LoopSums::natural_sums(const ir::Block& block, ValueId id) const {
    const Op* op = producer(block, id);
    if (op == nullptr || op->is_loop()) {
        return {};
    }
    std::vector<int> axes = contracted_axes(*op, id);
    const Partial mode = partial_mode(program_, *op);
    if (mode == Partial::resolve || !axes.empty()) {
        return axes;
    }
    for (const ValueId input : op->inputs) {
        const auto sums = natural_sums(block, input);
        if (mode == Partial::together && !axes.empty() && sums != axes) {
            return {};
        }
        const bool counts = ir::is_float(program_.type(input).dtype) && !is_zero(block, input);
        if (!sums.empty()) {
            axes = sums;
        } else if (mode == Partial::together && counts) {
            return {};
        }
    }
    return axes;
}

bool LoopSums::is_zero(const ir::Block& block, ValueId id) const {
    const Op* op = producer(block, id);
    return op != nullptr && op->kind == "constant" && op->attributes.real("value") == 0.0;
}

} // namespace weft::sharding
