// SPDX-License-Identifier: Apache-2.0
// What the communicators of a process share: the transport, how a wait ends, and where the rank is.
// Private to core/exec/comm.
#pragma once

#include "core/exec/comm/process_world.h"

#include <mutex>
#include <string_view>

namespace weft::exec::comm {

/// Used on the rank's thread, but for what says so.
class ProcessChannel {
public:
    ProcessChannel(Transport& transport, int rank, ProcessWorldOptions options);

    int rank() const { return rank_; }

    Transport::Ticket send(int to, Transport::Tag tag, std::span<const std::byte> bytes);
    Transport::Ticket receive(int from, Transport::Tag tag, std::span<std::byte> bytes);
    bool is_done(Transport::Ticket ticket);
    /// Until it is done. Throws weft::Error{device} when the world has ended or ends here, by the
    /// timeout: `peer` has not come. False: a stop request ended it.
    bool wait(Transport::Ticket ticket, int peer, const std::stop_token& stop, double& waited_s);
    /// Throws weft::Error{device} when the world has failed; false when it was stopped.
    bool goes_on() const;
    /// Ends the world for a reason of this rank and throws it.
    [[noreturn]] void fail(std::string reason);

    /// As long as it lives the rank is in a call; `where`, which outlives it, describes the call
    /// when somebody asks.
    class InCall {
    public:
        InCall(ProcessChannel& channel, const std::function<std::string()>& where);
        ~InCall();
        InCall(const InCall&) = delete;
        InCall& operator=(const InCall&) = delete;

    private:
        ProcessChannel& channel_;
    };

    /// From any thread.
    void abort(std::string reason, bool stopped = false);
    std::string failure() const;
    RankPosition position() const;

private:
    Transport& transport_;
    const int rank_;
    const ProcessWorldOptions options_;
    const SystemClock system_clock_;
    const Clock& clock_;

    mutable std::mutex mutex_; // of what follows
    bool ended_ = false;
    bool stopped_ = false;
    std::string reason_;
    const std::function<std::string()>* where_ = nullptr;
    int waits_for_ = -1;
};

} // namespace weft::exec::comm
