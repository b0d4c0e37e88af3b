// SPDX-License-Identifier: Apache-2.0
#include "core/passes/shorten_lifetimes.h"

#include "core/ops/op_def.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace weft::passes {
namespace {

using ir::Block;
using ir::Op;
using ir::ValueId;

class BlockScheduler {
public:
    /// `replaceable`: values whose memory the block may hand on: what it makes and what it carries.
    BlockScheduler(const ir::Program& program, Block& block, std::set<ValueId> replaceable)
        : program_(program), block_(block), replaceable_(std::move(replaceable)) {}

    void run() {
        find_uses();
        // Position -> ops that follow the op there, in their old order.
        std::map<std::size_t, std::vector<std::size_t>> followers;
        std::vector<bool> moved(block_.ops.size(), false);
        for (std::size_t at = 0; at < block_.ops.size(); ++at) {
            if (const std::size_t to = target(at); to < at) {
                followers[to].push_back(at);
                moved[at] = true;
                for (const ValueId id : block_.ops[at].outputs) {
                    definition_[id] = to;
                }
                for (const ValueId id : block_.ops[at].inputs) {
                    uses_[id].erase(at);
                    uses_[id].insert(to);
                }
            }
        }
        if (followers.empty()) {
            return;
        }
        std::vector<Op> ops;
        ops.reserve(block_.ops.size());
        for (std::size_t at = 0; at < moved.size(); ++at) {
            if (moved[at]) {
                continue;
            }
            ops.push_back(std::move(block_.ops[at]));
            for (const std::size_t follower : followers[at]) {
                ops.push_back(std::move(block_.ops[follower]));
            }
        }
        block_.ops = std::move(ops);
    }

private:
    void find_uses() {
        for (std::size_t at = 0; at < block_.ops.size(); ++at) {
            const Op& op = block_.ops[at];
            for (const ValueId id : op.inputs) {
                uses_[id].insert(at);
            }
            for (const ValueId id : ir::captures(op)) {
                uses_[id].insert(at);
            }
            for (const ValueId id : op.outputs) {
                definition_[id] = at;
                replaceable_.insert(id);
            }
        }
        for (const ValueId id : block_.results) {
            uses_[id].insert(block_.ops.size());
        }
    }

    /// The position behind which the op goes; its own when it stays.
    std::size_t target(std::size_t at) const {
        const Op& op = block_.ops[at];
        const ops::OpDef* def = ops::find_op(op.kind);
        const bool movable = op.kind == "fused" || (def != nullptr && def->elementwise >= 0);
        if (!movable) {
            return at;
        }
        std::optional<std::size_t> latest; // what must run before: definitions and other last reads
        std::int64_t freed = 0;
        for (const ValueId id : std::set<ValueId>(op.inputs.begin(), op.inputs.end())) {
            if (const auto made = definition_.find(id); made != definition_.end()) {
                latest = std::max(latest.value_or(0), made->second);
            }
            const std::set<std::size_t>& uses = uses_.at(id);
            if (*uses.rbegin() != at || replaceable_.count(id) == 0) {
                continue; // lives on
            }
            freed += program_.type(id).bytes();
            if (uses.size() > 1) {
                latest = std::max(latest.value_or(0), *std::next(uses.rbegin()));
            }
        }
        const bool worth =
            latest && *latest + 1 < at && block_.ops[*latest].phase == op.phase && freed > made(op);
        return worth ? *latest : at;
    }

    std::int64_t made(const Op& op) const {
        std::int64_t bytes = 0;
        for (const ValueId id : op.outputs) {
            bytes += program_.type(id).bytes();
        }
        return bytes;
    }

    const ir::Program& program_;
    Block& block_;
    std::set<ValueId> replaceable_;
    std::map<ValueId, std::size_t> definition_;
    std::map<ValueId, std::set<std::size_t>> uses_;
};

void visit(const ir::Program& program, Block& block, std::set<ValueId> replaceable) {
    for (Op& op : block.ops) {
        if (op.kind == "repeat") {
            Block& body = op.body.front();
            const auto carried = static_cast<std::ptrdiff_t>(op.attributes.integer("carried"));
            visit(program, body, {body.arguments.begin(), body.arguments.begin() + carried});
        }
    }
    BlockScheduler(program, block, std::move(replaceable)).run();
}

} // namespace

void shorten_lifetimes(ir::Program& program) {
    visit(program, program.body, {});
}

} // namespace weft::passes
