// SPDX-License-Identifier: Apache-2.0
#include "core/autodiff/activity.h"

#include <algorithm>

namespace weft::autodiff {

using ir::ValueId;

using ir::ValueIds;

Activity::Activity(const ir::Program& program, const ir::Block& block, std::span<const ValueId> wrt)
    : program_(program), active_(program.values.size(), false) {
    for (const ValueId id : wrt) {
        mark(id);
    }
    sweep(block);
}

bool Activity::active(const ir::Op& op) const {
    const auto any = [&](const ValueIds& ids) {
        return std::any_of(ids.begin(), ids.end(), [&](ValueId id) { return active(id); });
    };
    return any(op.inputs) || (op.structured() && any(ir::captures(op)));
}

void Activity::mark(ValueId id) {
    if (ir::is_float(program_.type(id).dtype)) {
        active_[static_cast<std::size_t>(id.index)] = true;
    }
}

void Activity::sweep(const ir::Block& block) {
    for (const ir::Op& op : block.ops) {
        if (op.is_loop()) {
            sweep_repeat(op);
        } else if (active(op)) {
            std::for_each(op.outputs.begin(), op.outputs.end(), [&](ValueId id) { mark(id); });
        }
    }
}

// A carried value is active when it starts so or becomes so in any iteration: until nothing
// changes.
void Activity::sweep_repeat(const ir::Op& op) {
    const ir::Block& body = op.body[0];
    const auto carried = static_cast<std::size_t>(op.attributes.integer("carried"));
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        if (active(op.inputs[i])) {
            mark(body.arguments[i]);
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        sweep(body);
        for (std::size_t i = 0; i < carried; ++i) {
            if (active(body.results[i]) && !active(body.arguments[i])) {
                mark(body.arguments[i]);
                changed = true;
            }
        }
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        // A carried value keeps its start when the body hands it on unchanged.
        if (active(body.results[i]) || (i < carried && active(op.inputs[i]))) {
            mark(op.outputs[i]);
        }
    }
}

} // namespace weft::autodiff
