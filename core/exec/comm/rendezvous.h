// SPDX-License-Identifier: Apache-2.0
// Where the threads of an in-process world meet: who waits where, who may read whose memory, and
// how a run ends for all. Knows calls by their description and never touches payload. Every
// function may be called from any thread; one mutex guards everything that is not said to be
// otherwise.
//
// A collective is a row of meetings with phases of reading between them. A rank that leaves because
// the run has ended first waits until no rank is in a reading phase: then nobody reads its buffers
// any more. Reading phases contain no waits, so this is short.
#pragma once

#include "core/exec/comm/call.h"
#include "core/exec/comm/in_process.h"

#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>

namespace weft::exec::comm {

/// A rank in a group.
struct Member {
    int world_rank = 0;
    Call call;               // others read it between the first meeting and the last
    std::int64_t number = 0; // of its last collective
    std::string what;        // of its last collective; outlives the call, for reports
    std::int64_t meetings = 0;
    std::int64_t messages_sent = 0;
    std::int64_t sent_bytes = 0; // added to by those who read, with std::atomic_ref
    std::int64_t received_bytes = 0;
    double waited_s = 0.0;
    // Memory of the rank's own that calls work in.
    std::vector<const std::byte*> sources;
    std::vector<std::vector<std::byte>> partials; // per tensor of a bucket
};

/// A message that was offered and not yet taken.
struct Message {
    std::span<const std::byte> src;
    ir::DType dtype = ir::DType::f32;
    std::string what;
};

/// Messages of one rank to another in their order.
struct Channel {
    std::vector<Message> ring; // grows to the most messages that were ever under way
    std::int64_t posted = 0;
    std::int64_t taken = 0;

    /// One that is under way.
    Message& message(std::int64_t number) { return ring[place(number)]; }
    const Message& message(std::int64_t number) const { return ring[place(number)]; }
    std::size_t place(std::int64_t number) const {
        return static_cast<std::size_t>(number - 1) % ring.size();
    }
    /// Makes room for one more.
    void grow();
};

struct Group {
    std::string name;
    std::vector<int> world_ranks;
    std::vector<Member> members;
    std::vector<Channel> channels; // [source * size + destination]
    int arrived = 0;
    std::int64_t released = 0; // meetings that all members have come to

    int size() const { return static_cast<int>(members.size()); }
    Member& member(int rank) { return members[static_cast<std::size_t>(rank)]; }
    const Member& member(int rank) const { return members[static_cast<std::size_t>(rank)]; }
    Channel& channel(int source, int destination) {
        return channels[static_cast<std::size_t>(source * size() + destination)];
    }
    const Channel& channel(int source, int destination) const {
        return channels[static_cast<std::size_t>(source * size() + destination)];
    }
};

/// What a rank waits for.
struct Wait {
    enum class For : std::uint8_t { nothing, meeting, message, taken };
    For what = For::nothing;
    Group* group = nullptr;
    int member = 0;          // the waiting one
    int peer = 0;            // of a message
    std::int64_t number = 0; // of the message
    std::string_view label;  // of the message
    double since_s = 0.0;
};

class Rendezvous {
public:
    Rendezvous(int ranks, InProcessOptions options);

    int size() const { return static_cast<int>(ranks_.size()); }
    const InProcessOptions& options() const { return options_; }
    Group& add_group(std::string name, std::vector<int> world_ranks);

    /// The first meeting of a collective: counts it and compares the members' calls. On return the
    /// reading phase has begun, if `reads`.
    Outcome enter(Group& group, int member, const Call& call, bool reads,
                  const std::stop_token& stop);
    /// Ends a reading phase and waits for all others to end theirs; begins the next one if `reads`.
    Outcome meet(Group& group, int member, bool reads, const std::stop_token& stop);

    Outcome post(Group& group, int source, int destination, std::span<const std::byte> src,
                 ir::DType dtype, std::string_view what);
    Outcome wait_taken(Group& group, int source, int destination, std::int64_t number,
                       const std::stop_token& stop);
    /// Waits for the next message, compares it with what is expected and copies it.
    Outcome take(Group& group, int source, int destination, std::span<std::byte> dst,
                 ir::DType dtype, std::string_view what, const std::stop_token& stop);

    std::int64_t posted(const Group& group, int source, int destination) const;
    Traffic traffic(const Group& group, int member) const;
    void abort(std::string reason);
    std::string failure() const;
    void check_timeouts();
    int waiting_ranks() const;

private:
    using Lock = std::unique_lock<std::mutex>;

    struct Rank {
        std::condition_variable_any changed;
        Wait wait;
        bool reading = false;
    };
    enum class End : std::uint8_t { none, stopped, failed };

    Rank& rank(int world_rank) { return ranks_[static_cast<std::size_t>(world_rank)]; }
    Outcome gather(Lock& lock, Group& group, int member, bool first, bool reads,
                   const std::stop_token& stop);
    template <class Done>
    void wait(Lock& lock, const Wait& wait, const std::stop_token& stop, const Done& done);
    void go_on();
    void release(Rank& rank);
    void end_reading(Rank& rank);
    void call_hook(Lock& lock, int world_rank);
    void end(End end, std::string reason);
    /// Leaves a call of a run that has ended: stopped, or throws.
    Outcome leave(Lock& lock, int world_rank);
    void check_timeouts_locked();

    const InProcessOptions options_;
    const SystemClock system_clock_;
    const Clock& clock_;
    mutable std::mutex mutex_;
    std::condition_variable nobody_reads_;
    std::deque<Rank> ranks_; // by world rank
    std::deque<Group> groups_;
    int reading_ = 0; // ranks in a reading phase
    double gone_on_s_ = -std::numeric_limits<double>::infinity(); // when a call last began or ended
    End end_ = End::none;
    std::string reason_;
};

/// Why the calls of one collective do not fit together; empty when they do.
std::string describe_mismatch(const Group& group);
/// Why a message is not what its receiver expects; empty when it is.
std::string describe_mismatch(const Group& group, int source, int destination,
                              std::span<std::byte> dst, ir::DType dtype, std::string_view what);
/// Which ranks are late, where they are, and where the others wait; or what does not end although
/// everyone has come. `waits` are all that there are, `first` the one whose time is over.
std::string describe_stall(std::span<const Wait> waits, const Wait& first, double timeout_s);
/// Where a rank waits: "collective 5 (gradients) of group data".
std::string describe_place(const Wait& wait);

} // namespace weft::exec::comm
