// SPDX-License-Identifier: Apache-2.0
// What the process was given besides its arguments: environment variables and terminals, read once
// in main and passed down. And what it will give back: the exit code.
#pragma once

#include "core/config/diagnostic.h"
#include "core/launch/rank_place.h"

#include <filesystem>
#include <string>
#include <vector>

namespace weft::cli {

/// Exit codes that are not those of an error kind.
constexpr int kExitDiffers = 1; // what was compared
constexpr int kExitUsage = 2;
constexpr int kExitStopped = 75;

struct Context {
    std::filesystem::path runs_root;        // $WEFT_RUNS, else ~/WeftRuns
    std::filesystem::path calibration_file; // $XDG_CACHE_HOME/weft/calibration.json
    std::vector<std::filesystem::path>
        module_folders;                     // $WEFT_MODULES first, then beside the program
    std::filesystem::path code_folder;      // $XDG_CACHE_HOME/weft/kernels
    std::filesystem::path verdict_folder;   // $XDG_CACHE_HOME/weft/self-test
    std::filesystem::path runtime_folder;   // $XDG_RUNTIME_DIR; may be empty
    std::filesystem::path temp_folder;      // $TMPDIR, else /tmp
    std::string program_path;               // $PATH
    bool modules_by_hand = false;           // $WEFT_MODULES is set
    std::filesystem::path program;          // this one, to be started again
    std::vector<std::string> environment;   // NAME=value, all of it, for what is started
    int threads = 0;                        // $OMP_NUM_THREADS; 0: all cores
    std::optional<launch::RankPlace> place; // among the ranks of a run; none: it is alone
    std::string interface;                  // $WEFT_INTERFACE, over which ranks exchange
    bool terminal = false;                  // stdout is one
    bool error_terminal = false;            // stderr is one
    bool colour = false;                    // it is, and NO_COLOR is not set
    int columns = 80;
    int exit_code = 0;
};

/// Reads the environment. Throws weft::Error{usage} for what cannot be: ranks that contradict each
/// other.
Context read_context();

/// Every diagnostic on stderr, one per line, with a count at the end.
void print_diagnostics(const config::Diagnostics& diagnostics);
/// "weft: error: ..." on stderr.
void print_error(const std::string& message);

} // namespace weft::cli
