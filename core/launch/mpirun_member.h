// SPDX-License-Identifier: Apache-2.0
// One mpirun (OpenMPI 4.1) for all ranks.
#pragma once

#include "core/launch/member.h"

namespace weft::launch {

/// mpirun reads signals from stdin, which it hands to rank 0 alone, wherever that runs: of SIGINT
/// and SIGTERM it would make the end of the job, and of a signal to all ranks rank 0 would hear at
/// its own time. So rank 0's pid need not be known here.
Member mpirun_member(const LaunchRequest& request, bool begun);

/// mpirun's words before the program, without hosts and ranks.
std::vector<std::string> mpirun_settings(const LaunchRequest& request);

} // namespace weft::launch
