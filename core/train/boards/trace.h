// SPDX-License-Identifier: Apache-2.0
// What a model that works on a sample step by step, each of some cycles, says after every cycle.
#pragma once

#include "core/exec/executor.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace weft::train {

/// Of one sample.
struct Trace {
    std::int64_t steps = 0, cycles = 0; // cycles of a step
    std::int64_t cells = 0, classes = 0;
    std::vector<float> shares{};   // [steps, cycles, cells, classes]: probabilities
    std::vector<float> verdicts{}; // [steps, cycles]: above 0 the model holds it for solved

    std::int64_t all_cycles() const { return steps * cycles; }
    /// The most probable class of every cell after `cycle`, counted from 0 through all steps.
    std::vector<std::int32_t> guesses(std::int64_t cycle) const;
    /// The same at the end of `step`, counted from 1.
    std::vector<std::int32_t> answer(std::int64_t step) const { return guesses(step * cycles - 1); }
    /// How many steps the model takes: those until it holds the sample for solved, or all.
    std::int64_t halts_after() const;
    /// Whether it holds it for solved by then.
    bool halts() const;
};

/// Whether the model can be followed: its program "predict" gives "cycles".
bool traces(const exec::Executor& executor);

/// Traces samples [N, cells] in order; `take` gets each with its number, and false ends it. Throws
/// weft::Error{usage} for a model that cannot be followed or takes other samples.
void trace(exec::Executor& executor, std::span<const std::int32_t> samples,
           const std::function<bool(std::int64_t index, const Trace& trace)>& take);

} // namespace weft::train
