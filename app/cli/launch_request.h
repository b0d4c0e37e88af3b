// SPDX-License-Identifier: Apache-2.0
// From what `weft launch` was given to a request that core/launch can carry out.
#pragma once

#include "app/cli/context.h"
#include "core/compile/config/run_config.h"
#include "core/launch/check_hosts.h"
#include "core/launch/choose_way.h"
#include "core/launch/request.h"

#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

struct LaunchOptions {
    std::string target; // a configuration, a model, or a run
    std::string hosts;
    int nodes = 1;
    int per_host = 0;
    std::string with = "auto";
    std::string backend = "auto";
    std::vector<std::string> overrides;
    std::string run_dir;
    std::string program;
    std::string interface;
    int port = 0;
    int restarts = 0;
    bool elastic = false;
    bool dry_run = false;
    std::string claim; // NAME:PATH
    launch::SlurmOptions slurm;
    launch::KubernetesOptions kubernetes;
    std::vector<std::string> more; // for weft train or resume
};

struct PreparedLaunch {
    launch::LaunchRequest request;
    compile::RunConfig config;            // as it begins
    std::vector<launch::HostRanks> hosts; // all that it may use
    launch::WayChoice choice;
    std::string own_name;
    std::filesystem::path run;          // that goes on; empty: a new one begins
    bool fork = false;                  // in a folder of its own
    std::vector<std::string> overrides; // --set, with those that follow from other options

    /// The run folder holds the run already.
    bool begun() const { return !run.empty() && !fork; }
};

/// Reads and checks the configuration or the run, with a mesh of as many devices as there are
/// ranks, and chooses the way. Writes nothing. nullopt: diagnostics have been printed. Throws
/// weft::Error.
std::optional<PreparedLaunch> read_launch(const LaunchOptions& options, const Context& context);

/// Makes the run folder, but names it only with --dry-run, and the arguments of weft.
void make_place(PreparedLaunch& launch, const LaunchOptions& options, const Context& context);

/// For a start after a fault: the hosts that answer now, with as many ranks as the mesh can have.
/// What became of the others, for people; empty: all answer. Throws weft::Error{runtime} where
/// nothing is left to start.
std::string take_hosts_that_answer(PreparedLaunch& launch);

/// Where rank 0 listens, with a port and a secret for this start; of a way that needs them.
void choose_meeting_point(PreparedLaunch& launch, const LaunchOptions& options);

/// launch::ask with the patience that a host needs to answer.
std::vector<launch::Answer> ask_hosts(const std::vector<std::vector<std::string>>& commands);

} // namespace weft::cli
