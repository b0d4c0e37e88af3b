// SPDX-License-Identifier: Apache-2.0
#include "core/passes/join_updates.h"

#include "core/ir/text.h"
#include "core/ops/op_def.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace weft::passes {
namespace {

using ir::Block;
using ir::Op;
using ir::ValueId;
using ir::ValueIds;

using Positions = std::vector<std::size_t>; // in the block, ascending

/// Whether devices meet in an op.
bool exchanges(const Op& op) {
    const ops::OpDef* def = ops::find_op(op.kind);
    return (def != nullptr && def->collective) ||
           std::any_of(op.body.begin(), op.body.end(), [](const Block& body) {
               return std::any_of(body.ops.begin(), body.ops.end(), exchanges);
           });
}

/// What must come after some ops: whatever reads their results, and every exchange behind one that
/// does. Devices exchange in an order on which they have agreed: were it another on one of them,
/// each would wait for the other.
class Followers {
public:
    explicit Followers(std::size_t values) : read_(values, false) {}

    bool has(const Op& op) const {
        const auto is_read = [&](ValueId id) { return read_[static_cast<std::size_t>(id.index)]; };
        const ValueIds captured = op.is_loop() ? ir::captures(op) : ValueIds();
        return std::any_of(op.inputs.begin(), op.inputs.end(), is_read) ||
               std::any_of(captured.begin(), captured.end(), is_read) ||
               (after_exchange_ && exchanges(op));
    }
    /// One of the ops, or one that comes after them.
    void add(const Op& op) {
        for (const ValueId id : op.outputs) {
            read_[static_cast<std::size_t>(id.index)] = true;
        }
        after_exchange_ = after_exchange_ || exchanges(op);
    }

private:
    std::vector<bool> read_; // [value]: who reads it comes after
    bool after_exchange_ = false;
};

class UpdateJoiner {
public:
    explicit UpdateJoiner(ir::Program& program)
        : program_(program), block_(program.body), is_state_(program.values.size(), false) {
        for (const ir::Port& port : program.arguments) {
            is_state_[index(port.value)] = port.role == ir::Role::state;
        }
    }

    void run() {
        // What makes the first state has one array after the other in memory.
        const bool updates = std::find(is_state_.begin(), is_state_.end(), true) != is_state_.end();
        // Joining moves ops, so that what is alike is looked for again.
        while (updates && join_some()) {
        }
    }

private:
    static std::size_t index(ValueId id) { return static_cast<std::size_t>(id.index); }
    const ir::Type& type(ValueId id) const { return program_.type(id); }

    bool join_some() {
        std::map<std::string, Positions> alike; // by what they do
        for (std::size_t at = 0; at < block_.ops.size(); ++at) {
            if (joinable(block_.ops[at])) {
                alike[text_of(block_.ops[at])].push_back(at);
            }
        }
        for (const auto& [text, positions] : alike) {
            const Positions members = independent(positions);
            if (members.size() > 1) {
                join(members);
                return true;
            }
        }
        return false;
    }

    /// Of numbers and of arrays of one shape.
    bool joinable(const Op& op) const {
        const bool reads_state =
            std::all_of(op.inputs.begin(), op.inputs.end(), [this](ValueId id) {
                return index(id) < is_state_.size() && is_state_[index(id)];
            });
        if (op.outputs.empty() || (op.phase != ir::Phase::update && !reads_state)) {
            return false; // nearly all
        }
        const ops::OpDef* def = ops::find_op(op.kind);
        if (op.kind != "fused" && (def == nullptr || def->elementwise < 0)) {
            return false;
        }
        const ir::Shape& shape = type(op.outputs[0]).shape;
        return shape.rank() > 0 &&
               std::all_of(op.outputs.begin(), op.outputs.end(),
                           [&](ValueId id) { return ir::is_float(type(id).dtype); }) &&
               std::all_of(op.inputs.begin(), op.inputs.end(), [&](ValueId id) {
                   return ir::is_float(type(id).dtype) &&
                          (type(id).shape == shape || type(id).shape.rank() == 0);
               });
    }

    /// All that the kernel of a sweep depends on but for the tensors' shapes.
    std::string text_of(const Op& op) const {
        std::map<ValueId, std::size_t> number;
        std::string text = op.action.text();
        text += ir::phase_name(op.phase);
        const auto define = [&](ValueId id) {
            number.try_emplace(id, number.size());
            text += ' ';
            text += ir::dtype_name(type(id).dtype);
            text += type(id).shape.rank() == 0 ? "" : "[]";
        };
        const auto add = [&](const Op& one) {
            text += '\n' + one.kind.text();
            for (const auto& [name, value] : one.attributes) {
                text += ' ' + name + '=' + ir::to_text(value);
            }
            for (const ValueId id : one.inputs) {
                text += ' ' + std::to_string(number.at(id));
            }
            std::for_each(one.outputs.begin(), one.outputs.end(), define);
        };
        if (!op.structured()) {
            std::for_each(op.inputs.begin(), op.inputs.end(), define);
            add(op);
            return text;
        }
        const Block& body = op.body.front();
        std::for_each(body.arguments.begin(), body.arguments.end(), define);
        std::for_each(body.ops.begin(), body.ops.end(), add);
        for (const ValueId id : body.results) {
            text += ' ' + std::to_string(number.at(id));
        }
        return text;
    }

    /// Those that do not come after another one. Before the update nothing moves.
    Positions independent(const Positions& alike) const {
        Positions members;
        Followers followers(program_.values.size());
        auto next = alike.begin();
        for (std::size_t at = alike.front(); next != alike.end(); ++at) {
            const bool candidate = at == *next;
            next += candidate ? 1 : 0;
            const Op& op = block_.ops[at];
            const bool after = followers.has(op);
            if (after && op.phase != ir::Phase::update) {
                break;
            }
            if (candidate && !after) {
                members.push_back(at);
            }
            if (candidate || after) {
                followers.add(op);
            }
        }
        return members;
    }

    void join(const Positions& members) {
        std::vector<Op> ops;
        std::vector<Op> after; // the followers
        ops.reserve(block_.ops.size());
        Op sweep = begin_sweep(block_.ops[members.front()]);
        sweep.attributes = {{"tensors", static_cast<std::int64_t>(members.size())}};
        Followers followers(program_.values.size());
        for (std::size_t at = 0; at < block_.ops.size(); ++at) {
            Op& op = block_.ops[at];
            if (std::binary_search(members.begin(), members.end(), at)) {
                followers.add(op);
                name_results(op);
                sweep.inputs.insert(sweep.inputs.end(), op.inputs.begin(), op.inputs.end());
                sweep.outputs.insert(sweep.outputs.end(), op.outputs.begin(), op.outputs.end());
            } else if (at < members.back() && followers.has(op)) {
                followers.add(op);
                after.push_back(std::move(op));
            } else {
                ops.push_back(std::move(op));
            }
            if (at == members.back()) {
                ops.push_back(std::move(sweep));
                std::move(after.begin(), after.end(), std::back_inserter(ops));
            }
        }
        block_.ops = std::move(ops);
    }

    /// So that a tensor of the sweep can be told: the sweep has one path for all.
    void name_results(const Op& op) {
        for (const ValueId id : op.outputs) {
            std::string& name = program_.value(id).name;
            name = name.empty() ? op.path.text() : name;
        }
    }

    /// Without operands; a single op becomes a group of one.
    Op begin_sweep(const Op& first) {
        Op out;
        out.kind = "sweep";
        out.path = ir::phase_name(first.phase);
        out.phase = first.phase;
        out.action = first.action;
        if (first.structured()) {
            out.body = first.body;
            return out;
        }
        Block& body = out.body.emplace_back();
        Op& inner = body.ops.emplace_back(first);
        for (ValueId& id : inner.inputs) {
            id = program_.add_value(ir::Type(type(id)));
            body.arguments.push_back(id);
        }
        for (ValueId& id : inner.outputs) {
            id = program_.add_value(ir::Type(type(id)));
        }
        body.results = inner.outputs;
        return out;
    }

    ir::Program& program_;
    Block& block_;
    std::vector<bool> is_state_; // [value that was there]
};

} // namespace

void join_updates(ir::Program& program) {
    UpdateJoiner(program).run();
}

} // namespace weft::passes
