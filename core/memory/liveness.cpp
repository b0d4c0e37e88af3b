// SPDX-License-Identifier: Apache-2.0
#include "core/memory/liveness.h"

#include "core/ops/op_def.h"

#include <algorithm>

namespace weft::memory {
namespace {

using ir::Block;
using ir::Op;
using ir::ValueId;

class Analyser {
public:
    explicit Analyser(const ir::Program& program) : program_(program) {
        const std::size_t count = program.values.size();
        out_.parts.resize(count);
        out_.ranges.resize(count);
        out_.definitions.assign(count, -1);
        out_.loops.assign(count, -1);
        defining_.resize(count);
    }

    Liveness run() {
        for (const ValueId id : program_.body.arguments) {
            define(id, -1, nullptr);
        }
        number(program_.body);
        out_.positions = next_;
        next_ = 0;
        read(program_.body);
        for (const ValueId id : program_.body.results) {
            use(id, out_.positions, 0);
        }
        return std::move(out_);
    }

private:
    static std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }
    static std::size_t carried_of(const Op& op) {
        return static_cast<std::size_t>(op.attributes.integer("carried"));
    }

    void define(ValueId id, int position, const Op* op) {
        out_.definitions[at(id)] = position;
        out_.loops[at(id)] = enclosing_.empty() ? -1 : enclosing_.back();
        out_.ranges[at(id)] = {std::max(0, position), std::max(0, position)};
        defining_[at(id)] = op;
    }

    /// First walk: positions, definitions, parts.
    void number(const Block& block) {
        for (const Op& op : block.ops) {
            if (op.is_loop()) {
                number_loop(op);
            } else if (is_step(op)) {
                const int position = next_++;
                for (const ValueId id : op.outputs) {
                    define(id, position, &op);
                }
            } else {
                define(op.outputs[0], next_, &op);
                out_.parts[at(op.outputs[0])] = {op.inputs[0], -1, 0};
            }
        }
    }

    void number_loop(const Op& op) {
        const int position = next_++;
        const std::size_t index = out_.nesting.size();
        out_.nesting.push_back({position, position});
        enclosing_.push_back(position);
        const Block& body = op.body.front();
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            define(body.arguments[i], position, nullptr);
            if (i >= carried_of(op)) {
                const std::int64_t bytes = program_.type(body.arguments[i]).bytes();
                out_.parts[at(body.arguments[i])] = {op.inputs[i], position, bytes};
            }
        }
        number(body);
        enclosing_.pop_back();
        const int last = next_ - 1;
        out_.nesting[index].last = last;
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            define(op.outputs[i], i < carried_of(op) ? last : position, nullptr);
        }
        for (std::size_t i = carried_of(op); i < op.outputs.size(); ++i) {
            write_into_stack(op, i, position);
        }
    }

    void write_into_stack(const Op& op, std::size_t i, int position) {
        const Block& body = op.body.front();
        const ValueId root = out_.root(body.results[i]);
        if (out_.loops[at(root)] != position || defining_[at(root)] == nullptr) {
            return; // a slice, a carried value or a value from outside: it has its own place
        }
        for (std::size_t k = 0; k < body.results.size(); ++k) {
            if (k != i && out_.root(body.results[k]) == root) {
                return;
            }
        }
        const std::int64_t bytes = program_.type(root).bytes();
        out_.parts[at(root)] = {op.outputs[i], position, bytes};
    }

    /// A read at position `at` keeps the owner of the memory alive; to the end of each loop that
    /// began before position `before`, is still running, and in which the owner was not made.
    void use(ValueId id, int position, int before) {
        const ValueId root = out_.root(id);
        int last = position;
        for (const LoopRange& loop : out_.nesting) {
            const bool around = loop.first < before && loop.last >= position;
            if (around && !inside(out_.loops[at(root)], loop)) {
                last = std::max(last, loop.last);
            }
        }
        out_.ranges[at(root)].last = std::max(out_.ranges[at(root)].last, last);
    }

    /// Whether the loop at position `inner` is `outer` or lies in it.
    static bool inside(int inner, const LoopRange& outer) {
        return inner >= outer.first && inner <= outer.last;
    }

    void read(const Block& block) {
        for (const Op& op : block.ops) {
            if (op.is_loop()) {
                read_loop(op);
            } else if (is_step(op)) {
                const int position = next_++;
                for (const ValueId id : op.inputs) {
                    use(id, position, position);
                }
                follow_exchange(op, position);
            }
        }
    }

    void follow_exchange(const Op& op, int position) {
        const ops::OpDef* def = ops::find_op(op.kind);
        if (def == nullptr || !def->collective) {
            return;
        }
        if (hiding_ != nullptr) {
            for (const ValueId id : hiding_->inputs) {
                use(id, position, position);
            }
        }
        const bool hides = !op.attributes.text("overlaps", "").empty() && !def->over_operands;
        hiding_ = hides ? &op : nullptr;
    }

    void read_loop(const Op& op) {
        const int position = next_++;
        const Block& body = op.body.front();
        hiding_ = nullptr; // what a loop makes does not outlive its iteration
        read(body);
        hiding_ = nullptr;
        const int last = next_ - 1;
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            use(op.inputs[i], i < carried_of(op) ? position : last, position);
        }
        for (const ValueId id : body.results) {
            use(id, last, position + 1);
        }
    }

    const ir::Program& program_;
    Liveness out_;
    std::vector<const Op*> defining_; // null: argument or output of a loop
    std::vector<int> enclosing_;      // positions of the loops around the walk
    const Op* hiding_ = nullptr;      // the exchange before, if it may hide behind what follows it
    int next_ = 0;
};

} // namespace

ValueId Liveness::root(ValueId id) const {
    while (parts[static_cast<std::size_t>(id.index)].of.valid()) {
        id = parts[static_cast<std::size_t>(id.index)].of;
    }
    return id;
}

bool is_step(const Op& op) {
    const ops::OpDef* def = ops::find_op(op.kind);
    return def == nullptr || !def->view;
}

Liveness analyse_liveness(const ir::Program& program) {
    return Analyser(program).run();
}

} // namespace weft::memory
