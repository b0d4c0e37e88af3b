// SPDX-License-Identifier: Apache-2.0
// Runs and checkpoints that an address in an object store names ("s3://bucket/runs/a"): they are
// brought to this machine, and used here like any other. Any thread; all of it waits for the
// network.
#pragma once

#include "core/checkpoint/checkpoint.h"

#include <filesystem>
#include <stop_token>
#include <string>

namespace weft::train {

/// How it is done: `progress` hears the share of the arrays that are here, 0 to 1; `stop` ends any
/// request, which then throws.
struct FetchOptions {
    checkpoint::Progress progress{};
    std::stop_token stop{};
};

/// Brings the checkpoint that `address` and `from` ("latest", "best", a step) name into the cache,
/// unless it is there. Gives its folder. Throws weft::Error.
std::filesystem::path fetch_checkpoint_at(const std::string& address, const std::string& from,
                                          const FetchOptions& options);

/// A run of a store to go on with on this machine: its configuration, its record and one
/// checkpoint, as a folder of its name below `runs`. Curves and events stay where they were made.
/// Throws weft::Error; usage, where that folder is there already.
struct FetchedRun {
    std::filesystem::path folder;
    std::filesystem::path checkpoint;
};
FetchedRun fetch_run(const std::string& address, const std::string& from,
                     const std::filesystem::path& runs, const FetchOptions& options);

} // namespace weft::train
