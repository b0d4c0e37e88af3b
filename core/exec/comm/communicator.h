// SPDX-License-Identifier: Apache-2.0
// The contract of communication between the ranks of a run: what in-process threads, MPI, Gloo and
// NCCL have in common.
//
// Bootstrap. A World knows all n ranks; a process hosts some of them (in-process: all, MPI and
// NCCL: one). Sub-groups are made once, before the run, from rank lists that every process knows (a
// mesh gives them), by the same calls in the same order everywhere: ncclCommSplit, MPI_Comm_split
// and Gloo contexts need no more. Each rank of a group has a Communicator of its own, used by one
// thread at a time.
//
// Order. All ranks of a group call the same collectives in the same order. Each rank counts its
// collectives per group from 1; number, kind, reduction, element types and counts and the label
// `what` are compared. Messages between two ranks are counted apart, per direction.
//
// Memory. Calls are synchronous: when one returns, its buffers belong to the caller again. `dst`
// may be `src` in all_reduce, and part rank() of the larger buffer may be the smaller one in
// all_gather and reduce_scatter; else buffers do not overlap. Sizes are whole elements; a wrong
// size within one rank's call is a programmer fault. A call that is not `finished` leaves `dst`
// undefined.
//
// Arithmetic. The result is a function of the inputs alone, never of timing, and bitwise equal on
// every rank that gets it. An implementation states its order of summation; between two of them
// results differ by rounding.
//
// Faults. After a timeout, an abort, a mismatch or a death nobody waits for ever: every call on
// every rank, waiting or later, throws the same weft::Error{device}. A fault is final: make a new
// World. Death is noticed as a timeout at the latest.
#pragma once

#include "core/ir/type.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace weft::exec::comm {

/// mean: the sum divided once by the number of ranks; float types only. max and min: NaN wins.
/// Integer sums wrap around.
enum class Reduction : std::uint8_t { sum, mean, max, min };

enum class Kind : std::uint8_t {
    all_reduce,
    all_gather,
    reduce_scatter,
    all_to_all,
    permute,
    broadcast,
    barrier,
};

std::string_view reduction_name(Reduction reduction); // "sum", ...
std::string_view kind_name(Kind kind);                // "all_reduce", ...

/// `stopped`: a stop request ended the wait of this rank or of another. Final, as a fault is.
enum class [[nodiscard]] Outcome : std::uint8_t{finished, stopped};

/// One tensor of a collective as this rank gives and takes it.
struct Transfer {
    std::span<const std::byte> src;
    std::span<std::byte> dst;
    ir::DType dtype = ir::DType::f32;
};

/// One pair of a permutation, ranks of the group.
struct Route {
    int source = 0;
    int destination = 0;
    friend bool operator==(const Route&, const Route&) = default;
};

/// What one rank did in one group since the group was made. Bytes are payload that left this rank's
/// memory for another rank's, or came from there.
struct Traffic {
    std::int64_t collectives = 0;
    std::int64_t messages_sent = 0;
    std::int64_t sent_bytes = 0;
    std::int64_t received_bytes = 0;
    double waited_s = 0.0; // for ranks that had not come, or not taken a message
};

/// One rank's end of one group. `what` says what is moved and for whom, for people and for the
/// check that all ranks mean the same: "all_reduce of gradient/blocks.3.mlp.up.weight". It outlives
/// the call. A stop request ends a wait, never a call that needs no wait.
class Communicator {
public:
    virtual ~Communicator() = default;

    virtual int rank() const = 0; // in the group
    virtual int size() const = 0;
    /// The ranks of the group in its order, as ranks of the world.
    virtual const std::vector<int>& world_ranks() const = 0;
    /// Of this rank; exact between two calls of it.
    virtual Traffic traffic() const = 0;

    /// src [count] on every rank -> dst [count], reduced over ranks. Several tensors go as one
    /// bucket: results do not depend on the bucket.
    virtual Outcome all_reduce(std::span<const Transfer> tensors, Reduction reduction,
                               std::string_view what, std::stop_token stop = {}) = 0;
    /// src [count] -> dst [size(), count]: parts in rank order.
    virtual Outcome all_gather(std::span<const Transfer> tensors, std::string_view what,
                               std::stop_token stop = {}) = 0;
    /// src [size(), count] -> dst [count]: part rank(), reduced over ranks.
    virtual Outcome reduce_scatter(std::span<const Transfer> tensors, Reduction reduction,
                                   std::string_view what, std::stop_token stop = {}) = 0;
    /// src [size(), count] -> dst [size(), count]: part s of dst is part rank() of rank s.
    virtual Outcome all_to_all(const Transfer& tensor, std::string_view what,
                               std::stop_token stop = {}) = 0;
    /// src [count] -> dst [count] along `routes`, the same on all ranks, each rank at most once as
    /// source and at most once as destination. A rank that receives nothing gets zeros.
    virtual Outcome permute(const Transfer& tensor, std::span<const Route> routes,
                            std::string_view what, std::stop_token stop = {}) = 0;
    /// `data` [count] of rank `root` -> `data` of all.
    virtual Outcome broadcast(std::span<std::byte> data, ir::DType dtype, int root,
                              std::string_view what, std::stop_token stop = {}) = 0;
    /// Returns once every rank has called it.
    virtual Outcome barrier(std::string_view what, std::stop_token stop = {}) = 0;

    /// Offers `src` [count] to `destination` and returns without waiting, however many messages are
    /// under way. `src` stays as it is until wait_sent. Schedules in which two ranks send to each
    /// other before they receive (1F1B) need this form.
    virtual Outcome post_send(std::span<const std::byte> src, ir::DType dtype, int destination,
                              std::string_view what) = 0;
    /// The number of the last message posted to `destination`; 0 before the first.
    virtual std::int64_t last_posted(int destination) const = 0;
    /// Waits until messages up to `number` have left: their buffers are the caller's again.
    virtual Outcome wait_sent(int destination, std::int64_t number, std::stop_token stop = {}) = 0;
    /// The next message of `source` -> dst [count]; `what` is the sender's.
    virtual Outcome receive(std::span<std::byte> dst, ir::DType dtype, int source,
                            std::string_view what, std::stop_token stop = {}) = 0;

    /// post_send and wait_sent in one: returns when the receiver has the data.
    Outcome send(std::span<const std::byte> src, ir::DType dtype, int destination,
                 std::string_view what, std::stop_token stop = {});
};

/// Names a set of disjoint groups of one World.
enum class GroupSet : int { world = 0 };

/// All ranks of a run. Owns the communicators.
class World {
public:
    virtual ~World() = default;

    virtual int size() const = 0;

    /// Makes one group per list of world ranks, in list order; lists do not overlap and need not
    /// cover all ranks. `name` stands in reports ("model"). Before the run, on one thread per
    /// process, the same on all processes.
    virtual GroupSet add_groups(std::string name, std::vector<std::vector<int>> groups) = 0;
    /// The same by colours, one per world rank: equal colours meet in rank order, a negative one
    /// stays out.
    GroupSet split(std::string name, std::span<const int> colours);

    /// The end of `world_rank` (hosted by this process) in its group of the set. Lives as long as
    /// the world.
    virtual Communicator& communicator(int world_rank, GroupSet set = GroupSet::world) = 0;

    /// Ends the run on all ranks: waiting and later calls throw Error{device} with this reason,
    /// unless the run has ended already. What a rank's thread does when it fails for a reason of
    /// its own. From any thread that is not inside a call. When it returns, no rank of this process
    /// reads the memory of another any more.
    virtual void abort(std::string reason) = 0;
    /// Why the run ended; empty while it has not, and after a stop request.
    virtual std::string failure() const = 0;
};

} // namespace weft::exec::comm
