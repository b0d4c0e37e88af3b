// SPDX-License-Identifier: Apache-2.0
// What is kept of a loss or gradient that was not finite: divergence/step-N.json in the run's
// folder, pictures of its samples beside it as step-N.png, and its batch as step-N.npz.
#pragma once

#include "core/train/divergence.h"

#include <filesystem>

namespace weft::train {

/// Of the document and the files beside it, within the run's folder.
std::filesystem::path divergence_path(std::int64_t step);

/// {"schema_version", "step", "message", "where", "hint", "loss", "grad_norm", "loss_scale",
/// "bad_data", "sample", "op": {"kind", "group", "layer", "phase", "iterations", "position"},
/// "output": operand, "inputs": [operand ...], "batch": BatchRecord's document, "norms":
/// LayerNorms::to_json, "back_to", "passes_over", "ways_on": [{"label", "from_step", "overrides"}],
/// "sheet", "arrays"}. An operand is {"name", "type", "elements", "finite", "infinite", "nan",
/// "low", "high", "lowest_at", "highest_at", "first_bad_at", "histogram"}; a place is {"index":
/// [...], "text": "sample 5, feature 2"}.
config::Json divergence_document(const Divergence& what, const compile::RunConfig& config,
                                 std::int64_t back_to, std::int64_t passes_over);

/// Writes the document and what lies beside it. Throws weft::Error{runtime}.
void write_divergence(const Divergence& what, const config::Json& document,
                      const std::filesystem::path& run_folder);

/// Numbers of the updates that documents are there of, in order.
std::vector<std::int64_t> list_divergences(const std::filesystem::path& run_folder);

/// Throws weft::Error{usage} when there is none of this step, weft::Error{data} for what no run
/// writes.
config::Json read_divergence(const std::filesystem::path& run_folder, std::int64_t step);

} // namespace weft::train
