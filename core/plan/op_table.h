// SPDX-License-Identifier: Apache-2.0
// The steps of a planned program as a flat table: what each costs in one call of the program.
// Private to core/plan.
#pragma once

#include "core/plan/plan.h"

#include <string>
#include <vector>

namespace weft::plan {

/// A kernel call of the program, all its executions in the enclosing loops together.
struct OpRow {
    const Step* step = nullptr;
    int position = 0; // linear
    double times = 1; // executions per call of the program
    double flops = 0;
    double bytes = 0;
    double predicted_ms = 0; // 0 without a cost model
};
std::vector<OpRow> op_rows(const PlannedProgram& program);

/// "blocks.3.mlp" -> "blocks.*.mlp"; words count on their own.
std::string any_layer(const std::string& path);

/// Rows of the same work in different layers: "blocks.3.mlp.up" counts under "blocks.*.mlp.up".
struct OpGroup {
    std::string name; // "matmul at blocks.*.mlp.up"
    std::string kernel;
    double calls = 0;
    double flops = 0;
    double predicted_ms = 0;
};
/// Sorted by predicted time, or by FLOPs where nothing is predicted; the heaviest first.
/// Of one program, or of all stages of a pipeline.
std::vector<OpGroup> op_groups(const std::vector<const PlannedProgram*>& programs);

/// Milliseconds of each pass over all programs, in the order of work.
std::vector<std::pair<std::string, double>> pass_sums(const ExecutionPlan& plan);

} // namespace weft::plan
