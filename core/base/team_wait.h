// SPDX-License-Identifier: Apache-2.0
// How long the threads of an OpenMP team look for each other before they sleep, at most. Looking is
// quickest on a quiet machine. Beside other work it takes the core from the very thread that is
// waited for: libgomp's own 300,000 looks, some milliseconds, make a step many times as long. There
// a watched team sleeps soon (kernels/threads.h).
#pragma once

#include <string>

namespace weft {

struct TeamWait {
    std::string variable; // of the environment that decides; empty: none, libgomp's own way
    std::string value;
    bool chosen_here = false; // else by the user
};

/// To be called first in main: libgomp reads its settings when it is loaded, so the program starts
/// again, as the same process, with fewer looks. Returns where that is done, where the user has set
/// GOMP_SPINCOUNT or OMP_WAIT_POLICY, and where a program cannot be started again.
void shorten_team_wait(char** argv);

/// What holds for this process.
TeamWait read_team_wait();

} // namespace weft
