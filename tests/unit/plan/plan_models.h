// SPDX-License-Identifier: Apache-2.0
// Small runs of the three kinds of models that the memory claims are about, on made-up data; what
// they are planned for, and what is found in their plans.
#pragma once

#include "core/train/planning.h"

#include <string>
#include <vector>

namespace weft::test {

/// "mlp", "cnn" or "gpt". Fails the test binary when the result is not valid.
compile::RunConfig model_run(const std::string& model,
                             const std::vector<std::string>& overrides = {});

/// More memory than any of them needs.
inline constexpr std::int64_t kPlenty = std::int64_t{1} << 40;
/// This machine, one thread, with so much memory.
train::PlanTarget target_of(std::int64_t limit_bytes);

/// What is found about an array; null when nothing is.
const sharding::Finding* finding_of(const plan::ExecutionPlan& plan, const std::string& array);

} // namespace weft::test
