// SPDX-License-Identifier: Apache-2.0
// From a priced plan: whether the devices of a mesh have enough samples at a time.
#pragma once

#include "core/compile/programs/programs.h"
#include "core/cost/cost_model.h"
#include "core/plan/plan.h"

#include <optional>

namespace weft::compile {

/// None for one device, or without prices.
///
/// Products: a product of a weight takes flops / rate to compute and (weight + rest) / bandwidth to
/// move; of these, flops and rest grow with the samples. Both are equal at
/// samples x weight / bandwidth / (flops / rate - rest / bandwidth), summed over all products of
/// the forward pass: the ridge of the roofline (Williams, Waterman, Patterson 2009).
///
/// Exchanges: those over axes that split the batch are of weights and gradients and stay as large,
/// the others grow with the batch, as computing does. With C computing, F of the first kind and V
/// of the second, a batch r times as large exchanges as long as it computes for r = F / (C - V).
std::optional<plan::BatchAdvice> advise_batch(const plan::ExecutionPlan& plan,
                                              const BatchPlan& batch, const cost::CostModel& cost);

} // namespace weft::compile
