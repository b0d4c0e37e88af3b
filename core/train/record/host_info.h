// SPDX-License-Identifier: Apache-2.0
// What a run records about where it computes.
#pragma once

#include "core/config/field.h"
#include "core/train/measure/health_watch.h"

#include <string>

namespace weft::train {

/// What the bits of a run depend on beside its configuration: program version, threads, kernel
/// library, its instruction set. Recorded in run.json and in every checkpoint.
config::Json environment_json(const std::string& version, int threads);

/// One sentence per difference that may change results; host names and times are none.
std::vector<std::string> environment_differences(const config::Json& before,
                                                 const config::Json& now);

/// For the `system` event: the host with so many threads, or the GPUs that are watched.
config::Json devices_json(int threads);
config::Json devices_json(const HealthWatch& gpus);
config::Json host_json();

} // namespace weft::train
