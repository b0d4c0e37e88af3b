// SPDX-License-Identifier: Apache-2.0
#include "core/passes/simplify.h"

#include <algorithm>

namespace weft::passes {
namespace {

using ir::Block;
using ir::Op;
using ir::ValueId;
using ir::ValueIds;

class DeadCodeRemover {
public:
    explicit DeadCodeRemover(ir::Program& program)
        : program_(program), live_(program.values.size(), false) {}

    bool run() {
        for (const ValueId id : program_.body.results) {
            mark(id);
        }
        mark_block(program_.body);
        sweep(program_.body);
        return changed_;
    }

private:
    bool live(ValueId id) const { return live_[static_cast<std::size_t>(id.index)]; }
    void mark(ValueId id) { live_[static_cast<std::size_t>(id.index)] = true; }
    bool any_live(const ValueIds& ids) const {
        return std::any_of(ids.begin(), ids.end(), [this](ValueId id) { return live(id); });
    }

    void mark_block(const Block& block) {
        for (auto op = block.ops.rbegin(); op != block.ops.rend(); ++op) {
            if (!any_live(op->outputs)) {
                continue;
            }
            if (op->is_loop()) {
                mark_loop(*op);
                continue;
            }
            std::for_each(op->inputs.begin(), op->inputs.end(), [this](ValueId id) { mark(id); });
        }
    }

    void mark_loop(const Op& op) {
        const Block& body = op.body.front();
        const auto carried = static_cast<std::size_t>(op.attributes.integer("carried"));
        // A carried value that the body reads needs the result of the iteration before.
        bool grew = true;
        while (grew) {
            grew = false;
            for (std::size_t i = 0; i < body.results.size(); ++i) {
                const bool needed = live(op.outputs[i]) || (i < carried && live(body.arguments[i]));
                if (needed && !live(body.results[i])) {
                    mark(body.results[i]);
                    grew = true;
                }
            }
            const auto before = carried_live(body, carried);
            mark_block(body);
            grew = grew || carried_live(body, carried) != before;
        }
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            if (live(body.arguments[i]) || (i < carried && live(op.outputs[i]))) {
                mark(op.inputs[i]);
            }
        }
    }

    std::ptrdiff_t carried_live(const Block& body, std::size_t carried) const {
        return std::count_if(body.arguments.begin(),
                             body.arguments.begin() + static_cast<std::ptrdiff_t>(carried),
                             [this](ValueId id) { return live(id); });
    }

    void sweep(Block& block) {
        const auto dead = [this](const Op& op) { return !any_live(op.outputs); };
        changed_ = std::erase_if(block.ops, dead) > 0 || changed_;
        for (Op& op : block.ops) {
            if (op.is_loop()) {
                sweep_loop(op);
                sweep(op.body.front());
            }
        }
    }

    void sweep_loop(Op& op) {
        Block& body = op.body.front();
        const auto carried = static_cast<std::size_t>(op.attributes.integer("carried"));
        std::int64_t kept_carried = 0;
        ValueIds inputs, arguments, outputs, results;
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            if (live(body.arguments[i]) || (i < carried && live(op.outputs[i]))) {
                inputs.push_back(op.inputs[i]);
                arguments.push_back(body.arguments[i]);
                kept_carried += i < carried ? 1 : 0;
            }
        }
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            if (live(op.outputs[i]) || (i < carried && live(body.arguments[i]))) {
                outputs.push_back(op.outputs[i]);
                results.push_back(body.results[i]);
            }
        }
        changed_ =
            changed_ || inputs.size() < op.inputs.size() || outputs.size() < op.outputs.size();
        op.inputs = std::move(inputs);
        op.outputs = std::move(outputs);
        body.arguments = std::move(arguments);
        body.results = std::move(results);
        op.attributes.set("carried", kept_carried);
    }

    ir::Program& program_;
    std::vector<bool> live_;
    bool changed_ = false;
};

/// Gives out numbers in order of definition.
class Renumberer {
public:
    explicit Renumberer(ir::Program& program) : program_(program), number_(program.values.size()) {}

    void run() {
        values_.reserve(program_.values.size());
        visit(program_.body);
        for (std::size_t i = 0; i < program_.arguments.size(); ++i) {
            program_.arguments[i].value = program_.body.arguments[i];
        }
        for (std::size_t i = 0; i < program_.results.size(); ++i) {
            program_.results[i].value = program_.body.results[i];
        }
        program_.values = std::move(values_);
    }

private:
    void define(ValueIds& ids) {
        for (ValueId& id : ids) {
            const ValueId fresh{static_cast<std::int32_t>(values_.size())};
            values_.push_back(std::move(program_.value(id)));
            number_[static_cast<std::size_t>(id.index)] = fresh;
            id = fresh;
        }
    }

    void use(ValueIds& ids) const {
        for (ValueId& id : ids) {
            id = number_[static_cast<std::size_t>(id.index)];
        }
    }

    void visit(Block& block) {
        define(block.arguments);
        for (Op& op : block.ops) {
            use(op.inputs);
            for (Block& body : op.body) {
                visit(body);
            }
            define(op.outputs);
        }
        use(block.results);
    }

    ir::Program& program_;
    std::vector<ir::Value> values_;
    ValueIds number_;
};

} // namespace

bool remove_dead_code(ir::Program& program) {
    return DeadCodeRemover(program).run();
}

void renumber_values(ir::Program& program) {
    Renumberer(program).run();
}

} // namespace weft::passes
