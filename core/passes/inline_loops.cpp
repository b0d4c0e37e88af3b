// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rewrite.h"
#include "core/passes/simplify.h"

#include <iterator>

namespace weft::passes {
namespace {

using ir::Op;
using ir::ValueId;

class Inliner {
public:
    explicit Inliner(ir::Program& program) : program_(program) {}

    bool run() {
        visit(program_.body);
        replaced_.apply(program_);
        return !replaced_.empty() || changed_;
    }

private:
    void visit(ir::Block& block) {
        std::vector<Op> flat;
        flat.reserve(block.ops.size());
        for (Op& op : block.ops) {
            for (ir::Block& body : op.body) {
                visit(body);
            }
            if (op.is_loop() && op.attributes.integer("count") == 1) {
                splice(op, flat);
            } else {
                flat.push_back(std::move(op));
            }
        }
        block.ops = std::move(flat);
    }

    void splice(Op& loop, std::vector<Op>& out) {
        changed_ = true;
        const auto carried = static_cast<std::size_t>(loop.attributes.integer("carried"));
        ir::Block& body = loop.body.front();
        for (std::size_t i = 0; i < loop.inputs.size(); ++i) {
            if (i < carried) {
                replaced_.set(body.arguments[i], loop.inputs[i]);
            } else {
                out.push_back(reshape(loop, loop.inputs[i], body.arguments[i]));
            }
        }
        std::move(body.ops.begin(), body.ops.end(), std::back_inserter(out));
        for (std::size_t i = 0; i < loop.outputs.size(); ++i) {
            if (i < carried) {
                replaced_.set(loop.outputs[i], body.results[i]);
            } else {
                out.push_back(reshape(loop, body.results[i], loop.outputs[i]));
            }
        }
    }

    /// The one slice of a stack and the stack of one slice hold the same bytes.
    Op reshape(const Op& loop, ValueId from, ValueId to) const {
        Op op;
        op.kind = "reshape";
        op.inputs = {from};
        op.outputs = {to};
        op.attributes = {{"shape", list_of(program_.type(to).shape)}};
        op.path = loop.path;
        op.phase = loop.phase;
        return op;
    }

    ir::Program& program_;
    Replacements replaced_;
    bool changed_ = false;
};

} // namespace

bool inline_single_loops(ir::Program& program) {
    return Inliner(program).run();
}

} // namespace weft::passes
