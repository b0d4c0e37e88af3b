// SPDX-License-Identifier: Apache-2.0
// Communication between processes, one rank each: a World over a library that moves bytes. What is
// added up is added up here, by reduce.h and in the ring order of in_process.h, so that a run of
// many processes has the bits of the same mesh of simulated devices, whatever the library. Unless
// it may be otherwise (Sums::by_host): then each host adds up what its ranks have before the hosts
// do, and one of bf16 or f16 is rounded by both.
//
// A collective begins with a small message of every rank of the group to every other: what it
// calls. Ranks that mean different things hear of it before anything moves. Then each rank sends
// every other what that one is to have: all_reduce as a reduce_scatter of chunks and an all_gather
// of their sums. Traffic of payload for S bytes, per rank: as of the ring in in_process.h.
//
// Of a group of n ranks, p on each of h hosts (h and p above 1), all that is gathered goes to each
// host once, by ranks of the same place, and then to its others: as many bytes, but of all_gather
// S (h-1)/n per rank go between hosts instead of S (n-p)/n. With by_host the same is true of what
// is added up. Other groups, and means, do without.
//
// Faults. A rank that fails tells `ended`, who tells the others: only control (core/exec/ranks)
// reaches a rank that waits for nobody. Alone, the others end by their timeout.
#pragma once

#include "core/base/clock.h"
#include "core/exec/comm/communicator.h"
#include "core/exec/comm/own_exchanges.h"
#include "core/exec/comm/transport.h"

#include <functional>
#include <memory>

namespace weft::exec::comm {

/// mean is always in rank order.
enum class Sums : std::uint8_t {
    in_rank_order, // as simulated devices do
    by_host,       // within hosts, then between them, where each has as many ranks of the group
};

struct ProcessWorldOptions {
    double timeout_s = 600.0;     // of one wait for another rank; above 0
    const Clock* clock = nullptr; // null: the system's; else outlives the world
    /// Told once why the world ended, on the thread that ended it, not inside a call of its own.
    std::function<void(const std::string& reason)> ended;
    std::vector<int> hosts{}; // by rank, equal numbers on one host; empty: one has all
    Sums sums = Sums::in_rank_order;
};

class ProcessWorld final : public World, public OwnExchanges {
public:
    /// `transport` is connected and outlives it.
    ProcessWorld(Transport& transport, int rank, int size, ProcessWorldOptions options = {});
    ~ProcessWorld() override;
    ProcessWorld(const ProcessWorld&) = delete;
    ProcessWorld& operator=(const ProcessWorld&) = delete;

    int size() const override;
    GroupSet add_groups(std::string name, std::vector<std::vector<int>> groups) override;
    /// Of this process's rank only.
    Communicator& communicator(int world_rank, GroupSet set = GroupSet::world) override;
    void abort(std::string reason) override;
    std::string failure() const override;

    RankPosition position() const override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::exec::comm
