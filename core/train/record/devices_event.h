// SPDX-License-Identifier: Apache-2.0
// What the devices of a mesh, or GPUs, did in the last training step, beside what the plan said.
#pragma once

#include "core/exec/executor.h"
#include "core/train/measure/health_watch.h"
#include "core/train/record/event.h"

namespace weft::train {

/// Of an executor that ran train_step last. `health` is of its GPUs, by place on the mesh; null on
/// the host.
DevicesEvent devices_event(const exec::Executor& executor, std::int64_t step,
                           const HealthWatch* health);

} // namespace weft::train
