// SPDX-License-Identifier: Apache-2.0
// Runs a session in this process until it ends: console or event lines out, signals and control in.
#pragma once

#include "app/cli/command_line.h"
#include "app/cli/context.h"
#include "core/train/ranks/rank_team.h"
#include "core/train/session.h"

#include <memory>
#include <string>

namespace weft::cli {

/// Options that `train` and `resume` share.
struct DriveOptions {
    std::vector<std::string> overrides; // --set
    bool events = false;                // --events
    bool quiet = false;                 // --quiet
    std::string control;                // --control: "", "stdin" or a socket path
    bool start_paused = false;          // --start-paused
    std::optional<std::int64_t> max_steps;
    train::RecordedSteps record; // --profile, --profile-from
};
void add_drive_options(Command command, DriveOptions& options);

/// Returns the exit code. Fills options.sink, control, threads, version, max_steps, record and
/// start_paused; throws weft::Error{usage} for a socket of --control that cannot be made.
int drive(train::SessionOptions session, const DriveOptions& options, const Context& context);

/// Rank 0 of a run of many processes: listens for the others from now on, and sends them away when
/// it goes without a run. Null: this process is alone. Throws weft::Error.
std::unique_ptr<train::RankTeam> open_team(const Context& context);
/// Whether this process is to serve rank 0 of the run, who reads configurations and folders.
bool serves(const Context& context);
/// What such a process does. Returns the exit code.
int serve(const Context& context);
/// Why the ranks that were started do not go with the configuration: throws weft::Error{usage}.
void require_ranks(const compile::RunConfig& config, const Context& context);

/// "Testing cuda:0 ..." on stderr.
void tell_test(const std::string& of);

} // namespace weft::cli
