// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation (Griewank and Walther 2008, chapter 3): ops are visited from last to
// first, each one's rule turns the gradients of its outputs into gradients of its inputs.
#include "core/autodiff/gradients.h"

#include "core/autodiff/activity.h"
#include "core/autodiff/differentiate.h"
#include "core/base/error.h"
#include "core/ops/op_def.h"

#include <algorithm>

namespace weft::autodiff {

using ir::ValueId;

using ir::ValueIds;

void GradientMap::add(ops::Builder& b, ValueId value, ValueId gradient) {
    const ir::Type& type = b.type(value);
    WEFT_CHECK(b.shape(gradient) == type.shape, "a gradient has the shape of its value");
    const ValueId typed = ops::cast(b, gradient, type.dtype);
    const auto [at, added] = gradients_.emplace(value, typed);
    if (!added) {
        at->second = ops::add(b, at->second, typed);
    }
}

ValueId GradientMap::find(ValueId value) const {
    const auto at = gradients_.find(value);
    return at == gradients_.end() ? ValueId{} : at->second;
}

ValueId GradientMap::get(ops::Builder& b, ValueId value) const {
    const ValueId found = find(value);
    const ir::Type type = b.type(value);
    return found.valid() ? found : ops::constant(b, 0.0, type.shape, type.dtype);
}

namespace {

// One op with its record's rule.
void differentiate_op(const ir::Op& op, ops::Builder& target, const Activity& activity,
                      GradientMap& gradients) {
    const ops::OpDef& def = ops::op_def(op.kind);
    if (def.gradient == nullptr) {
        throw Error(ErrorKind::usage, op.path, op.kind + " is not differentiable",
                    "keep it off the way from the trained parameters to the loss");
    }
    ValueIds upstream;
    for (const ValueId output : op.outputs) {
        upstream.push_back(gradients.find(output));
    }
    std::vector<bool> needed;
    for (const ValueId input : op.inputs) {
        needed.push_back(activity.active(input));
    }
    ops::GradientContext context(target, op, std::move(upstream), std::move(needed));
    def.gradient(context);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const ValueId gradient = context.gradients()[i];
        if (gradient.valid() && context.needs(static_cast<int>(i))) {
            gradients.add(target, op.inputs[i], gradient);
        }
    }
}

bool reached(const ir::Op& op, const GradientMap& gradients) {
    return std::any_of(op.outputs.begin(), op.outputs.end(),
                       [&](ValueId output) { return gradients.find(output).valid(); });
}

} // namespace

void differentiate(ir::Block& forward, ops::Builder& target, const Activity& activity,
                   GradientMap& gradients) {
    // The backward part may go to the end of the same block: only the ops that stand there now
    // count.
    for (std::size_t i = forward.ops.size(); i-- > 0;) {
        if (!activity.active(forward.ops[i]) || !reached(forward.ops[i], gradients)) {
            continue;
        }
        target.set_path(forward.ops[i].path);
        if (forward.ops[i].is_loop()) {
            differentiate_repeat(forward, i, target, activity, gradients);
        } else {
            const ir::Op op = forward.ops[i]; // appending may move the block's ops
            differentiate_op(op, target, activity, gradients);
        }
    }
}

ValueIds append_gradients(ops::Builder& builder, ValueId output, ValueId seed,
                          std::span<const ValueId> wrt) {
    const Activity activity(builder.program(), builder.block(), wrt);
    const std::string path = builder.path();
    const ir::Phase phase = builder.phase();
    builder.set_phase(ir::Phase::backward);
    GradientMap gradients;
    gradients.add(builder, output, seed);
    differentiate(builder.block(), builder, activity, gradients);
    builder.set_path(path);
    ValueIds out;
    for (const ValueId value : wrt) {
        out.push_back(gradients.get(builder, value));
    }
    builder.set_phase(phase);
    return out;
}

} // namespace weft::autodiff
