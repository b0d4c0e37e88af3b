// SPDX-License-Identifier: Apache-2.0
// A run of another host as a folder here: its record without the arrays of its checkpoints, which
// are fetched one by one. While it is followed the folder is locked and has a control socket like
// that of a run of this machine, so that whoever shows or commands runs needs to know nothing.
#pragma once

#include "core/hosts/connection.h"

#include <optional>

namespace weft::hosts {

/// <mirror>/mirror.json: what a folder is a copy of.
struct Mirror {
    std::string host;
    std::string run; // its folder there
};
/// Nothing where the folder is none.
std::optional<Mirror> read_mirror(const Path& folder);
/// Where a run of a host lies here, or would: a folder of its name, with the host's behind it where
/// something else has that.
Path mirror_folder(const Path& runs_root, const Mirror& mirror);

struct FollowOptions {
    double every_s = 2; // between two looks
    Path sockets;       // a private folder for the control socket (train::control_folder)
    /// A line for people: begun, the connection is lost, is back.
    std::function<void(const std::string&)> tell;
};
/// Copies the record and goes on until nobody trains the run there, or somebody stops the
/// connection. A lost
/// connection is tried again, every ten seconds at most; what was written meanwhile is read then.
/// Throws weft::Error: {device} where the host cannot be reached at first, {usage} where there is
/// no such run or the folder here is another or has been trained on, {runtime}.
void follow(const Connection& connection, const std::string& run, const Path& folder,
            const FollowOptions& options);

/// One checkpoint of the run into its folder here, whose record is copied too; `which` is "latest",
/// "best" or a step. Checked sum by sum before it gets its name. `progress` is told 0 to 1. Returns
/// its folder; one that is here is left as it is. Throws as follow() does, and
/// weft::Error{checkpoint}; Connection::Stopped.
Path fetch_checkpoint(const Connection& connection, const std::string& run, const Path& folder,
                      const std::string& which, const std::function<void(double)>& progress);

} // namespace weft::hosts
