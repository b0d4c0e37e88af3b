// SPDX-License-Identifier: Apache-2.0
#include "core/launch/request.h"

#include "core/base/error.h"
#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace weft::launch {
namespace {

constexpr int kMostRanksOfHost = 4096;

[[noreturn]] void refuse_host(const std::string& host, const std::string& text) {
    throw Error(ErrorKind::usage, "--hosts", "'" + shown(host) + "' " + text,
                "Name hosts as ssh knows them, with a number of ranks each: a:4,b:4.");
}

// The number behind the last colon, where there is one and it does not belong to an address.
std::optional<int> take_count(std::string& host) {
    const std::size_t colon = host.rfind(':');
    const bool address = colon != std::string::npos && host.find(':') != colon &&
                         (colon == 0 || host[colon - 1] != ']');
    if (colon == std::string::npos || address) {
        return std::nullopt;
    }
    const std::string digits = host.substr(colon + 1);
    int count = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || count < 1 ||
        count > kMostRanksOfHost) {
        refuse_host(host, "does not end in a number of ranks from 1 to " +
                              std::to_string(kMostRanksOfHost));
    }
    host.resize(colon);
    return count;
}

void check_host(const std::string& host) {
    if (host.empty()) {
        refuse_host(host, "names no host");
    }
    if (host.front() == '-') {
        refuse_host(host, "begins with '-', which programs take for an option");
    }
    const bool control = std::any_of(host.begin(), host.end(), [](char letter) {
        return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f;
    });
    if (control) {
        refuse_host(host, "holds a control character");
    }
}

} // namespace

std::vector<HostRanks> parse_hosts(std::string_view text, int per_host) {
    std::vector<HostRanks> out;
    std::set<std::string> seen;
    for (const std::string& part : split(text, ',')) {
        HostRanks host;
        host.name = std::string(trim(part));
        const std::optional<int> count = take_count(host.name);
        if (host.name.size() > 2 && host.name.front() == '[' && host.name.back() == ']') {
            host.name = host.name.substr(1, host.name.size() - 2);
        }
        check_host(host.name);
        if (!seen.insert(host.name).second) {
            refuse_host(host.name, "is named twice");
        }
        host.places = count.value_or(std::max(1, per_host));
        host.ranks = per_host > 0 ? per_host : host.places;
        out.push_back(host);
    }
    return out;
}

int rank_count(const std::vector<HostRanks>& hosts) {
    int out = 0;
    for (const HostRanks& host : hosts) {
        out += host.ranks;
    }
    return out;
}

int rank_count(const LaunchRequest& request) {
    return rank_count(request.hosts);
}

std::vector<HostRanks> with_ranks(std::vector<HostRanks> hosts, int ranks) {
    for (int more = rank_count(hosts) - ranks; more > 0;) {
        HostRanks& last = hosts.back();
        const int gone = std::min(more, last.ranks);
        last.ranks -= gone;
        more -= gone;
        if (last.ranks == 0) {
            hosts.pop_back();
        }
    }
    return hosts;
}

std::vector<RankSeat> seats_of(const LaunchRequest& request) {
    std::vector<RankSeat> out;
    for (const HostRanks& host : request.hosts) {
        for (int local = 0; local < host.ranks; ++local) {
            out.push_back({static_cast<int>(out.size()), local, &host});
        }
    }
    return out;
}

std::vector<Variable> rank_variables(const LaunchRequest& request, const RankSeat& seat) {
    std::vector<Variable> out = {{"RANK", std::to_string(seat.rank)},
                                 {"WORLD_SIZE", std::to_string(rank_count(request))},
                                 {"LOCAL_RANK", std::to_string(seat.local_rank)},
                                 {"LOCAL_WORLD_SIZE", std::to_string(seat.host->ranks)},
                                 {"MASTER_ADDR", request.master_addr},
                                 {"MASTER_PORT", std::to_string(request.master_port)}};
    if (!request.interface.empty()) {
        out.emplace_back(kInterfaceVariable, request.interface);
    }
    return out;
}

bool is_this_machine(const std::string& host, const std::string& own_name) {
    return host == "localhost" || host == "127.0.0.1" || host == "::1" ||
           (!own_name.empty() && host == own_name);
}

} // namespace weft::launch
