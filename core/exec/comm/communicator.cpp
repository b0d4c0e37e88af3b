// SPDX-License-Identifier: Apache-2.0
#include "core/exec/comm/communicator.h"

#include "core/base/check.h"

#include <map>
#include <utility>

namespace weft::exec::comm {

std::string_view reduction_name(Reduction reduction) {
    switch (reduction) {
    case Reduction::sum: return "sum";
    case Reduction::mean: return "mean";
    case Reduction::max: return "max";
    case Reduction::min: return "min";
    }
    return "";
}

std::string_view kind_name(Kind kind) {
    switch (kind) {
    case Kind::all_reduce: return "all_reduce";
    case Kind::all_gather: return "all_gather";
    case Kind::reduce_scatter: return "reduce_scatter";
    case Kind::all_to_all: return "all_to_all";
    case Kind::permute: return "permute";
    case Kind::broadcast: return "broadcast";
    case Kind::barrier: return "barrier";
    }
    return "";
}

Outcome Communicator::send(std::span<const std::byte> src, ir::DType dtype, int destination,
                           std::string_view what, std::stop_token stop) {
    const Outcome posted = post_send(src, dtype, destination, what);
    return posted == Outcome::finished ? wait_sent(destination, last_posted(destination), stop)
                                       : posted;
}

GroupSet World::split(std::string name, std::span<const int> colours) {
    WEFT_CHECK(static_cast<int>(colours.size()) == size(), "one colour per rank of the world");
    std::map<int, std::vector<int>> groups;
    for (int rank = 0; rank < size(); ++rank) {
        const int colour = colours[static_cast<std::size_t>(rank)];
        if (colour >= 0) {
            groups[colour].push_back(rank);
        }
    }
    std::vector<std::vector<int>> lists;
    for (auto& [colour, ranks] : groups) {
        lists.push_back(std::move(ranks));
    }
    return add_groups(std::move(name), std::move(lists));
}

} // namespace weft::exec::comm
