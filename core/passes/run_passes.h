// SPDX-License-Identifier: Apache-2.0
// Runs a list of passes; around each: stop request, off switch, time, verification, dump.
#pragma once

#include "core/ir/program.h"

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace weft::passes {

struct Pass {
    std::string name; // "simplify": for the off switch, times and dumps
    std::function<void(ir::Program&)> run;
};

struct RunPassesOptions {
    std::vector<std::string> disabled; // names of passes to leave out
    bool verify = true;                // check legality before the first pass and after each
    std::stop_token stop;
    /// Called after each pass with the program's name, the pass's name and the program.
    std::function<void(const std::string&, const std::string&, const ir::Program&)> dump;
};

struct TimedPass {
    std::string name;
    double ms = 0;
};

/// Changes the program in place and returns the time of each pass that ran. Throws
/// weft::Error{usage} when the program is illegal to begin with and weft::Error{runtime} when
/// stopped; a pass that makes it illegal is a programmer fault.
std::vector<TimedPass> run_passes(ir::Program& program, std::span<const Pass> passes,
                                  const RunPassesOptions& options);

} // namespace weft::passes
