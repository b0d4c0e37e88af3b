// SPDX-License-Identifier: Apache-2.0
// How long sums may stay partial: what an op does with terms, and what a loop adds up. A gradient
// that a loop sums over microsteps is summed over devices once, behind the loop.
#pragma once

#include "core/sharding/propagate.h"

#include <vector>

namespace weft::sharding {

/// What the op makes of terms of a sum; by its record.
ops::Partial partial_mode(const ir::Program& program, const ir::Op& op);

/// Whether a dimension of the operand is made of the factor.
bool has_factor(const std::vector<std::vector<int>>& operand, std::size_t factor);

class LoopSums {
public:
    /// All must outlive this.
    LoopSums(const ir::Program& program, const RuleTable& rules, const Propagation& propagation);

    /// Axes over which a carried sum, result `index` of the body, may stay unsummed until behind
    /// the loop: those of what the body adds to it.
    std::vector<int> unsummed(const ir::Block& body, std::size_t index) const;

private:
    struct Producer {
        const ir::Op* op = nullptr;
        const ir::Block* block = nullptr; // that it stands in
    };

    void find_producers(const ir::Block& block);
    const ir::Op* producer(const ir::Block& block, ir::ValueId id) const;
    std::vector<int> natural_sums(const ir::Block& block, ir::ValueId id) const;
    std::vector<int> contracted_axes(const ir::Op& op, ir::ValueId output) const;
    bool is_zero(const ir::Block& block, ir::ValueId id) const;

    const ir::Program& program_;
    const RuleTable& rules_;
    const Propagation& propagation_;
    std::vector<Producer> producers_; // by value of the program
};

} // namespace weft::sharding
