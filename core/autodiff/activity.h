// SPDX-License-Identifier: Apache-2.0
// Which values depend on the variables of a differentiation. Private to core/autodiff.
#pragma once

#include "core/ir/program.h"

#include <span>
#include <vector>

namespace weft::autodiff {

/// Forward sweep over a block and its nested bodies: a floating-point value is active when it is a
/// variable or computed from an active value. Values that are added later are not active.
class Activity {
public:
    Activity(const ir::Program& program, const ir::Block& block, std::span<const ir::ValueId> wrt);

    bool active(ir::ValueId id) const {
        return id.valid() && static_cast<std::size_t>(id.index) < active_.size() &&
               active_[static_cast<std::size_t>(id.index)];
    }
    /// Whether one of the op's inputs or captures is active.
    bool active(const ir::Op& op) const;

private:
    void mark(ir::ValueId id);
    void sweep(const ir::Block& block);
    void sweep_repeat(const ir::Op& op);

    const ir::Program& program_;
    std::vector<bool> active_;
};

} // namespace weft::autodiff
