// SPDX-License-Identifier: Apache-2.0
#include "core/exec/comm/process_world.h"

#include "core/exec/comm/process_communicator.h"

#include <numeric>
#include <utility>

namespace weft::exec::comm {

struct ProcessWorld::State {
    State(Transport& transport, int own_rank, int ranks, ProcessWorldOptions options)
        : hosts(options.hosts), sums(options.sums),
          channel(transport, own_rank, std::move(options)), size(ranks) {
        WEFT_CHECK(hosts.empty() || std::ssize(hosts) == size, "each rank has a host");
    }

    const std::vector<int> hosts;
    const Sums sums;
    ProcessChannel channel;
    const int size;
    /// By group set; null where this rank stays out.
    std::vector<std::unique_ptr<ProcessCommunicator>> communicators;
};

ProcessWorld::ProcessWorld(Transport& transport, int rank, int size, ProcessWorldOptions options)
    : state_(std::make_unique<State>(transport, rank, size, std::move(options))) {
    WEFT_CHECK(rank >= 0 && rank < size, "a world has its ranks");
    std::vector<int> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    add_groups("world", {all});
}

ProcessWorld::~ProcessWorld() = default;

int ProcessWorld::size() const {
    return state_->size;
}

GroupSet ProcessWorld::add_groups(std::string name, std::vector<std::vector<int>> groups) {
    std::vector<bool> taken(static_cast<std::size_t>(size()), false);
    auto& end = state_->communicators.emplace_back();
    // Two ranks share one group of a set at most.
    const auto channel = static_cast<std::uint32_t>(2 * (state_->communicators.size() - 1));
    for (std::vector<int>& ranks : groups) {
        bool mine = false;
        for (const int rank : ranks) {
            WEFT_CHECK(rank >= 0 && rank < size(), "a group has ranks of the world");
            WEFT_CHECK(!taken[static_cast<std::size_t>(rank)], "groups of a set do not overlap");
            taken[static_cast<std::size_t>(rank)] = true;
            mine = mine || rank == state_->channel.rank();
        }
        if (mine) {
            end = std::make_unique<ProcessCommunicator>(state_->channel, name, std::move(ranks),
                                                        channel, state_->hosts, state_->sums);
        }
    }
    return static_cast<GroupSet>(state_->communicators.size() - 1);
}

Communicator& ProcessWorld::communicator(int world_rank, GroupSet set) {
    WEFT_CHECK(world_rank == state_->channel.rank(), "a process has the ends of its own rank");
    const auto& end = state_->communicators.at(static_cast<std::size_t>(set));
    WEFT_CHECK(end != nullptr, "the rank is in a group of the set");
    return *end;
}

void ProcessWorld::abort(std::string reason) {
    state_->channel.abort(std::move(reason));
}

std::string ProcessWorld::failure() const {
    return state_->channel.failure();
}

RankPosition ProcessWorld::position() const {
    return state_->channel.position();
}

} // namespace weft::exec::comm
