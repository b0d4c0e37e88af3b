// SPDX-License-Identifier: Apache-2.0
// A rank's device at the service of the hub.
#pragma once

#include "core/exec/executor.h"
#include "core/exec/ranks/rank_member.h"

namespace weft::exec {

/// Does what the hub wants with the device of this rank until the run ends, on this thread. The
/// world is connected and the plan that of the hub. Throws weft::Error{device} when the hub is
/// lost.
RankMember::Next serve_device(RankMember& member, std::shared_ptr<const plan::ExecutionPlan> plan,
                              const Compute& compute, const ExecutorOptions& options);

} // namespace weft::exec
