// SPDX-License-Identifier: Apache-2.0
// Memory that a device wants beside its arena: the member "on_device" of plans, and of what a run
// says of its memory.
#pragma once

#include "core/plan/plan.h"

namespace weft::plan {

/// Of the host for each device that works by itself: in one room the arguments of the next run are
/// written while those of this one are read from the other.
inline constexpr std::int64_t kArgumentRooms = 2;

config::Json on_device_json(std::int64_t landing_bytes, const DeviceMemory& beside);

} // namespace weft::plan
