// SPDX-License-Identifier: Apache-2.0
#include "core/memory/insert_copies.h"

#include "core/memory/liveness.h"

namespace weft::memory {
namespace {

using ir::Block;
using ir::Op;
using ir::ValueId;

class CopyInserter {
public:
    CopyInserter(ir::Program& program, const MissingCopies& missing)
        : program_(program), missing_(missing) {}

    void run() {
        visit(program_.body);
        for (const std::size_t i : missing_.program_results) {
            const ValueId fresh = copy(program_.body.results[i], program_.body.ops,
                                       ir::Phase::update, program_.results[i].name);
            program_.body.results[i] = fresh;
            program_.results[i].value = fresh;
        }
    }

private:
    ValueId copy(ValueId from, std::vector<Op>& ops, ir::Phase phase, const std::string& path) {
        Op op;
        op.kind = "copy";
        op.inputs = {from};
        op.outputs = {program_.add_value(ir::Type(program_.type(from)))};
        op.phase = phase;
        op.path = path;
        ops.push_back(std::move(op));
        return ops.back().outputs[0];
    }

    void visit(Block& block) {
        std::vector<Op> ops;
        ops.reserve(block.ops.size());
        for (Op& op : block.ops) {
            const int position = position_;
            position_ += is_step(op) ? 1 : 0;
            if (op.is_loop()) {
                if (const auto found = missing_.initial_values.find(position);
                    found != missing_.initial_values.end()) {
                    for (const std::size_t i : found->second) {
                        op.inputs[i] = copy(op.inputs[i], ops, op.phase, op.path);
                    }
                }
                Block& body = op.body.front();
                visit(body);
                if (const auto found = missing_.body_results.find(position);
                    found != missing_.body_results.end()) {
                    for (const std::size_t i : found->second) {
                        body.results[i] = copy(body.results[i], body.ops, op.phase, op.path);
                    }
                }
            }
            ops.push_back(std::move(op));
        }
        block.ops = std::move(ops);
    }

    ir::Program& program_;
    const MissingCopies& missing_;
    int position_ = 0; // before any insertion, as in `missing`
};

} // namespace

void insert_copies(ir::Program& program, const MissingCopies& missing) {
    CopyInserter(program, missing).run();
}

} // namespace weft::memory
