// SPDX-License-Identifier: Apache-2.0
// The pipeline of the section "mesh": a schedule and how layers are spread over its stages.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/compile/mesh/stage_programs.h"

#include <optional>

namespace weft::compile {

/// None when the rules give no axis of several devices to "layers". The configuration was checked;
/// throws weft::Error{usage} when a schedule's file cannot be read or is made for other numbers.
std::optional<StageChoice> stage_choice(const RunConfig& config);

/// Everything wrong with the pipeline of a sound mesh, but for the file of a schedule and the
/// number of layers, which the model decides. `pointer` is the place of the mesh; `microbatches` 0:
/// unknown.
void check_stages(const config::Json& mesh, const std::string& pointer, std::int64_t microbatches,
                  config::Diagnostics& out);

} // namespace weft::compile
