// SPDX-License-Identifier: Apache-2.0
// Runs and checkpoints that are named by an address in an object store: they are fetched, and used
// here like any other.
#pragma once

#include "app/cli/context.h"

#include <filesystem>
#include <string>

namespace weft::cli {

/// The folder of the checkpoint that `path` and `from` ("latest", "best", a step) name. One of a
/// store is fetched into the cache first, unless it is there. Throws weft::Error.
std::filesystem::path checkpoint_at(const std::string& path, const std::string& from,
                                    const Context& context);

/// A run of a store to go on with on this machine: its configuration, its record and one
/// checkpoint, as a folder of its name below the folder for runs. Curves and events stay where they
/// were made. Throws weft::Error{usage} where that folder is there already.
struct FetchedRun {
    std::filesystem::path folder;
    std::filesystem::path checkpoint;
};
FetchedRun fetch_run(const std::string& address, const std::string& from, const Context& context);

} // namespace weft::cli
