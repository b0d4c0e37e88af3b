// SPDX-License-Identifier: Apache-2.0
// `training.recompute` "auto": the least recompute that meets a memory budget.
#pragma once

#include "core/passes/recompute.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace weft::compile {

/// What "auto" keeps to.
struct MemoryBudget {
    std::int64_t bytes = 0; // arena, and what the host keeps beside it
    bool given = true;      // training.memory_budget; false: the memory that there is
};

struct RecomputeChoice {
    passes::RecomputeOptions options;
    std::string text; // what was chosen and why, one line
};

/// `thresholds` as of passes::recompute_thresholds; `needed_bytes` plans the step with options and
/// gives the bytes of arena and host. Bisection: memory falls with the threshold, but for a few
/// bytes of layout; the choice is one that was planned and fits. Where none does, it is the
/// smallest that was found.
RecomputeChoice
choose_recompute(std::span<const double> thresholds, const MemoryBudget& budget,
                 const std::function<std::int64_t(const passes::RecomputeOptions&)>& needed_bytes);

} // namespace weft::compile
