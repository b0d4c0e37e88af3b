// SPDX-License-Identifier: Apache-2.0
// Communication between the threads of one process: the World of simulated devices. Ranks publish
// where their buffers are, meet, and read each other's memory; nothing is copied twice and nothing
// is allocated once each call has been made with its largest size.
//
// Order of summation, for n ranks x0 .. x(n-1):
//   ring  all_reduce cuts each tensor into n chunks (the first count % n are one element longer);
//         chunk c is summed x(c+1) + x(c+2) + ... + x(c), ranks counted round, as it travels a
//         ring. reduce_scatter sums part c so with either algorithm: it equals the chunks of
//         all_reduce.
//   tree  all_reduce sums every element pairwise at distances 1, 2, 4, ...:
//         ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + ...), as up a binomial tree.
// Traffic for S bytes, per rank: ring all_reduce 2S(n-1)/n; all_gather, reduce_scatter, all_to_all
// S(n-1)/n of the larger buffer; permute S per route to another rank; broadcast S per child in a
// binomial tree; tree all_reduce S to the parent and S to each child (bf16, f16: partial sums go up
// in f32, 2S). A barrier is one meeting of all ranks, other collectives are two, ring all_reduce
// three, and a tree has one more per level and direction.
#pragma once

#include "core/base/clock.h"
#include "core/exec/comm/communicator.h"

#include <memory>

namespace weft::exec::comm {

enum class Algorithm : std::uint8_t { ring, tree };

/// Told where another rank may overtake this one, on the rank's thread: tests inject delays here.
/// May take its time and may abort the world; must not throw or call a communicator.
class ScheduleHook {
public:
    virtual ~ScheduleHook() = default;
    virtual void reached(int world_rank) = 0;
};

struct InProcessOptions {
    Algorithm algorithm = Algorithm::ring; // of all_reduce
    double timeout_s = 600.0; // of a wait in which no rank begins or ends a call; above 0
    const Clock* clock = nullptr;          // null: the system's; else outlives the world
    ScheduleHook* hook = nullptr;          // outlives the world
};

class InProcessWorld final : public World {
public:
    explicit InProcessWorld(int ranks, InProcessOptions options = {});
    /// No rank is inside a call.
    ~InProcessWorld() override;
    InProcessWorld(const InProcessWorld&) = delete;
    InProcessWorld& operator=(const InProcessWorld&) = delete;

    int size() const override;
    GroupSet add_groups(std::string name, std::vector<std::vector<int>> groups) override;
    Communicator& communicator(int world_rank, GroupSet set = GroupSet::world) override;
    void abort(std::string reason) override;
    std::string failure() const override;

    /// Ends the run when a rank has waited for longer than the timeout in vain. Waiting ranks do
    /// this by themselves as real time passes; whoever moves a clock of his own calls it.
    void check_timeouts();
    /// How many ranks wait for others at this moment.
    int waiting_ranks() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::exec::comm
