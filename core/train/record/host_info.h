// SPDX-License-Identifier: Apache-2.0
// What a run records about where it computes.
#pragma once

#include "core/config/field.h"

#include <string>

namespace weft::train {

/// What the bits of a run depend on beside its configuration: program version, threads, kernel
/// library, its instruction set. Recorded in run.json and in every checkpoint.
config::Json environment_json(const std::string& version, int threads);

/// One sentence per difference that may change results; host names and times are none.
std::vector<std::string> environment_differences(const config::Json& before,
                                                 const config::Json& now);

/// For the `system` event.
config::Json devices_json(int threads);
config::Json host_json();

} // namespace weft::train
