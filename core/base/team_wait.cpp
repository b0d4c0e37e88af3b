// SPDX-License-Identifier: Apache-2.0
#include "core/base/team_wait.h"

#include <cstdlib>
#include <filesystem>

#include <unistd.h>

namespace weft {
namespace {

constexpr const char* kLooks = "GOMP_SPINCOUNT";
// Measured by `weft bench load`. A millisecond at most, for a team that is watched
// (kernels/threads.h); more gain nothing. Where the system does not tell how long threads
// wait for cores: fewer slow the smallest steps of a quiet machine, more slow every step beside a
// busy core.
constexpr const char* kLooksOfWatched = "20000";
constexpr const char* kLooksOfOthers = "600";

const char* looks() {
    return ::access("/proc/thread-self/schedstat", R_OK) == 0 ? kLooksOfWatched : kLooksOfOthers;
}

} // namespace

void shorten_team_wait(char** argv) {
    if (!read_team_wait().variable.empty()) {
        return;
    }
    // The link itself would name the process "exe".
    std::error_code problem;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", problem);
    if (!problem && ::setenv(kLooks, looks(), 0) == 0) {
        ::execv(program.c_str(), argv);
        ::unsetenv(kLooks); // still here: what was set does not hold
    }
}

TeamWait read_team_wait() {
    for (const char* variable : {kLooks, "OMP_WAIT_POLICY"}) {
        if (const char* value = std::getenv(variable)) {
            return {variable, value, variable == kLooks && value == std::string(looks())};
        }
    }
    return {};
}

} // namespace weft
