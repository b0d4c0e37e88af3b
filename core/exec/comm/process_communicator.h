// SPDX-License-Identifier: Apache-2.0
// One rank's end of a group of processes. The order of summation and the traffic are those that
// process_world.h promises.
#pragma once

#include "core/exec/comm/call.h"
#include "core/exec/comm/circles.h"
#include "core/exec/comm/issued_call.h"
#include "core/exec/comm/process_channel.h"

#include <array>
#include <deque>

namespace weft::exec::comm {

class ProcessCommunicator final : public Communicator {
public:
    /// `channel` and the next are of the group's set. `hosts` as in ProcessWorldOptions.
    ProcessCommunicator(ProcessChannel& ends, std::string name, std::vector<int> world_ranks,
                        std::uint32_t channel, std::span<const int> hosts, Sums sums);

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(ranks_.size()); }
    const std::vector<int>& world_ranks() const override { return ranks_; }
    Traffic traffic() const override { return traffic_; }

    Outcome all_reduce(std::span<const Transfer> tensors, Reduction reduction,
                       std::string_view what, std::stop_token stop) override;
    Outcome all_gather(std::span<const Transfer> tensors, std::string_view what,
                       std::stop_token stop) override;
    Outcome reduce_scatter(std::span<const Transfer> tensors, Reduction reduction,
                           std::string_view what, std::stop_token stop) override;
    Outcome all_to_all(const Transfer& tensor, std::string_view what,
                       std::stop_token stop) override;
    Outcome permute(const Transfer& tensor, std::span<const Route> routes, std::string_view what,
                    std::stop_token stop) override;
    Outcome broadcast(std::span<std::byte> data, ir::DType dtype, int root, std::string_view what,
                      std::stop_token stop) override;
    Outcome barrier(std::string_view what, std::stop_token stop) override;

    Outcome post_send(std::span<const std::byte> src, ir::DType dtype, int destination,
                      std::string_view what) override;
    std::int64_t last_posted(int destination) const override;
    Outcome wait_sent(int destination, std::int64_t number, std::stop_token stop) override;
    Outcome receive(std::span<std::byte> dst, ir::DType dtype, int source, std::string_view what,
                    std::stop_token stop) override;

private:
    static constexpr std::size_t kNamed = 4;  // tensors that a notice names
    static constexpr std::size_t kText = 160; // bytes of its label
    /// What a rank is about to call or has sent. Bytes between processes of one program version.
    struct Notice {
        std::int64_t number = 0;
        std::uint64_t digest = 0; // of everything that has to agree
        std::int32_t root = 0;
        std::int32_t tensors = 0;
        std::array<std::int64_t, kNamed> counts{};
        std::array<std::uint8_t, kNamed> dtypes{};
        std::uint8_t kind = 0;
        std::uint8_t reduction = 0;
        std::uint16_t text = 0;
        std::array<char, kText> what{};
    };
    /// A message that was posted and whose sending has not been waited for.
    struct Posted {
        Notice notice;
        Transport::Ticket told = 0;
        Transport::Ticket sent = 0;
        std::span<const std::byte> src; // to this rank itself
        bool in_library = false;
    };
    struct Peer {
        std::uint32_t sent = 0, received = 0; // by the library, of collectives
        std::uint32_t messages_sent = 0, messages_received = 0;
        std::int64_t posted = 0; // messages to it
        std::int64_t left = 0;   // of these, waited for
        std::int64_t taken = 0;  // messages of it
        std::deque<Posted> under_way;
        Notice notice;                  // of it, for the call at hand
        std::vector<std::byte> out, in; // parts on their way
    };
    /// An operation under way that a collective waits for.
    struct Pending {
        Transport::Ticket ticket = 0;
        int peer = 0;
    };

    Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
    int world(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
    static Notice notice_of(const Call& call, std::int64_t number);
    static Notice message_notice(ir::DType dtype, std::size_t bytes, std::int64_t number,
                                 std::string_view what);
    static IssuedCall issued(const Notice& notice, bool message);
    std::string mismatch(int peer_rank, const Notice& theirs) const;
    std::string place() const;

    template <class Body>
    Outcome collective(const Call& call, const std::stop_token& stop, const Body& body);
    bool agree(const std::stop_token& stop);
    void send_part(int to, std::span<const std::byte> bytes);
    void receive_part(int from, std::span<std::byte> bytes);
    /// What a wait is for: a rank that has not come to the call, or bytes on their way.
    enum class For : std::uint8_t { peer, bytes };
    bool settle(const std::stop_token& stop, For what = For::bytes);
    bool wait(Transport::Ticket ticket, int peer_rank, For what, const std::stop_token& stop);
    bool settle_sent(int destination, std::int64_t number, const std::stop_token& stop);
    // Among the ranks of a circle, by their places in it; parts between two ranks go as one
    // message. `into(part, place)` is filled with what comes of a rank.
    template <class Into>
    void expect(const Circle& circle, std::size_t parts, const Into& into);
    template <class Into>
    void take(const Circle& circle, std::size_t parts, const Into& into);
    /// `own(part)` goes to all.
    template <class Own, class Into>
    bool tell_all(const Circle& circle, std::size_t parts, const Own& own, const Into& into,
                  const std::stop_token& stop);
    /// `cut(part, place)` of all are reduced by each rank for itself, into `into(part)` of
    /// `dtype(part)`.
    template <class Cut, class Into, class Type>
    bool reduce_parts(const Circle& circle, std::size_t parts, Reduction reduction, const Cut& cut,
                      const Into& into, const Type& dtype, const std::stop_token& stop);
    /// `part(tensor, rank)`, which that rank of the group has, to all.
    template <class Part>
    bool gather(std::size_t tensors, const Part& part, const std::stop_token& stop);
    /// Whether this is added up within the hosts before it is between them.
    bool by_host(Reduction reduction) const;

    ProcessChannel& ends_;
    const std::string name_;
    const std::vector<int> ranks_;
    const std::uint32_t channel_; // of collectives; messages have the next
    int rank_ = 0;
    const Circles circles_;
    const Sums sums_;
    std::vector<Peer> peers_;
    std::vector<Pending> pending_;
    std::vector<const std::byte*> sources_;
    std::vector<std::byte> room_;     // what goes to several, or sums within a host
    std::vector<std::size_t> begins_; // in it, by tensor
    Traffic traffic_;

    // Of the call at hand, for the other ranks and for whoever asks where this one is.
    enum class Doing : std::uint8_t { collective, receiving, sending };
    Doing doing_ = Doing::collective;
    int with_ = 0; // of a message
    Notice mine_;
    const std::function<std::string()> describe_;
};

} // namespace weft::exec::comm
