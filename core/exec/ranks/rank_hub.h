// SPDX-License-Identifier: Apache-2.0
// Rank 0's end of a run of many processes. The other ranks serve: they do what the hub asks, in its
// order, so that no rank decides anything by itself and none can drift away. Data between devices
// does not pass here; that is the world's (core/exec/comm).
//
// Every rank says twice a second where it is. One whose connection ends is lost at once, one that
// is silent for kMostSilence_s as well; then the run ends on all ranks, with one account of who was
// lost and who waited for it.
#pragma once

#include "core/exec/comm/process_world.h"
#include "core/exec/ranks/frame_socket.h"
#include "core/exec/ranks/rank_identity.h"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace weft {
class Error;
}

namespace weft::exec {

constexpr double kBeat_s = 0.5;
constexpr double kMostSilence_s = 4.0;

/// What became of a rank.
struct RankNews {
    enum class What : std::uint8_t { joined, late, lost };
    What what = What::joined;
    int rank = 0;
    std::string host;
    std::string text; // why, where it is not plain
};

struct RankHubOptions {
    int size = 1;
    std::string address; // where the others find it
    int port = 0;
    std::string secret;
    RankIdentity identity;
    double join_timeout_s = 600;
    /// On any thread; must be quick and not call the hub.
    std::function<void(const RankNews&)> news;
};

class RankHub {
public:
    /// Listens from now on. Throws weft::Error{device}.
    explicit RankHub(RankHubOptions options);
    /// Tells the others that it is over, if nobody has.
    ~RankHub();
    RankHub(const RankHub&) = delete;
    RankHub& operator=(const RankHub&) = delete;

    int size() const;
    int port() const;
    /// Waits until all ranks have joined. Throws weft::Error{device} that names those who have not,
    /// or who cannot, and why; weft::Error{runtime} when it is told to stop.
    void gather(const std::stop_token& stop);
    const RankIdentity& identity(int rank) const;

    /// All ranks meet over the transport, within the time that they had to join.
    void connect(std::shared_ptr<comm::Transport> transport, double timeout_s,
                 comm::Sums sums = comm::Sums::in_rank_order);
    /// After connect.
    comm::ProcessWorld& world();
    /// Through what this rank exchanges where it is no transport: asked where it is, and ended with
    /// the run. Null: through nothing any more.
    void follow(comm::OwnExchanges* own);

    /// Asks a rank to do something and waits for its answer. One asker per rank at a time. Throws
    /// what the rank threw, or why the run ended.
    Frame ask(int rank, config::Json head, std::span<const std::byte> body = {});
    /// Asks all of them at once; answers by rank, without one of rank 0.
    std::vector<Frame> ask_all(const config::Json& head);
    /// Asks a rank for something that it does beside all else. Any number at a time, from any
    /// thread.
    Frame ask_aside(int rank, config::Json head);
    /// Has a rank do something that has no answer.
    void tell(int rank, const config::Json& head, std::span<const std::byte> body = {});
    /// Seconds by which the steady clock of a rank is ahead of this process's.
    double clock_lead_s(int rank) const;

    /// Ends the run on all ranks. Waits a moment for who is lost, which counts more than what the
    /// others say of it.
    void fail(const Error& reason);
    /// Why the run ended, once it has; else `other`.
    Error verdict(const Error& other) const;
    /// The run is over: ranks go. Where nothing failed all leave the transport. Whoever has not
    /// gone after a while is left behind. Those who come before the run has begun hear that it does
    /// not.
    void end();

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::exec
