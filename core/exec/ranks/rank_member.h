// SPDX-License-Identifier: Apache-2.0
// The end of every rank but 0 of a run of many processes: joins the hub, says twice a second where
// it is, and hands out what the hub wants done.
#pragma once

#include "core/exec/comm/process_world.h"
#include "core/exec/ranks/frame_socket.h"
#include "core/exec/ranks/rank_identity.h"

#include <functional>
#include <memory>

namespace weft {
class Error;
} // namespace weft

namespace weft::exec {

struct RankMemberOptions {
    int rank = 0;
    int size = 1;
    std::string address; // of the hub
    int port = 0;
    std::string secret;
    RankIdentity identity;
    double join_timeout_s = 600;
};

class RankMember {
public:
    /// Joins. Throws weft::Error{device} where the hub is not found or will not have it.
    explicit RankMember(RankMemberOptions options);
    ~RankMember();
    RankMember(const RankMember&) = delete;
    RankMember& operator=(const RankMember&) = delete;

    int rank() const;
    int size() const;

    enum class Next : std::uint8_t {
        command,
        end,    // the run ended well
        failed, // the run ended by a fault, on all ranks
    };
    /// Waits for what is to be done next; meanwhile calls `idle` again and again, until it says
    /// that there is nothing to look after. Throws weft::Error{device} when the hub is lost.
    Next next(Frame& command, const std::function<bool()>& idle = {});
    /// To the command that was handed out last, if it asks.
    void answer(config::Json head = config::Json::object(), std::span<const std::byte> body = {});
    void answer(const Error& fault);
    /// Ends the run on all ranks: this one cannot go on.
    void fail(const Error& fault);
    /// To a command of RankHub::ask_aside. From any thread.
    void answer_aside(const Frame& command, config::Json head);
    void answer_aside(const Frame& command, const Error& fault);

    /// Takes part in RankHub::connect, of which `command` is a part; false: it is another command.
    bool connect(const Frame& command, comm::Transport& transport);
    /// Once it is connected.
    comm::ProcessWorld& world();
    /// As RankHub::follow.
    void follow(comm::OwnExchanges* own);
    /// Of this machine, as the hub sees it.
    std::string own_address() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::exec
