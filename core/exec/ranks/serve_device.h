// SPDX-License-Identifier: Apache-2.0
// A rank's device at the service of the hub.
#pragma once

#include "core/exec/device.h"
#include "core/exec/ranks/rank_member.h"

#include <functional>

namespace weft::exec {

/// What else a rank does than run its device; false: it does not know the command.
using OtherCommands = std::function<bool(const Frame& command, Device& device)>;

/// Does what the hub wants with the device of this rank until the run ends, on this thread. The
/// world is connected and the plan that of the hub. Throws weft::Error{device} when the hub is
/// lost.
RankMember::Next serve_device(RankMember& member, std::shared_ptr<const plan::ExecutionPlan> plan,
                              const Compute& compute, const ExecutorOptions& options,
                              const OtherCommands& others);

} // namespace weft::exec
