// SPDX-License-Identifier: Apache-2.0
// A recording as trace events in JSON, which Perfetto and chrome://tracing open ("Trace Event
// Format", Google 2016: complete events, ph X, times in microseconds).
#pragma once

#include "core/profile/recording.h"

#include <string>

namespace weft::profile {

/// The host is process 0: steps with, inside, waiting for the batch, the devices, and what follows.
/// Each device is a process with a thread of kernels and one of exchanges, in which waiting for
/// other devices comes first.
std::string to_trace(const Recording& recording);

} // namespace weft::profile
