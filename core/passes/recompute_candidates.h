// SPDX-License-Identifier: Apache-2.0
// What of a block's forward phase could be computed again, and what that costs and frees. Private
// to recompute.
#pragma once

#include "core/ir/program.h"

#include <span>
#include <vector>

namespace weft::passes {

/// How the forward op at a position of the block stands to recompute.
enum class Standing : std::uint8_t {
    fixed,     // stays as it is: not of the forward phase, or its results are alive anyway
    candidate, // backward reads a result: keep it or compute it again
    inner,     // backward reads no result, but it may be on the way to a candidate's
};

/// Facts of one block, by position of its ops.
struct RecomputeCandidates {
    ir::ValueIds roots;             // [value] without the views on it
    std::vector<int> producers;     // [value] position of the op that makes it; -1: outside
    std::vector<int> blocks;        // [position] block of the model, see model_blocks.h
    std::vector<Standing> standings;
    std::vector<double> flops_per_byte; // candidates: cost of a new computation over what it frees
    std::vector<std::int64_t> bytes;    // [position] of results that backward reads
    std::vector<int> groups; // [position] equal for candidates that share inner ops before them:
                             // keeping one of them alone saves nothing
    bool trains = false;     // there are a forward and a backward phase

    int producer_of_root(ir::ValueId id) const {
        return producers[static_cast<std::size_t>(roots[static_cast<std::size_t>(id.index)].index)];
    }
};

/// Fixed are: what another block of the model reads, what the update or a result reads, what
/// follows from weights alone, handfuls of numbers, and loops. A candidate's cost goes back to the
/// values that are there: fixed ones, arguments, and other candidates' results; ops on the way to
/// several candidates are shared among them. Of equal candidates those of earlier blocks come
/// first, by a millionth per block: their values would be kept longest.
RecomputeCandidates find_candidates(const ir::Program& program, const ir::Block& block);

/// Values that an op reads: operands and captures. The op outlives it.
class Reads {
public:
    explicit Reads(const ir::Op& op);
    Reads(const Reads&) = delete;
    Reads& operator=(const Reads&) = delete;
    ~Reads() = default;

    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }

private:
    ir::ValueIds with_captures_; // of a structured op
    std::span<const ir::ValueId> all_;
};

} // namespace weft::passes
