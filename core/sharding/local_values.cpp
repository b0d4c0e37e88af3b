// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/local_values.h"

#include <algorithm>

namespace weft::sharding {
namespace {

using ir::Op;
using ir::ValueId;

std::string key_of(const Sharding& sharding) {
    std::string out;
    for (const DimSharding& dim : sharding.dims) {
        for (const Split& split : dim) {
            for (const int axis : split.axes) {
                out += std::to_string(axis) + ",";
            }
            out += std::to_string(split.parts) + "*" + std::to_string(split.unit) + ";";
        }
        out += "|";
    }
    for (const int axis : sharding.partial) {
        out += "+" + std::to_string(axis);
    }
    return out;
}

} // namespace

Sharding placed(const std::vector<std::vector<int>>& operand, const FactorSplits& splits,
                const ops::FactorRule& rule, const Mesh& mesh) {
    Sharding out = Sharding::replicated(static_cast<int>(operand.size()));
    for (std::size_t dim = 0; dim < operand.size(); ++dim) {
        for (std::size_t at = 0; at < operand[dim].size(); ++at) {
            for (const Split& split : splits[static_cast<std::size_t>(operand[dim][at])]) {
                out.dims[dim].push_back(from_factor(split, operand[dim], at, rule, mesh));
            }
        }
    }
    return out;
}

LocalValues::LocalValues(const ir::Program& whole, const ProgramAnnotations& annotations,
                         const Mesh& mesh, const RuleTable& rules, const Resharder& resharder)
    : whole_(whole), annotations_(annotations), mesh_(mesh), rules_(rules), resharder_(resharder),
      values_(whole.values.size()), makers_(whole.values.size(), nullptr) {}

ValueId LocalValues::get(ValueId id, const Sharding& wanted, const Op& reader, ops::Builder& b) {
    const LocalValue& own = at(id);
    if (own.own == wanted) {
        return own.id;
    }
    if (own.zero && own.own.dims == wanted.dims) {
        return own.id;
    }
    MoveKey key{id.index, own.state ? reader.phase : ir::Phase::forward, key_of(wanted)};
    const auto found = moves_.find(key);
    if (found != moves_.end()) {
        return found->second.id;
    }
    ValueId moved = view_of_moved(id, wanted, b);
    if (!moved.valid()) {
        moved = resharder_.reshard(b, own.id, whole_.type(id), own.own, wanted,
                                   cause_of(id, wanted, reader));
    }
    moves_.emplace(key, Moved{moved, b.phase()});
    scope_.push_back(std::move(key));
    return moved;
}

Cause LocalValues::cause_of(ValueId id, const Sharding& wanted, const Op& reader) {
    const LocalValue& own = at(id);
    const std::string& name = whole_.value(id).name;
    const std::string* sum = nullptr;
    SlotView reading;
    for (const ValueId input : reader.inputs) {
        const LocalValue& operand = at(input);
        sum = sum == nullptr ? operand.sum : sum;
        if (operand.slot != nullptr && reading.slot == nullptr) {
            reading = used(operand.slot);
        }
    }
    Cause out =
        explain({.name = name.empty() && sum != nullptr ? *sum : name,
                 .from = own.own,
                 .to = wanted,
                 .reader = reader,
                 .maker = makers_[static_cast<std::size_t>(id.index)],
                 .sums = own.sums,
                 .slot = own.state ? own.slot : nullptr,
                 .summing = own.sums == nullptr ? SlotView()
                                                : operand_split_over(*own.sums, own.own.partial),
                 .reading = reading,
                 .batch_axes = annotations_.batch_axes,
                 .mesh = mesh_});
    out.reader = name.empty() ? out.reader : name + " for " + out.reader;
    return out;
}

SlotView LocalValues::used(const ir::Port* slot) const {
    const auto found = annotations_.arguments.find(slot->name);
    return found == annotations_.arguments.end() ? SlotView() : SlotView{slot, &found->second.used};
}

/// The slot among the operands of an op that is split over axes along what the op adds up.
SlotView LocalValues::operand_split_over(const Op& op, std::span<const int> axes) {
    for (const ValueId input : op.inputs) {
        const SlotView view = at(input).slot == nullptr ? SlotView() : used(at(input).slot);
        if (view.slot != nullptr && std::any_of(axes.begin(), axes.end(),
                                                [&](int axis) { return view.used->uses(axis); })) {
            return view;
        }
    }
    return {};
}

/// A view of what was moved in this phase needs no move of its own. (What was moved in an
/// earlier one would have to be kept until now.)
ValueId LocalValues::view_of_moved(ValueId id, const Sharding& wanted, ops::Builder& b) {
    const auto found = views_.find(id.index);
    if (found == views_.end() || !wanted.partial.empty()) {
        return {};
    }
    const Op& op = *found->second;
    const ops::FactorRule& rule = rules_.of(op);
    FactorSplits splits(rule.factors.size());
    for (std::size_t dim = 0; dim < wanted.dims.size(); ++dim) {
        const std::vector<int>& factors = rule.outputs[0][dim];
        for (const Split& split : wanted.dims[dim]) {
            std::size_t at = 0;
            std::optional<Split> own;
            for (; at < factors.size() && !own; ++at) {
                own = to_factor(split, factors, at, rule, mesh_);
            }
            if (!own) {
                return {};
            }
            splits[static_cast<std::size_t>(factors[at - 1])].push_back(*own);
        }
    }
    const Sharding source = placed(rule.inputs[0], splits, rule, mesh_);
    const auto moved = moves_.find({op.inputs[0].index, ir::Phase::forward, key_of(source)});
    return moved == moves_.end() || moved->second.phase != b.phase()
               ? ValueId{}
               : ops::reshape(b, moved->second.id,
                              local_type(whole_.type(id), wanted, mesh_).shape);
}

void LocalValues::forget(std::size_t mark) {
    for (std::size_t i = mark; i < scope_.size(); ++i) {
        moves_.erase(scope_[i]);
    }
    scope_.resize(mark);
}

} // namespace weft::sharding
