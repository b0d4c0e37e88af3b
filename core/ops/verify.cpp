// SPDX-License-Identifier: Apache-2.0
#include "core/ops/verify.h"

#include "core/ir/verify.h"
#include "core/ops/call_check.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

std::string name_of(const ir::Op& op) {
    std::string out = op.kind;
    if (!op.outputs.empty()) {
        out = "%" + std::to_string(op.outputs[0].index) + " = " + out;
    }
    return op.path.empty() ? out : out + " at " + op.path;
}

void verify_op(const ir::Program& program, const ir::Op& op, std::vector<std::string>& found) {
    const OpDef* def = find_op(op.kind);
    if (def == nullptr) {
        found.push_back(name_of(op) + ": no op has this name");
        return;
    }
    const OpView view{program, op};
    const Inferred inferred = check_call(*def, view);
    if (!inferred.error.empty()) {
        found.push_back(name_of(op) + ": " + inferred.error);
        return;
    }
    if (inferred.outputs.size() != op.outputs.size()) {
        found.push_back(name_of(op) + ": has " + word(view.outputs()) + " outputs instead of " +
                        word(static_cast<int>(inferred.outputs.size())));
        return;
    }
    for (int i = 0; i < view.outputs(); ++i) {
        const ir::Type& type = inferred.outputs[static_cast<std::size_t>(i)];
        if (view.output(i) != type) {
            found.push_back(name_of(op) + ": output " + word(i) + " is " + word(view.output(i)) +
                            " instead of " + word(type));
        }
    }
}

void verify_block(const ir::Program& program, const ir::Block& block,
                  std::vector<std::string>& found) {
    for (const ir::Op& op : block.ops) {
        for (const ir::Block& body : op.body) {
            verify_block(program, body, found);
        }
        verify_op(program, op, found);
    }
}

} // namespace

std::vector<std::string> verify(const ir::Program& program) {
    std::vector<std::string> found = ir::verify_structure(program);
    if (found.empty()) {
        verify_block(program, program.body, found);
    }
    return found;
}

} // namespace weft::ops
