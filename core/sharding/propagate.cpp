// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/propagate.h"

#include "core/base/error.h"
#include "core/sharding/axis_list.h"

#include <algorithm>
#include <numeric>

namespace weft::sharding {
namespace {

// Each sweep carries a placement across the whole program; loops need a few.
constexpr int kMostSweeps = 12;

Seen open_value(const ir::Type& type) {
    return {std::vector<Seen::Dim>(static_cast<std::size_t>(type.shape.rank())), false};
}

Seen fixed_value(const Sharding& sharding, Strength strength) {
    Seen out;
    out.fixed = true;
    for (const DimSharding& dim : sharding.dims) {
        out.dims.push_back({dim, std::vector<Strength>(dim.size(), strength)});
    }
    return out;
}

/// One op away from the source; never as weak as the next kind of source.
Strength further(Strength strength) {
    const Strength least = (strength - 1) / 1000 * 1000 + 1;
    return std::max(strength - 1, least);
}

using Operands = std::vector<std::vector<std::vector<int>>>;

/// The wish of one factor.
struct Wish {
    std::size_t factor = 0;
    Split split;
    Strength strength = 0;
    int votes = 0; // operands that have it
};

} // namespace

RuleTable::RuleTable(const ir::Program& program) : rule_of_(program.values.size(), nullptr) {
    ir::walk(program.body, [&](const ir::Op& op) {
        if (!op.is_loop()) {
            rule_of_[static_cast<std::size_t>(op.outputs.front().index)] = rule_of(program, op);
        }
    });
    alike_.clear();
}

const ops::FactorRule* RuleTable::rule_of(const ir::Program& program, const ir::Op& op) {
    const auto types = [&](const ir::ValueIds& ids, auto&& each) {
        for (const ir::ValueId id : ids) {
            each(program.type(id));
        }
    };
    std::size_t hash = std::hash<std::string>()(op.kind) + op.inputs.size();
    const auto mix = [&hash](const ir::Type& type) {
        for (const std::int64_t extent : type.shape) {
            hash = hash * 31 + static_cast<std::size_t>(extent);
        }
    };
    types(op.inputs, mix);
    types(op.outputs, mix);
    const auto same_types = [&](const ir::ValueIds& a, const ir::ValueIds& b) {
        return std::equal(
            a.begin(), a.end(), b.begin(), b.end(),
            [&](ir::ValueId x, ir::ValueId y) { return program.type(x) == program.type(y); });
    };
    // What a fused group's rule follows from is in its body.
    std::vector<Entry>& alike = alike_[hash];
    for (const Entry& known : alike) {
        if (!op.structured() && known.op->kind == op.kind &&
            known.op->attributes == op.attributes && same_types(known.op->inputs, op.inputs) &&
            same_types(known.op->outputs, op.outputs)) {
            return known.rule;
        }
    }
    rules_.push_back(ops::op_def(op.kind).factors({program, op}));
    alike.push_back({&op, &rules_.back()});
    return &rules_.back();
}

Propagation::Propagation(const ir::Program& program, const RuleTable& rules,
                         const ProgramAnnotations& annotations, const Mesh& mesh,
                         const std::stop_token& stop)
    : program_(program), rules_(rules), mesh_(mesh), changed_(program.values.size(), 0),
      visited_(program.values.size(), -1), factors_(program.values.size()),
      in_update_(program.values.size()) {
    values_.reserve(program.values.size());
    for (const ir::Value& value : program.values) {
        values_.push_back(open_value(value.type));
    }
    for (const ir::Port& port : program.arguments) {
        const auto found = annotations.arguments.find(port.name);
        if (found != annotations.arguments.end()) {
            const bool state = port.role == ir::Role::state;
            fix(port.value, found->second.used, state ? kAsked : kBatch);
            if (!(found->second.stored == found->second.used)) {
                in_update_[static_cast<std::size_t>(port.value.index)] =
                    fixed_value(found->second.stored, kAsked);
            }
        } else if (port.role == ir::Role::scalar) {
            fix(port.value, Sharding::replicated(program.type(port.value).shape.rank()), kWeak);
        }
    }
    for (std::size_t i = 0; i < program.values.size(); ++i) {
        const auto found = annotations.values.find(program.values[i].name);
        if (found != annotations.values.end()) {
            fix_gradient({static_cast<std::int32_t>(i)}, found->second.stored,
                         annotations.batch_axes);
        }
    }
    for (const ir::Op& op : program.body.ops) {
        if (!op.is_loop()) {
            continue;
        }
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            const auto found = annotations.values.find(program.value(op.outputs[i]).name);
            if (found != annotations.values.end()) {
                fix_gradient(op.body.front().arguments[i], found->second.used,
                             annotations.batch_axes);
                fix_gradient(op.body.front().results[i], found->second.used,
                             annotations.batch_axes);
            }
        }
    }
    for (const ir::Port& port : program.results) {
        const auto found = annotations.results.find(port.name);
        if (port.role == ir::Role::state && found != annotations.results.end() &&
            !values_[static_cast<std::size_t>(port.value.index)].fixed) {
            fix(port.value, found->second, kAsked);
        }
    }
    for (int i = 0; i < kMostSweeps; ++i) {
        const bool forward = sweep(program.body, true, stop);
        const bool backward = sweep(program.body, false, stop);
        if (!forward && !backward) {
            break;
        }
    }
}

void Propagation::fix(ir::ValueId id, const Sharding& sharding, Strength strength) {
    values_[static_cast<std::size_t>(id.index)] = fixed_value(sharding, strength);
}

void Propagation::fix_gradient(ir::ValueId id, const Sharding& sharding,
                               std::span<const int> weak) {
    fix(id, sharding, kAsked);
    for (Seen::Dim& dim : values_[static_cast<std::size_t>(id.index)].dims) {
        for (std::size_t s = 0; s < dim.splits.size(); ++s) {
            if (share(dim.splits[s].axes, weak)) {
                dim.strengths[s] = kWeak;
            }
        }
    }
}

const Seen& Propagation::seen(ir::ValueId id, ir::Phase phase) const {
    const auto index = static_cast<std::size_t>(id.index);
    return phase == ir::Phase::update && in_update_[index] ? *in_update_[index] : values_[index];
}

bool Propagation::sweep(const ir::Block& block, bool forward, const std::stop_token& stop) {
    bool changed = false;
    const auto visit_one = [&](const ir::Op& op) {
        if (stop.stop_requested()) {
            throw Error(ErrorKind::runtime, "program " + program_.name,
                        "compilation was stopped while placing its values");
        }
        if (!op.is_loop()) {
            changed |= visit(op);
            return;
        }
        changed |= visit_loop(op);
        changed |= sweep(op.body.front(), forward, stop);
        changed |= visit_loop(op);
    };
    if (forward) {
        std::for_each(block.ops.begin(), block.ops.end(), visit_one);
    } else {
        std::for_each(block.ops.rbegin(), block.ops.rend(), visit_one);
    }
    return changed;
}

std::vector<DimSharding> Propagation::factors(const ir::Op& op) const {
    return unchanged(op) ? factors_[static_cast<std::size_t>(op.outputs.front().index)]
                         : find_factors(op);
}

std::vector<DimSharding> Propagation::find_factors(const ir::Op& op) const {
    const ops::FactorRule& rule = rules_.of(op);
    const ops::OpDef& def = ops::op_def(op.kind);
    std::vector<Wish> wishes;
    const auto wish = [&](std::size_t factor, const Split& split, Strength strength) {
        const auto same = std::find_if(wishes.begin(), wishes.end(), [&](const Wish& other) {
            return other.factor == factor && other.split == split;
        });
        if (same == wishes.end()) {
            wishes.push_back({factor, split, strength, 1});
        } else {
            same->strength = std::max(same->strength, strength);
            ++same->votes;
        }
    };
    const auto look = [&](const ir::ValueIds& ids, const Operands& operands) {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const Seen& own = seen(ids[i], op.phase);
            for (std::size_t dim = 0; dim < own.dims.size(); ++dim) {
                const std::vector<int>& of_dim = operands[i][dim];
                for (std::size_t s = 0; s < own.dims[dim].splits.size(); ++s) {
                    for (std::size_t at = 0; at < of_dim.size(); ++at) {
                        if (const auto split =
                                to_factor(own.dims[dim].splits[s], of_dim, at, rule, mesh_)) {
                            wish(static_cast<std::size_t>(of_dim[at]), *split,
                                 own.dims[dim].strengths[s]);
                            break;
                        }
                    }
                }
            }
        }
    };
    look(op.inputs, rule.inputs);
    look(op.outputs, rule.outputs);
    std::stable_sort(wishes.begin(), wishes.end(), [](const Wish& a, const Wish& b) {
        return a.strength != b.strength ? a.strength > b.strength
               : a.votes != b.votes     ? a.votes > b.votes
                                        : a.factor < b.factor;
    });
    std::vector<DimSharding> out(rule.factors.size());
    std::vector<int> taken;
    for (const Wish& one : wishes) {
        const ops::Factor& factor = rule.factors[one.factor];
        const bool may = factor.combine != ops::Combine::whole &&
                         (factor.combine != ops::Combine::custom || def.split != nullptr);
        if (may && !share(one.split.axes, taken) && fits(one.split, factor.size, mesh_) &&
            insert_split(out[one.factor], one.split, factor.size, mesh_) >= 0) {
            taken.insert(taken.end(), one.split.axes.begin(), one.split.axes.end());
        }
    }
    return out;
}

// Since the last visit. Nothing is as old as an op that was not visited: clocks count from 0.
bool Propagation::unchanged(const ir::Op& op) const {
    const int visited = visited_[static_cast<std::size_t>(op.outputs.front().index)];
    const auto older = [&](ir::ValueId id) {
        return changed_[static_cast<std::size_t>(id.index)] <= visited;
    };
    return std::all_of(op.inputs.begin(), op.inputs.end(), older) &&
           std::all_of(op.outputs.begin(), op.outputs.end(), older);
}

bool Propagation::visit(const ir::Op& op) {
    if (unchanged(op)) {
        return false;
    }
    const ops::FactorRule& rule = rules_.of(op);
    const auto own = static_cast<std::size_t>(op.outputs.front().index);
    visited_[own] = clock_;
    factors_[own] = find_factors(op);
    const auto& splits = factors_[own];
    if (std::all_of(splits.begin(), splits.end(), [](const auto& s) { return s.empty(); })) {
        return false;
    }
    const auto each = [&](auto&& fn) {
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            fn(op.inputs[i], rule.inputs[i]);
        }
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            fn(op.outputs[i], rule.outputs[i]);
        }
    };
    // A split is as strong as in the operand that is surest of it.
    const auto strength_of = [&](const Split& split) {
        Strength out = 0;
        each([&](ir::ValueId id, const std::vector<std::vector<int>>&) {
            for (const Seen::Dim& dim : seen(id, op.phase).dims) {
                for (std::size_t s = 0; s < dim.splits.size(); ++s) {
                    if (dim.splits[s].axes == split.axes) {
                        out = std::max(out, dim.strengths[s]);
                    }
                }
            }
        });
        return further(out);
    };
    bool changed = false;
    each([&](ir::ValueId id, const std::vector<std::vector<int>>& operand) {
        if (op.phase == ir::Phase::update && in_update_[static_cast<std::size_t>(id.index)]) {
            return;
        }
        for (std::size_t dim = 0; dim < operand.size(); ++dim) {
            for (std::size_t at = 0; at < operand[dim].size(); ++at) {
                for (const Split& split : splits[static_cast<std::size_t>(operand[dim][at])]) {
                    changed |= offer(id, static_cast<int>(dim),
                                     from_factor(split, operand[dim], at, rule, mesh_),
                                     strength_of(split));
                }
            }
        }
    });
    return changed;
}

// Takes a split where nothing is known of its axes, or where less was sure.
bool Propagation::offer(ir::ValueId id, int dim, const Split& split, Strength strength) {
    const bool taken = try_offer(id, dim, split, strength);
    if (taken) {
        changed_[static_cast<std::size_t>(id.index)] = ++clock_;
    }
    return taken;
}

bool Propagation::try_offer(ir::ValueId id, int dim, const Split& split, Strength strength) {
    Seen& own = values_[static_cast<std::size_t>(id.index)];
    if (own.fixed) {
        return false;
    }
    Seen::Dim& place = own.dims[static_cast<std::size_t>(dim)];
    for (Seen::Dim& other : own.dims) {
        for (std::size_t s = other.splits.size(); s-- > 0;) {
            if (!share(other.splits[s].axes, split.axes)) {
                continue;
            }
            if (other.strengths[s] >= strength) {
                return false;
            }
            if (&other == &place && other.splits[s] == split) {
                other.strengths[s] = strength;
                return true;
            }
            other.splits.erase(other.splits.begin() + static_cast<std::ptrdiff_t>(s));
            other.strengths.erase(other.strengths.begin() + static_cast<std::ptrdiff_t>(s));
        }
    }
    const int at = insert_split(place.splits, split, program_.type(id).shape[dim], mesh_);
    if (at >= 0) {
        place.strengths.insert(place.strengths.begin() + at, strength);
    }
    return at >= 0;
}

// Dimension i + skip_a of `a` is dimension i + skip_b of `b`.
bool Propagation::link(ir::ValueId a, ir::ValueId b, int skip_a, int skip_b) {
    bool changed = false;
    const auto pass = [&](ir::ValueId from, ir::ValueId to, int skip_from, int skip_to) {
        const Seen source = values_[static_cast<std::size_t>(from.index)];
        for (std::size_t dim = static_cast<std::size_t>(skip_from); dim < source.dims.size();
             ++dim) {
            for (std::size_t s = 0; s < source.dims[dim].splits.size(); ++s) {
                changed |=
                    offer(to, static_cast<int>(dim) - skip_from + skip_to,
                          source.dims[dim].splits[s], further(source.dims[dim].strengths[s]));
            }
        }
    };
    pass(a, b, skip_a, skip_b);
    pass(b, a, skip_b, skip_a);
    return changed;
}

bool Propagation::visit_loop(const ir::Op& op) {
    const ir::Block& body = op.body.front();
    const auto carried = static_cast<std::size_t>(op.attributes.integer("carried"));
    bool changed = false;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const int skip = i < carried ? 0 : 1;
        changed |= link(op.inputs[i], body.arguments[i], skip, 0);
    }
    for (std::size_t i = 0; i < body.results.size(); ++i) {
        const int skip = i < carried ? 0 : 1;
        if (i < carried) {
            changed |= link(body.arguments[i], body.results[i], 0, 0);
        }
        changed |= link(body.results[i], op.outputs[i], 0, skip);
    }
    return changed;
}

} // namespace weft::sharding
