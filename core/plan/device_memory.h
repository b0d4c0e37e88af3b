// SPDX-License-Identifier: Apache-2.0
// The member "on_device" of plans, and of what a run says of its memory.
#pragma once

#include "core/plan/plan.h"

namespace weft::plan {

config::Json on_device_json(std::int64_t landing_bytes, const DeviceMemory& beside);

} // namespace weft::plan
