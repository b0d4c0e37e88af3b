// SPDX-License-Identifier: Apache-2.0
#include "core/passes/shorten_lifetimes.h"

#include "core/ops/op_def.h"

#include <algorithm>
#include <optional>
#include <span>

namespace weft::passes {
namespace {

using ir::Block;
using ir::Op;
using ir::ValueId;
using ir::ValueIds;

class BlockScheduler {
public:
    /// `carried`: values whose memory the block may hand on beside those that it makes.
    BlockScheduler(const ir::Program& program, Block& block, std::span<const ValueId> carried)
        : program_(program), block_(block), replaceable_(program.values.size(), false),
          definition_(program.values.size(), kOutside), uses_(program.values.size()) {
        for (const ValueId id : carried) {
            replaceable_[index(id)] = true;
        }
    }

    void run() {
        find_uses();
        // Position -> ops that follow the op there, in their old order.
        std::vector<std::vector<std::size_t>> followers(block_.ops.size());
        std::vector<bool> moved(block_.ops.size(), false);
        bool any_moved = false;
        for (std::size_t at = 0; at < block_.ops.size(); ++at) {
            if (const std::size_t to = target(at); to < at) {
                followers[to].push_back(at);
                moved[at] = any_moved = true;
                for (const ValueId id : block_.ops[at].outputs) {
                    definition_[index(id)] = static_cast<std::ptrdiff_t>(to);
                }
                for (const ValueId id : block_.ops[at].inputs) {
                    std::vector<std::size_t>& uses = uses_[index(id)];
                    std::erase(uses, at);
                    const auto place = std::lower_bound(uses.begin(), uses.end(), to);
                    if (place == uses.end() || *place != to) {
                        uses.insert(place, to);
                    }
                }
            }
        }
        if (!any_moved) {
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
    static std::size_t index(ValueId id) { return static_cast<std::size_t>(id.index); }

    void find_uses() {
        const auto use = [this](ValueId id, std::size_t at) {
            std::vector<std::size_t>& uses = uses_[index(id)];
            if (uses.empty() || uses.back() != at) {
                uses.push_back(at);
            }
        };
        for (std::size_t at = 0; at < block_.ops.size(); ++at) {
            const Op& op = block_.ops[at];
            for (const ValueId id : op.inputs) {
                use(id, at);
            }
            for (const ValueId id : op.structured() ? ir::captures(op) : ValueIds()) {
                use(id, at);
            }
            for (const ValueId id : op.outputs) {
                definition_[index(id)] = static_cast<std::ptrdiff_t>(at);
                replaceable_[index(id)] = true;
            }
        }
        for (const ValueId id : block_.results) {
            use(id, block_.ops.size());
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
        for (auto input = op.inputs.begin(); input != op.inputs.end(); ++input) {
            if (std::find(op.inputs.begin(), input, *input) != input) {
                continue; // read twice
            }
            if (const std::ptrdiff_t made = definition_[index(*input)]; made != kOutside) {
                latest = std::max(latest.value_or(0), static_cast<std::size_t>(made));
            }
            const std::vector<std::size_t>& uses = uses_[index(*input)];
            if (uses.back() != at || !replaceable_[index(*input)]) {
                continue; // lives on
            }
            freed += program_.type(*input).bytes();
            if (uses.size() > 1) {
                latest = std::max(latest.value_or(0), uses[uses.size() - 2]);
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
    static constexpr std::ptrdiff_t kOutside = -1;
    std::vector<bool> replaceable_;              // [value]
    std::vector<std::ptrdiff_t> definition_;     // [value] position
    std::vector<std::vector<std::size_t>> uses_; // [value] positions, ascending
};

void sort_block(const ir::Program& program, Block& block, std::span<const ValueId> replaceable) {
    for (Op& op : block.ops) {
        if (op.is_loop()) {
            Block& body = op.body.front();
            const auto carried = static_cast<std::size_t>(op.attributes.integer("carried"));
            sort_block(program, body, std::span(body.arguments).first(carried));
        }
    }
    BlockScheduler(program, block, replaceable).run();
}

} // namespace

void shorten_lifetimes(ir::Program& program) {
    sort_block(program, program.body, {});
}

} // namespace weft::passes
