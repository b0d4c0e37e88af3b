// SPDX-License-Identifier: Apache-2.0
// What the devices of a mesh did in the last training step, beside what the plan said.
#pragma once

#include "core/exec/executor.h"
#include "core/train/record/event.h"

namespace weft::train {

/// Of a plan with several devices, whose executor ran train_step last.
DevicesEvent devices_event(const exec::Executor& executor, std::int64_t step);

} // namespace weft::train
