// SPDX-License-Identifier: Apache-2.0
// Rows of batches in a run of many processes: each rank that finds the run's data makes those that
// its device holds. Rank 0 makes its own, and those of ranks that do not find the data.
#pragma once

#include "core/data/dataset.h"
#include "core/exec/device.h"
#include "core/exec/ranks/rank_hub.h"
#include "core/exec/ranks/rank_member.h"
#include "core/plan/plan.h"
#include "core/train/ranks/batch_feed.h"

#include <functional>
#include <map>
#include <memory>
#include <set>

namespace weft::train {

/// Fills what a device holds of the arguments that are made of batches. `argument` is the device's
/// part of the one of this name.
void write_rows(const plan::ExecutionPlan& plan, int device, const std::string& program,
                const data::Batch& batch,
                const std::function<exec::HostPart(const std::string& name)>& argument);

/// Rank 0's side.
class RankRows {
public:
    /// `hub` outlives it.
    RankRows(exec::RankHub& hub, std::shared_ptr<const plan::ExecutionPlan> plan);

    /// Hears what happened and what to do.
    using Warn = std::function<void(const std::string& text, const std::string& hint)>;
    void on_warning(Warn warn) { warn_ = std::move(warn); }
    /// Has all ranks look at their data, once for each part; warns of those who do not find it.
    /// Throws weft::Error{data} with host and file where theirs are not those of `source`.
    void look_at(const std::string& part, const data::Source& source);
    /// Devices whose rows rank 0 makes; after look_at.
    const std::set<int>& made_here(const std::string& part) const { return made_here_.at(part); }
    /// What rank 0 does with each row; `all`: it makes those that others count, too.
    std::vector<data::RowUse> own_rows(const BatchOrder& order, bool all) const;

    /// Has ranks make batches from now on. Returns their number.
    int begin(const BatchOrder& order, const data::Source& source);
    void end(int number) noexcept;
    void wait_until_full(int number);
    /// Has them make the next one. Adds to count and left_out of `own` what they found in theirs.
    /// `uses`: by rank, what making batches took of each so far.
    void next(int number, data::Batch& own, std::vector<data::LoaderUse>& uses);
    /// Has them write the rows of that batch into the arguments of its program.
    void give(int number);

private:
    exec::RankHub& hub_;
    const std::shared_ptr<const plan::ExecutionPlan> plan_;
    Warn warn_ = [](const std::string&, const std::string&) {};
    std::map<std::string, std::set<int>> made_here_; // by part
    int last_number_ = 0;
};

/// A rank's side.
class RankLoaders {
public:
    /// `member` outlives it.
    RankLoaders(exec::RankMember& member, compile::RunConfig config,
                std::shared_ptr<const plan::ExecutionPlan> plan);
    ~RankLoaders();

    /// False: it is another command.
    bool act(const exec::Frame& command, exec::Device& device);

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::train
