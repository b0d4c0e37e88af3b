// SPDX-License-Identifier: Apache-2.0
// Looks inside the network in a run of many processes: each rank looks at its own device and hands
// over what it saw (exec::RemoteDevice asks for it).
#pragma once

#include "core/exec/device.h"
#include "core/exec/ranks/rank_member.h"
#include "core/plan/plan.h"

#include <memory>

namespace weft::train {

class RankLooks {
public:
    /// `member` outlives it.
    RankLooks(exec::RankMember& member, std::shared_ptr<const plan::ExecutionPlan> plan);
    ~RankLooks();

    /// "look" before an update, "looked" after it. False: it is another command.
    bool act(const exec::Frame& command, exec::Device& device);

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::train
