// SPDX-License-Identifier: Apache-2.0
// What a run has less of because some of its parameters are not trained.
#pragma once

#include "core/plan/plan.h"

namespace weft::plan {

struct Frozen {
    std::int64_t parameters = 0; // elements that no update touches
    /// What training these too would take, as whole arrays: the sum of their gradients in f32, and
    /// what the optimizer keeps on average of those that it does train.
    std::int64_t spared_bytes = 0;
};

Frozen frozen_part(const ExecutionPlan& plan);

} // namespace weft::plan
