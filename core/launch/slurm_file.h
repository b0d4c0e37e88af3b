// SPDX-License-Identifier: Apache-2.0
// A batch script for Slurm's sbatch.
#pragma once

#include "core/launch/request.h"

#include <string>

namespace weft::launch {

/// Two minutes before the time limit the run is saved and queued again; a job that was queued again
/// goes on with what the run folder holds. Hosts named "" are any nodes that Slurm finds.
std::string slurm_file(const LaunchRequest& request);

} // namespace weft::launch
