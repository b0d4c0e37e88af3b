// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a run of many processes: each rank that sees the run's folder writes what its
// device holds, and rank 0 commits. Of ranks that do not see it rank 0 fetches and writes.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/exec/device.h"
#include "core/exec/ranks/rank_hub.h"
#include "core/exec/ranks/rank_member.h"
#include "core/plan/plan.h"

#include <filesystem>
#include <memory>
#include <set>

namespace weft::train {

/// Rank 0's side.
class RankSaves {
public:
    /// `hub` outlives it. Asks which ranks see the folder. Throws weft::Error.
    RankSaves(exec::RankHub& hub, const std::filesystem::path& run_folder);

    /// Ranks that write their own.
    const std::set<int>& writers() const { return writers_; }
    bool all_write() const { return static_cast<int>(writers_.size()) + 1 == hub_.size(); }
    /// Has them copy what they hold as it is now; until then no step may run. Not while a save is
    /// being written. Throws weft::Error.
    void stage();
    /// For ManagerOptions::elsewhere.
    checkpoint::WriteElsewhere elsewhere();

private:
    exec::RankHub& hub_;
    std::set<int> writers_;
};

/// A rank's side.
class RankShards {
public:
    /// `member` outlives it.
    RankShards(exec::RankMember& member, std::shared_ptr<const plan::ExecutionPlan> plan);
    ~RankShards(); // waits for what is being written

    /// False: it is another command.
    bool act(const exec::Frame& command, exec::Device& device);

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::train
