// SPDX-License-Identifier: Apache-2.0
#include "core/passes/fuse_elementwise.h"

#include "core/ops/op_def.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace weft::passes {
namespace {

using ir::Block;
using ir::DType;
using ir::Op;
using ir::ValueId;
using ir::ValueIds;

// Below this size the lifetime of an input does not matter.
constexpr std::int64_t kSmallBytes = 4096;

struct Group {
    std::vector<std::size_t> members; // positions in the block, ascending
    ir::Shape shape;
    ir::Phase phase = ir::Phase::forward;
    int kind = 0; // groups of different kinds stay apart
    bool f64 = false;
};

class BlockFuser {
public:
    BlockFuser(ir::Program& program, Block& block, const OpGroups& kinds)
        : program_(program), block_(block), kinds_(kinds), first_use_(program.values.size() + 1),
          definition_(program.values.size(), kNowhere), escapes_(program.values.size()),
          group_of_(block.ops.size(), kNowhere) {}

    void run() {
        find_uses();
        for (std::size_t at = 0; at < block_.ops.size(); ++at) {
            if (groupable(block_.ops[at])) {
                place(at);
            }
        }
        rebuild();
    }

private:
    static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

    static std::size_t index(ValueId id) { return static_cast<std::size_t>(id.index); }
    const ir::Type& type(ValueId id) const { return program_.type(id); }

    bool groupable(const Op& op) const {
        const ops::OpDef* def = ops::find_op(op.kind);
        if (def == nullptr || def->elementwise < 0) {
            return false;
        }
        const DType out = type(op.outputs[0]).dtype;
        return ir::is_float(out) &&
               std::all_of(op.inputs.begin(), op.inputs.end(), [&](ValueId id) {
                   const DType in = type(id).dtype;
                   return ir::is_float(in) && (in == DType::f64) == (out == DType::f64);
               });
    }

    /// Who reads each value; a loop reads what its body captures.
    void find_uses() {
        std::vector<std::pair<ValueId, std::size_t>> found; // by position
        for (std::size_t at = 0; at < block_.ops.size(); ++at) {
            const Op& op = block_.ops[at];
            for (const ValueId id : op.inputs) {
                found.emplace_back(id, at);
            }
            for (const ValueId id : op.structured() ? ir::captures(op) : ValueIds()) {
                found.emplace_back(id, at);
            }
            for (const ValueId id : op.outputs) {
                definition_[index(id)] = at;
            }
        }
        for (const auto& [id, at] : found) {
            ++first_use_[index(id) + 1];
        }
        std::partial_sum(first_use_.begin(), first_use_.end(), first_use_.begin());
        uses_.resize(found.size());
        std::vector<std::size_t> next(first_use_.begin(), first_use_.end() - 1);
        for (const auto& [id, at] : found) {
            uses_[next[index(id)]++] = at;
        }
        for (const ValueId id : block_.results) {
            escapes_[index(id)] = true;
        }
    }

    /// Positions in this block that read the value, ascending.
    std::span<const std::size_t> uses(ValueId id) const {
        const std::size_t first = first_use_[index(id)];
        return {uses_.data() + first, first_use_[index(id) + 1] - first};
    }

    /// Adds the op to the groups of its operands where that is legal, joining several into one.
    void place(std::size_t at) {
        const Op& op = block_.ops[at];
        Group joined{{at},
                     type(op.outputs[0]).shape,
                     op.phase,
                     kinds_(op),
                     type(op.outputs[0]).dtype == DType::f64};
        std::set<std::size_t> absorbed;
        for (const ValueId input : op.inputs) {
            const std::size_t definition = definition_[index(input)];
            const std::size_t found = definition == kNowhere ? kNowhere : group_of_[definition];
            if (found == kNowhere || absorbed.count(found) > 0) {
                continue;
            }
            const Group& candidate = groups_[found];
            if (!same_kind(joined, candidate) || !adjacent(candidate, at)) {
                continue;
            }
            Group larger = joined;
            larger.members.insert(larger.members.end(), candidate.members.begin(),
                                  candidate.members.end());
            std::sort(larger.members.begin(), larger.members.end());
            if (legal(larger, at)) {
                joined = std::move(larger);
                absorbed.insert(found);
            }
        }
        for (const std::size_t number : absorbed) {
            groups_[number].members.clear();
        }
        for (const std::size_t member : joined.members) {
            group_of_[member] = groups_.size();
        }
        groups_.push_back(std::move(joined));
    }

    static bool same_kind(const Group& a, const Group& b) {
        return a.shape == b.shape && a.phase == b.phase && a.kind == b.kind && a.f64 == b.f64;
    }

    bool adjacent(const Group& group, std::size_t at) const {
        // Parameters, gradients and optimizer state are alive during the whole update anyway.
        if (group.phase == ir::Phase::update || group.shape.elements() * 4 <= kSmallBytes) {
            return true;
        }
        for (std::size_t between = group.members.back() + 1; between < at; ++between) {
            const Op& op = block_.ops[between];
            const ops::OpDef* def = ops::find_op(op.kind);
            const bool cheap =
                def != nullptr && (def->elementwise >= 0 || def->view || op.inputs.empty());
            if (!cheap) {
                return false;
            }
        }
        return true;
    }

    /// Whether the members may run together at position `at`.
    bool legal(const Group& group, std::size_t at) const {
        if (static_cast<int>(group.members.size()) > kMaxGroupSteps) {
            return false;
        }
        const auto is_member = [&](std::size_t position) {
            return std::binary_search(group.members.begin(), group.members.end(), position);
        };
        ValueIds inputs;
        for (const std::size_t member : group.members) {
            const Op& op = block_.ops[member];
            for (const ValueId id : op.inputs) {
                const std::size_t definition = definition_[index(id)];
                if (definition == kNowhere || !is_member(definition)) {
                    inputs.push_back(id);
                }
            }
            for (const std::size_t use : uses(op.outputs[0])) {
                if (use < at && !is_member(use)) {
                    return false;
                }
            }
        }
        std::sort(inputs.begin(), inputs.end());
        const auto behind = std::unique(inputs.begin(), inputs.end());
        return behind - inputs.begin() <= kMaxGroupInputs;
    }

    void rebuild() {
        std::vector<Op> ops;
        ops.reserve(block_.ops.size());
        for (std::size_t at = 0; at < block_.ops.size(); ++at) {
            const Group* group = group_of_[at] == kNowhere ? nullptr : &groups_[group_of_[at]];
            if (group == nullptr || group->members.size() == 1) {
                ops.push_back(std::move(block_.ops[at]));
            } else if (group->members.back() == at) {
                Op sweep = fused(*group);
                if (!sweep.outputs.empty()) { // else nothing reads the group
                    ops.push_back(std::move(sweep));
                }
            }
        }
        block_.ops = std::move(ops);
    }

    /// The values of the group that something outside of it reads.
    bool leaves(const Group& group, ValueId id) const {
        if (escapes_[index(id)]) {
            return true;
        }
        const auto readers = uses(id);
        return std::any_of(readers.begin(), readers.end(), [&group](std::size_t use) {
            return !std::binary_search(group.members.begin(), group.members.end(), use);
        });
    }

    Op fused(const Group& group) {
        Op out;
        out.kind = "fused";
        out.path = block_.ops[group.members.back()].path;
        out.phase = group.phase;
        out.body.emplace_back();
        Block& body = out.body.front();
        std::map<ValueId, ValueId> inner;
        for (const std::size_t member : group.members) {
            Op op = block_.ops[member];
            for (ValueId& id : op.inputs) {
                const auto [found, is_new] = inner.try_emplace(id);
                if (is_new) {
                    found->second = program_.add_value(ir::Type(type(id)));
                    out.inputs.push_back(id);
                    body.arguments.push_back(found->second);
                }
                id = found->second;
            }
            const ValueId outer = op.outputs[0];
            op.outputs[0] = program_.add_value(ir::Type(type(outer)));
            inner[outer] = op.outputs[0];
            if (leaves(group, outer)) {
                out.outputs.push_back(outer);
                body.results.push_back(op.outputs[0]);
            }
            body.ops.push_back(std::move(op));
        }
        return out;
    }

    ir::Program& program_;
    Block& block_;
    const OpGroups& kinds_;
    std::vector<std::size_t> uses_;       // positions, value by value
    std::vector<std::size_t> first_use_;  // [value that was there] place in uses_
    std::vector<std::size_t> definition_; // [the same] position in this block
    std::vector<bool> escapes_;           // [the same] a result of the block
    std::vector<Group> groups_;
    std::vector<std::size_t> group_of_; // [position]
};

} // namespace

void fuse_elementwise(ir::Program& program, const OpGroups& kinds) {
    ir::walk_blocks(program.body, [&](Block& block) { BlockFuser(program, block, kinds).run(); });
}

} // namespace weft::passes
