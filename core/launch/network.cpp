// SPDX-License-Identifier: Apache-2.0
#include "core/launch/network.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/launch/spawn.h"

#include <arpa/inet.h>
#include <cerrno>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft::launch {
namespace {

std::vector<NetworkInterface> all_interfaces(bool with_loopback) {
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) {
        throw Error(ErrorKind::runtime, "network interfaces", system_error_text(errno));
    }
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
    std::vector<NetworkInterface> out;
    for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
        const bool up = (one->ifa_flags & IFF_UP) != 0;
        const bool loopback = (one->ifa_flags & IFF_LOOPBACK) != 0;
        if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || !up ||
            (loopback && !with_loopback)) {
            continue;
        }
        const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
        char text[INET_ADDRSTRLEN] = {};
        ::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
        out.push_back({one->ifa_name, text});
    }
    return out;
}

std::string names_of(const std::vector<NetworkInterface>& interfaces) {
    std::string out;
    for (const NetworkInterface& one : interfaces) {
        out += (out.empty() ? "" : ", ") + one.name + " (" + one.address + ")";
    }
    return out.empty() ? "none" : out;
}

} // namespace

std::vector<NetworkInterface> network_interfaces() {
    return all_interfaces(false);
}

std::string address_of_interface(const std::string& name) {
    const std::vector<NetworkInterface> all = all_interfaces(true);
    for (const NetworkInterface& one : all) {
        if (one.name == name) {
            return one.address;
        }
    }
    throw Error(ErrorKind::usage, "--interface " + shown(name),
                "this machine has no such interface with an IPv4 address that is up",
                "There are: " + names_of(all) + ".");
}

std::string address_for_others() {
    const std::vector<NetworkInterface> all = network_interfaces();
    if (all.size() == 1) {
        return all.front().address;
    }
    throw Error(ErrorKind::usage, "rank 0 on this machine",
                all.empty() ? "no network interface is up through which other hosts could reach it"
                            : "it has several network interfaces: " + names_of(all),
                "Say with --interface which one leads to the other hosts.");
}

int free_port(const std::string& address) {
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in place{};
    place.sin_family = AF_INET;
    socklen_t size = sizeof place;
    if (::inet_pton(AF_INET, address.c_str(), &place.sin_addr) != 1 ||
        ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&place), size) != 0 ||
        ::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&place), &size) != 0) {
        throw Error(ErrorKind::runtime, address,
                    "there is no free port: " + system_error_text(errno), "Name one with --port.");
    }
    return ntohs(place.sin_port);
}

std::string own_host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0) {
        return {};
    }
    const std::string text = name;
    return text.substr(0, text.find('.'));
}

} // namespace weft::launch
