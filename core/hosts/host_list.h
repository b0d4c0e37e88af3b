// SPDX-License-Identifier: Apache-2.0
// The machines that a user trains on besides this one: how ssh calls each, and what weft is called
// there. <runs root>/hosts.json, read and changed by any number of processes. No password and no
// key is kept: OpenSSH has those.
#pragma once

#include "core/base/file.h"

#include <string>
#include <vector>

namespace weft::hosts {

struct Host {
    std::string name;             // as ssh takes it: "gpu-box", "you@10.0.0.14"
    std::string program = "weft"; // there: a path, or a name that its PATH finds
    std::string runs;             // its folder of runs; empty: WeftRuns in the home folder there
};

Path list_file(const Path& runs_root);
/// In the order in which they were added; none where there is no file. Throws weft::Error{runtime}
/// for a file that is damaged: it is never written over.
std::vector<Host> read_hosts(const Path& runs_root);
/// Throws weft::Error{usage} where there is none of that name.
Host find_host(const Path& runs_root, const std::string& name);
/// Throws weft::Error{usage} for a name that ssh would take for an option or that is there already.
void add_host(const Path& runs_root, const Host& host);
/// Its runs stay where they are. Throws weft::Error{usage} where there is none of that name.
void remove_host(const Path& runs_root, const std::string& name);

} // namespace weft::hosts
