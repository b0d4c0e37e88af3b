// SPDX-License-Identifier: Apache-2.0
// The processes of a run, one for each device of its mesh: rank 0 trains and drives the others, who
// serve. All of them make the plan of the run for themselves and compare it.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/exec/ranks/rank_hub.h"
#include "core/exec/ranks/rank_member.h"
#include "core/plan/plan.h"
#include "core/train/planning.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace weft::train {

class RankRows;
class RankSaves;

struct RankTeamOptions {
    int rank = 0;
    int size = 1;
    int local_size = 1;  // ranks of this host
    std::string address; // where rank 0 is found
    int port = 0;
    std::string secret;
    std::string version;   // of the program
    std::string interface; // over which ranks exchange; empty: the library's choice
    bool started_by_mpi = false;
    int threads = 0; // of each rank's kernels; 0: its share of the cores of its host
    double join_timeout_s = 600;
};

/// What each rank has to know to make the same plan.
struct TeamPlan {
    const compile::RunConfig& config;
    const data::DataOutline& data;
    std::shared_ptr<const plan::ExecutionPlan> plan;
    int threads = 0;        // that were planned for
    int device_threads = 1; // of each device
    std::optional<std::int64_t> limit_bytes;
    double timeout_s = 600; // of an exchange
    std::filesystem::path run_folder;
};

/// Why ranks and configuration do not go together; throws weft::Error{usage}.
void check_ranks(const compile::RunConfig& config, int ranks);

/// Rank 0's.
class RankTeam {
public:
    /// Listens for the others. Throws weft::Error{device}.
    explicit RankTeam(RankTeamOptions options);
    ~RankTeam();
    RankTeam(const RankTeam&) = delete;
    RankTeam& operator=(const RankTeam&) = delete;

    /// Told of ranks from now on, on any thread.
    void on_news(std::function<void(const exec::RankNews&)> news);
    /// Until all are there. Throws weft::Error{device}.
    void gather(const std::stop_token& stop);
    /// The machine of rank 0 as a target for the devices of all ranks, with the memory of all hosts
    /// and the threads that every rank has, or that of all GPUs; once they are gathered. GPUs pass
    /// their self-test before. Throws weft::Error.
    PlanTarget target(const compile::RunConfig& config, PlanTarget out) const;
    /// Has all of them plan the run and meet. Throws weft::Error{device} where a rank cannot, or
    /// has another plan.
    void set_up(const TeamPlan& plan);

    exec::RankHub& hub();
    /// How checkpoints are written, once it is set up.
    RankSaves& saves();
    /// How batches come to the ranks, once it is set up.
    RankRows& rows();
    /// What ranks exchange through: "gloo", "nccl"; once it is set up.
    const std::string& transport() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

enum class Served : std::uint8_t { well, failed };
/// Every other rank: joins, serves until the run ends. `joined` is called once it is part of the
/// run. Throws weft::Error.
Served serve_rank(const RankTeamOptions& options, const std::function<void()>& joined);

} // namespace weft::train
