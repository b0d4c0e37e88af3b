// SPDX-License-Identifier: Apache-2.0
// Whether hosts can be reached through ssh and have the same weft, before anything is started.
#pragma once

#include "core/launch/request.h"
#include "core/launch/spawn.h"

#include <functional>
#include <string>
#include <vector>

namespace weft::launch {

/// launch::ask, but in tests.
using AskHosts = std::function<std::vector<Answer>(const std::vector<std::vector<std::string>>&)>;

/// The first lines of what the hosts answer to `program --version` must be `version` ("weft 1.2").
/// Throws weft::Error{usage} that names every host which is otherwise, and what it says.
void check_versions(const LaunchRequest& request, const std::string& version,
                    const std::string& own_name, const AskHosts& ask);

/// Hosts that do not answer; this machine does.
std::vector<std::string> silent_hosts(const std::vector<HostRanks>& hosts,
                                      const std::string& own_name, const AskHosts& ask);

/// The address of `interface` on a host. Throws weft::Error{usage}.
std::string ask_interface_address(const std::string& host, const std::string& interface,
                                  const AskHosts& ask);

/// The name or address that ssh connects to for a host, of its configuration; `host` itself without
/// its user where ssh says nothing.
std::string ask_real_name(const std::string& host, const AskHosts& ask);

} // namespace weft::launch
