// SPDX-License-Identifier: Apache-2.0
// Whether the stages of a pipeline meet: each has a program of its own, and each waits for others
// in the order of its own steps.
#pragma once

#include "core/plan/plan.h"

#include <span>
#include <string>

namespace weft::plan {

/// Plays the exchanges between stages through, one device of each: sends go on at once, receives
/// and `sent` wait for the other stage, every other exchange along the pipeline's axis for all.
/// Empty where every stage comes to its end; else who waits for what for ever. `stages` are the
/// same program by stage. Linear in the steps that run.
std::string endless_wait(std::span<const PlannedProgram> stages, const std::string& pipeline_axis);

} // namespace weft::plan
