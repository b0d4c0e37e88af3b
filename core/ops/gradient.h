// SPDX-License-Identifier: Apache-2.0
// What a gradient rule sees: the op, its operands, the gradients that arrived at its outputs, and a
// builder that appends to the backward part. Rules set one gradient per differentiable input; input
// and weight gradients are separate ops, so that a pipeline schedule can part them.
#pragma once

#include "core/ops/builder.h"

#include <vector>

namespace weft::ops {

class GradientContext {
public:
    GradientContext(Builder& builder, const ir::Op& op, ir::ValueIds upstream,
                    std::vector<bool> needed)
        : builder_(builder), op_(op), upstream_(std::move(upstream)), needed_(std::move(needed)),
          gradients_(op.inputs.size()) {}

    Builder& builder() { return builder_; }
    const ir::Op& op() const { return op_; }
    ir::ValueId input(int i) const { return op_.inputs[static_cast<std::size_t>(i)]; }
    ir::ValueId output(int i) const { return op_.outputs[static_cast<std::size_t>(i)]; }
    int inputs() const { return static_cast<int>(op_.inputs.size()); }
    /// Gradient of the loss with respect to output i; invalid when that output does not reach the loss.
    ir::ValueId upstream(int i = 0) const { return upstream_[static_cast<std::size_t>(i)]; }
    /// Whether anybody wants the gradient of input i; a rule may skip the others.
    bool needs(int i) const { return needed_[static_cast<std::size_t>(i)]; }
    void set(int i, ir::ValueId gradient) { gradients_[static_cast<std::size_t>(i)] = gradient; }
    const ir::ValueIds& gradients() const { return gradients_; }

private:
    Builder& builder_;
    const ir::Op& op_;
    ir::ValueIds upstream_;
    std::vector<bool> needed_;
    ir::ValueIds gradients_;
};

/// Sums `gradient` down to `shape`: the gradient of right-aligned broadcasting.
ir::ValueId sum_to_shape(Builder& b, ir::ValueId gradient, ir::Shape shape);

} // namespace weft::ops
