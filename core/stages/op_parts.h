// SPDX-License-Identifier: Apache-2.0
// Which part of a pipeline computes each op of a program. Private to core/stages.
#pragma once

#include "core/stages/stage_map.h"

#include <unordered_map>

namespace weft::stages {

/// Computed by every stage that reads it: depends on no state and on no activation.
inline constexpr int kAnywhere = -1;

/// What an op does for a microbatch.
enum class Work : std::uint8_t { forward, input_grad, weight_grad, outside };

class OpParts {
public:
    /// `program` outlives it.
    OpParts(const ir::Program& program, const StageMap& map);

    /// Of a value: of the op that makes it, or of the state slot that it is. Arguments of other
    /// kinds are anywhere.
    int of(ir::ValueId id) const { return parts_[static_cast<std::size_t>(id.index)]; }
    int of(const ir::Op& op) const;
    /// Of an op of the loop over microbatches, or of a step whose loop was inlined.
    Work work(const ir::Op& op) const;
    /// The loop over microbatches; null: there is none.
    const ir::Op* loop() const { return loop_; }

private:
    void place_arguments();
    void place_loop();
    void place_block(const ir::Block& block);
    int place(const ir::Op& op) const;
    void divide_backward(const ir::Block& block);

    const ir::Program& program_;
    const StageMap& map_;
    const ir::Op* loop_ = nullptr;
    std::vector<int> parts_;        // [value]
    std::vector<ir::Phase> phases_; // [value] of the op that makes it
    std::vector<bool> moving_;      // [value] differs from microbatch to microbatch
    std::unordered_map<const ir::Op*, Work> work_;
};

} // namespace weft::stages
