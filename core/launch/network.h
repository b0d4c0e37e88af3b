// SPDX-License-Identifier: Apache-2.0
// This machine's place in the network.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weft::launch {

struct NetworkInterface {
    std::string name;
    std::string address; // IPv4
};
/// Those that are up and have an IPv4 address, but the loopback.
std::vector<NetworkInterface> network_interfaces();

/// The address of the named one, the loopback included. Throws weft::Error{usage} that names those
/// that there are.
std::string address_of_interface(const std::string& name);

/// The address at which other hosts find this one, where there is only one. Else throws
/// weft::Error{usage}: --interface has to say which.
std::string address_for_others();

/// A TCP port of `address` that nobody has now. Throws weft::Error{runtime}.
int free_port(const std::string& address);

/// Of this machine, without its domain; empty where it has no name.
std::string own_host_name();

} // namespace weft::launch
