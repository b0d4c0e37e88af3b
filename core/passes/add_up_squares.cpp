// SPDX-License-Identifier: Apache-2.0
#include "core/passes/add_up_squares.h"

#include "core/passes/rewrite.h"

#include <set>
#include <vector>

namespace weft::passes {
namespace {

using ir::Op;
using ir::Phase;
using ir::ValueId;

class SquareAdder {
public:
    SquareAdder(ir::Program& program, const OpGroups& kinds)
        : program_(program), kinds_(kinds), uses_(count_uses(program)),
          sums_(program.values.size(), nullptr) {}

    void run() {
        std::vector<Op>& ops = program_.body.ops;
        for (Op& op : ops) {
            if (op.kind == "add" && op.phase == Phase::update) {
                join(op);
            }
            if (op.kind == "sum_squares" && op.phase == Phase::update) {
                sums_[index(op.outputs[0])] = &op;
            }
        }
        std::erase_if(ops, [this](const Op& op) {
            return op.kind == "sum_squares" && gone_.contains(op.outputs[0]);
        });
    }

private:
    static std::size_t index(ValueId id) { return static_cast<std::size_t>(id.index); }

    /// The op that makes this term; null where it has to stay.
    Op* sum(ValueId id) const { return uses_[index(id)] == 1 ? sums_[index(id)] : nullptr; }

    void join(Op& op) {
        Op* const before = sum(op.inputs[0]);
        Op* const last = sum(op.inputs[1]);
        if (before == nullptr || last == nullptr || last->inputs.size() != 1 ||
            program_.type(before->inputs[0]).dtype != program_.type(last->inputs[0]).dtype ||
            kinds_(*before) != kinds_(*last)) {
            return;
        }
        op.kind = "sum_squares";
        op.path = ir::phase_name(op.phase);
        if (kinds_(op) != kinds_(*last)) {
            op.path = last->path; // which says where it is computed
        }
        op.inputs = std::move(before->inputs);
        op.inputs.push_back(last->inputs[0]);
        gone_.insert(before->outputs[0]);
        gone_.insert(last->outputs[0]);
    }

    ir::Program& program_;
    const OpGroups& kinds_;
    std::vector<int> uses_; // [value]
    std::set<ValueId> gone_;
    std::vector<Op*> sums_; // [value] the sum of squares that makes it
};

} // namespace

void add_up_squares(ir::Program& program, const OpGroups& kinds) {
    SquareAdder(program, kinds).run();
}

} // namespace weft::passes
