// SPDX-License-Identifier: Apache-2.0
// Runs and checkpoints that are named by an address in an object store: they are fetched, with
// a line at the terminal, and used here like any other.
#pragma once

#include "app/cli/context.h"
#include "core/train/remote/fetch_run.h"

#include <filesystem>
#include <string>

namespace weft::cli {

/// The folder of the checkpoint that `path` and `from` ("latest", "best", a step) name. One of a
/// store is fetched into the cache first, unless it is there. Throws weft::Error.
std::filesystem::path checkpoint_at(const std::string& path, const std::string& from,
                                    const Context& context);

/// train::fetch_run below the folder for runs.
train::FetchedRun fetch_run(const std::string& address, const std::string& from,
                            const Context& context);

} // namespace weft::cli
