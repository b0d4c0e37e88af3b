// SPDX-License-Identifier: Apache-2.0
// Whether two processes have made the same plan: what devices hold, compute and exchange. Times
// and verdicts are not in it.
#pragma once

#include "core/plan/plan.h"

#include <string>
#include <utility>
#include <vector>

namespace weft::plan {

/// A digest for each part: "slots", then each program, with its stage in a pipeline.
using PlanDigest = std::vector<std::pair<std::string, std::string>>;

PlanDigest digest_of(const ExecutionPlan& plan);
/// The first part in which they differ; empty: in none.
std::string first_difference(const PlanDigest& one, const PlanDigest& other);

} // namespace weft::plan
