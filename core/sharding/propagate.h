// SPDX-License-Identifier: Apache-2.0
// Spreads the placement of state and batch to every value of a program, by the ops' factor rules
// and blind to their kinds (Xu et al. 2021; the factor view follows Shardy's).
//
// Placements have a strength: what was asked for (state slots, gradients) before what the batch
// brings, and of each kind what is nearer to its source. Where two factors of one op want the same
// mesh axis, the stronger wins, then the one that more operands want, then the one named first.
// Partial sums are no part of this: partition lets them arise.
#pragma once

#include "core/sharding/annotate.h"

#include <deque>
#include <optional>
#include <stop_token>
#include <unordered_map>

namespace weft::sharding {

/// Factor rules of a program's ops, computed once; equal ops share theirs.
class RuleTable {
public:
    explicit RuleTable(const ir::Program& program);
    const ops::FactorRule& of(const ir::Op& op) const {
        return *rule_of_[static_cast<std::size_t>(op.outputs.front().index)];
    }

private:
    /// A rule with the first op that has it.
    struct Entry {
        const ir::Op* op;
        const ops::FactorRule* rule;
    };

    const ops::FactorRule* rule_of(const ir::Program& program, const ir::Op& op);

    std::deque<ops::FactorRule> rules_;
    std::unordered_map<std::size_t, std::vector<Entry>> alike_; // by hash
    std::vector<const ops::FactorRule*> rule_of_;               // [first output]
};

/// The kind of source in thousands, less the ops on the way from it.
using Strength = int;
inline constexpr Strength kWeak = 1000;  // how gradients are kept, where the batch is split alike
inline constexpr Strength kBatch = 2000; // samples and positions
inline constexpr Strength kAsked = 3000; // state

/// A value's dimensions as its readers see them.
struct Seen {
    struct Dim {
        DimSharding splits;
        std::vector<Strength> strengths; // one per split
    };
    std::vector<Dim> dims;
    bool fixed = false;

    DimSharding splits(int dim) const { return dims[static_cast<std::size_t>(dim)].splits; }
};

struct ProgramAnnotations {
    /// By port: state slots, batch.
    std::map<std::string, Annotation, std::less<>> arguments;
    /// By port; for results that are state slots.
    std::map<std::string, Sharding, std::less<>> results;
    /// By value name, "gradient/...".
    std::map<std::string, Annotation, std::less<>> values;
    /// Axes that split samples, and positions where state is kept split over them. Where gradients are kept split over them, the ops that make the
    /// gradients split the batch all the same.
    std::vector<int> batch_axes;
};

class Propagation {
public:
    /// Throws weft::Error{runtime} when `stop` is requested.
    Propagation(const ir::Program& program, const RuleTable& rules,
                const ProgramAnnotations& annotations, const Mesh& mesh,
                const std::stop_token& stop = {});

    /// As a reader of that phase sees the value.
    const Seen& seen(ir::ValueId id, ir::Phase phase) const;
    /// How the op's factors are split, as dimensions of their own; empty for those that stay whole.
    std::vector<DimSharding> factors(const ir::Op& op) const;

private:
    std::vector<DimSharding> find_factors(const ir::Op& op) const;
    bool sweep(const ir::Block& block, bool forward, const std::stop_token& stop);
    bool unchanged(const ir::Op& op) const;
    bool visit(const ir::Op& op);
    bool visit_loop(const ir::Op& op);
    bool link(ir::ValueId a, ir::ValueId b, int skip_a, int skip_b);
    bool try_offer(ir::ValueId id, int dim, const Split& split, Strength strength);
    bool offer(ir::ValueId id, int dim, const Split& split, Strength strength);
    void fix(ir::ValueId id, const Sharding& sharding, Strength strength);
    void fix_gradient(ir::ValueId id, const Sharding& sharding, std::span<const int> weak);

    const ir::Program& program_;
    const RuleTable& rules_;
    const Mesh& mesh_;
    std::vector<Seen> values_;
    // An op is looked at again only when an operand has changed since.
    int clock_ = 0;
    std::vector<int> changed_; // [value]
    std::vector<int> visited_; // [first output] of an op; -1: not yet
    std::vector<std::vector<DimSharding>> factors_; // [first output] of an op, at its last visit
    std::vector<std::optional<Seen>> in_update_; // [value] arguments that the update sees otherwise
};

} // namespace weft::sharding
