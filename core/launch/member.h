// SPDX-License-Identifier: Apache-2.0
// A program that is started as a part of a group, as a value: what process_group.h starts, and what
// --dry-run prints.
#pragma once

#include "core/launch/request.h"

#include <string>
#include <vector>

namespace weft::launch {

struct Member {
    int rank = 0; // of a program that starts all ranks: 0
    std::string host;
    std::vector<std::string> words;  // the program and its arguments
    std::vector<Variable> variables; // on top of the caller's
    bool all_ranks = false;          // it starts them itself
    bool reads_signals = false;      // it takes names of signals from stdin, a line each
    bool reads_secret = false;       // its first line is the secret; else it is a variable
};

/// As a line of a shell script.
std::string member_line(const Member& member);

} // namespace weft::launch
