// SPDX-License-Identifier: Apache-2.0
// Ranks of this machine, started directly, and of others through ssh.
#pragma once

#include "core/launch/member.h"

namespace weft::launch {

/// A process for each rank. `begun`: the run folder holds a run.
std::vector<Member> process_members(const LaunchRequest& request, bool begun);

/// `ssh HOST ...` for each rank; ranks of hosts that are this machine (`own_name`) directly. ssh's
/// stdin brings the secret and then signals: what a rank is told goes the way that it is watched
/// by, and no command line shows the secret. Where the connection of rank 0 ends, rank 0 saves and
/// stops.
std::vector<Member> ssh_members(const LaunchRequest& request, bool begun,
                                const std::string& own_name);

/// ssh's own exit code: there is no connection, or a signal ended the program there.
inline constexpr int kSshFailed = 255;

/// ssh with the options that all our uses share, up to the host.
std::vector<std::string> ssh_words(const std::string& host);

} // namespace weft::launch
