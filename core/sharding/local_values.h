// SPDX-License-Identifier: Apache-2.0
// What devices hold of each value while a program is partitioned, and how a reader comes by one
// that lies otherwise than it needs it.
#pragma once

#include "core/sharding/explain.h"
#include "core/sharding/mesh_context.h"
#include "core/sharding/propagate.h"
#include "core/sharding/reshard.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace weft::sharding {

/// An operand's placement when its op's factors are split so.
Sharding placed(const std::vector<std::vector<int>>& operand, const FactorSplits& splits,
                const ops::FactorRule& rule, const Mesh& mesh);

/// A value of the whole program on the devices.
struct LocalValue {
    ir::ValueId id; // of the local program
    Sharding own;
    bool zero = false;                // all elements are 0: a term of any sum
    bool state = false;               // a slot as the program finds it
    const ir::Port* slot = nullptr;   // whose elements these are, in another shape or type
    const std::string* sum = nullptr; // name of what a loop adds up in it: "gradient/..."
    const ir::Op* sums = nullptr;     // the op that made terms of sums of it
};

class LocalValues {
public:
    /// All must outlive this.
    LocalValues(const ir::Program& whole, const ProgramAnnotations& annotations, const Mesh& mesh,
                const RuleTable& rules, const Resharder& resharder);

    LocalValue& at(ir::ValueId id) { return values_[static_cast<std::size_t>(id.index)]; }
    std::vector<LocalValue>& all() { return values_; }
    /// Notes which op makes it.
    void set_maker(ir::ValueId id, const ir::Op& op) {
        makers_[static_cast<std::size_t>(id.index)] = &op;
    }
    /// Notes that the op only looks at its operand in another shape.
    void add_view(const ir::Op& op) { views_[op.outputs[0].index] = &op; }

    /// The value as a reader needs it. Moves are remembered within their block, those of state
    /// within their phase: a weight that is gathered for the forward phase is gathered again for
    /// the backward phase, and takes no memory in between.
    ir::ValueId get(ir::ValueId id, const Sharding& wanted, const ir::Op& reader, ops::Builder& b);
    /// How many moves are remembered.
    std::size_t mark() const { return scope_.size(); }
    /// What was moved within a block cannot be read behind it: forgets all moves since its mark.
    void forget(std::size_t mark);

private:
    using MoveKey = std::tuple<std::int32_t, ir::Phase, std::string>;
    struct Moved {
        ir::ValueId id;
        ir::Phase phase;
    };

    Cause cause_of(ir::ValueId id, const Sharding& wanted, const ir::Op& reader);
    SlotView used(const ir::Port* slot) const;
    SlotView operand_split_over(const ir::Op& op, std::span<const int> axes);
    ir::ValueId view_of_moved(ir::ValueId id, const Sharding& wanted, ops::Builder& b);

    const ir::Program& whole_;
    const ProgramAnnotations& annotations_;
    const Mesh& mesh_;
    const RuleTable& rules_;
    const Resharder& resharder_;
    std::vector<LocalValue> values_;    // by value of the whole program
    std::vector<const ir::Op*> makers_; // likewise; null: an argument or a loop's result
    std::map<MoveKey, Moved> moves_;
    std::vector<MoveKey> scope_;                  // keys of moves_, in order
    std::map<std::int32_t, const ir::Op*> views_; // by result
};

} // namespace weft::sharding
