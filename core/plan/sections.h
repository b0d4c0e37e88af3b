// SPDX-License-Identifier: Apache-2.0
// The sections of the page of `weft plan`, where they stand in files of their own. Each writes
// nothing when there is nothing to say. Private to core/plan.
#pragma once

#include "core/plan/page.h"

namespace weft::plan {

void write_verdict(Page& page, const ExecutionPlan& plan);
void write_curve(Page& page, const ExecutionPlan& plan);

// On a mesh of several devices:
void write_mesh(Page& page, const ExecutionPlan& plan);
void write_pipeline(Page& page, const ExecutionPlan& plan);
void write_batch_advice(Page& page, const ExecutionPlan& plan);
void write_tensors(Page& page, const ExecutionPlan& plan);
void write_exchanges(Page& page, const ExecutionPlan& plan);
void write_findings(Page& page, const ExecutionPlan& plan);
/// A line for each change after which the finding is gone.
void write_fixes(Page& page, const sharding::Finding& finding);

/// What is worth saying of the batch, a sentence each.
std::vector<std::string> batch_advice_lines(const ExecutionPlan& plan);

/// A row of "tensors", without who holds what.
config::Json tensor_row_json(const ExecutionPlan& plan, const Tensor& tensor);

/// Copies of a tensor's parts on the mesh: devices that hold the same ranges.
std::int64_t replicas(const ExecutionPlan& plan, const sharding::Sharding& placement);

} // namespace weft::plan
