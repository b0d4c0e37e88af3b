// SPDX-License-Identifier: Apache-2.0
#include "core/exec/comm/in_process.h"

#include "core/exec/comm/in_process_communicator.h"

#include <numeric>
#include <utility>

namespace weft::exec::comm {

struct InProcessWorld::State {
    State(int ranks, InProcessOptions options) : rendezvous(ranks, options) {}

    Rendezvous rendezvous;
    /// By group set and world rank; null for a rank that stays out.
    std::vector<std::vector<std::unique_ptr<Communicator>>> communicators;
};

InProcessWorld::InProcessWorld(int ranks, InProcessOptions options) {
    WEFT_CHECK(ranks > 0, "a world has at least one rank");
    state_ = std::make_unique<State>(ranks, options);
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    add_groups("world", {all});
}

InProcessWorld::~InProcessWorld() = default;

int InProcessWorld::size() const {
    return state_->rendezvous.size();
}

GroupSet InProcessWorld::add_groups(std::string name, std::vector<std::vector<int>> groups) {
    std::vector<std::unique_ptr<Communicator>> ends(static_cast<std::size_t>(size()));
    for (std::vector<int>& ranks : groups) {
        for (const int rank : ranks) {
            WEFT_CHECK(rank >= 0 && rank < size(), "a group has ranks of the world");
        }
        Group& group = state_->rendezvous.add_group(name, std::move(ranks));
        for (int member = 0; member < group.size(); ++member) {
            auto& end = ends[static_cast<std::size_t>(group.member(member).world_rank)];
            WEFT_CHECK(end == nullptr, "groups of a set do not overlap");
            end = std::make_unique<InProcessCommunicator>(state_->rendezvous, group, member);
        }
    }
    state_->communicators.push_back(std::move(ends));
    return static_cast<GroupSet>(state_->communicators.size() - 1);
}

Communicator& InProcessWorld::communicator(int world_rank, GroupSet set) {
    const auto& end = state_->communicators.at(static_cast<std::size_t>(set))
                          .at(static_cast<std::size_t>(world_rank));
    WEFT_CHECK(end != nullptr, "the rank is in a group of the set");
    return *end;
}

void InProcessWorld::abort(std::string reason) {
    state_->rendezvous.abort(std::move(reason));
}

std::string InProcessWorld::failure() const {
    return state_->rendezvous.failure();
}

void InProcessWorld::check_timeouts() {
    state_->rendezvous.check_timeouts();
}

int InProcessWorld::waiting_ranks() const {
    return state_->rendezvous.waiting_ranks();
}

} // namespace weft::exec::comm
