// SPDX-License-Identifier: Apache-2.0
#include "core/exec/comm/circles.h"

#include "core/base/check.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace weft::exec::comm {

Circles::Circles(std::span<const int> world_ranks, int own, std::span<const int> hosts) {
    WEFT_CHECK(own >= 0 && own < std::ssize(world_ranks),
               "a process communicates in the groups of its rank");
    all_.ranks.resize(world_ranks.size());
    std::iota(all_.ranks.begin(), all_.ranks.end(), 0);
    all_.place = own;
    if (hosts.empty()) {
        return;
    }
    std::map<int, int> numbers;
    for (const int rank : all_.ranks) {
        const int host =
            hosts[static_cast<std::size_t>(world_ranks[static_cast<std::size_t>(rank)])];
        const int number = numbers.try_emplace(host, static_cast<int>(hosts_.size())).first->second;
        hosts_.resize(std::max(hosts_.size(), static_cast<std::size_t>(number) + 1));
        std::vector<int>& its = hosts_[static_cast<std::size_t>(number)];
        places_.push_back({number, static_cast<int>(its.size())});
        its.push_back(rank);
    }
    const std::size_t many = hosts_.front().size();
    const bool alike = std::all_of(hosts_.begin(), hosts_.end(),
                                   [&](const auto& its) { return its.size() == many; });
    if (hosts_.size() == 1 || many == 1 || !alike) {
        hosts_.clear();
        return;
    }
    near_ = {hosts_[static_cast<std::size_t>(host_of(own))], place_of(own)};
    for (const std::vector<int>& its : hosts_) {
        across_.ranks.push_back(its[static_cast<std::size_t>(near_.place)]);
    }
    across_.place = host_of(own);
}

} // namespace weft::exec::comm
