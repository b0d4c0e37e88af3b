// SPDX-License-Identifier: Apache-2.0
// Ranks as a group of processes: started together, watched, and ended together. Rank 0 decides; the
// group lives as long as it does.
#pragma once

#include "core/launch/member.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace weft::launch {

struct WatchOptions {
    int signal_descriptor = -1; // a signalfd: what it gives goes to rank 0 alone. -1: none
    int error = 2;              // where lines of other ranks go
    /// A line for people.
    std::function<void(const std::string&)> tell;
    /// Rank 0 may say what happened, and save, for so long after another rank has died.
    std::chrono::milliseconds last_words{15000};
    /// Others may end by themselves for so long after rank 0 has.
    std::chrono::milliseconds farewell{10000};
};

/// How a group ended.
struct GroupEnd {
    int code = 0;         // of rank 0; 128 and the signal's number where a signal ended it
    bool asked = false;   // the user's signal ended it
    bool gave_up = false; // rank 0 was told to stop, as another was out of sight
    int lost_rank = -1;   // the first other rank that died before rank 0 ended
    std::string cause;    // for people: what died first; empty where nothing did
    /// Whether starting it anew may help: it did not end well, nobody asked for the end, the
    /// configuration is not at fault (2) and it did not diverge (5), which it would again.
    bool is_fault() const;
};

/// Starts the members and returns when all of them have ended. Rank 0 has our stdin (no terminal),
/// stdout and stderr; what others print goes to `error`, line by line, as "[rank 3 host] ...".
/// SIGINT, SIGTERM, SIGHUP and SIGUSR1 go to rank 0; the fourth that asks for the end kills all.
/// Throws weft::Error{runtime} where a member cannot be started; then none is left.
GroupEnd watch_group(const std::vector<Member>& members, const std::string& secret,
                     const WatchOptions& options);

} // namespace weft::launch
