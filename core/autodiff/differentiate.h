// SPDX-License-Identifier: Apache-2.0
// The two halves of reverse mode, which call each other: blocks and loops. Private to
// core/autodiff.
#pragma once

#include "core/autodiff/activity.h"
#include "core/ops/gradient.h"

#include <map>

namespace weft::autodiff {

/// Gradients that have arrived so far, by value. Contributions are summed in the order of arrival.
class GradientMap {
public:
    /// Adds a contribution in the value's element type.
    void add(ops::Builder& b, ir::ValueId value, ir::ValueId gradient);
    /// The sum so far; invalid when nothing arrived.
    ir::ValueId find(ir::ValueId value) const;
    /// The sum so far, or zeros appended to the builder's block.
    ir::ValueId get(ops::Builder& b, ir::ValueId value) const;

private:
    std::map<ir::ValueId, ir::ValueId> gradients_;
};

/// Appends the backward part of the ops that `forward` holds now to the target's block, which may
/// be the same. Loops in `forward` get further outputs where the backward part needs their values.
void differentiate(ir::Block& forward, ops::Builder& target, const Activity& activity,
                   GradientMap& gradients);

/// The same for the loop at `index` of `forward`.
void differentiate_repeat(ir::Block& forward, std::size_t index, ops::Builder& target,
                          const Activity& activity, GradientMap& gradients);

} // namespace weft::autodiff
