// SPDX-License-Identifier: Apache-2.0
// The list of pipeline schedules, by the names of `mesh.pipeline.schedule`. To add one: a maker in
// make_schedule.cpp, a line in schedule_list.cpp, a row in tests/unit/pipeline.
#pragma once

#include "core/pipeline/schedule.h"

#include <span>
#include <string_view>

namespace weft::pipeline {

struct ScheduleDef {
    std::string_view name;
    std::string_view help;
    bool takes_chunks; // else only one chunk per stage is possible
    /// Why these numbers (each at least 1) cannot be; empty when they can.
    std::string (*problem)(int stages, int microbatches, int chunks);
    Schedule (*make)(int stages, int microbatches, int chunks);
};

std::span<const ScheduleDef> schedule_list();

/// The schedule of a name. Throws weft::Error{usage} for an unknown name or impossible numbers,
/// with a hint.
Schedule make_schedule(std::string_view name, int stages, int microbatches, int chunks = 1);

} // namespace weft::pipeline
