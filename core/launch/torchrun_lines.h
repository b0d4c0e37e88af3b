// SPDX-License-Identifier: Apache-2.0
// What to type on each host to start the ranks with torchrun.
#pragma once

#include "core/launch/request.h"

#include <string>

namespace weft::launch {

/// Lines for a shell: the secret, then one command for each host under a comment with its name.
std::string torchrun_lines(const LaunchRequest& request);

/// A script for sh that becomes weft: resuming the run where its folder holds one, else beginning
/// it.
std::string begin_or_go_on(const LaunchRequest& request);

} // namespace weft::launch
