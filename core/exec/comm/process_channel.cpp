// SPDX-License-Identifier: Apache-2.0
#include "core/exec/comm/process_channel.h"

#include "core/base/error.h"
#include "core/base/text.h"

#include <utility>

namespace weft::exec::comm {
namespace {

template <typename Fn>
auto in_library(ProcessChannel& channel, const Fn& fn) {
    try {
        return fn();
    } catch (const std::exception& fault) {
        channel.fail("rank " + std::to_string(channel.rank()) + ": " + fault.what());
    }
}

} // namespace

ProcessChannel::ProcessChannel(Transport& transport, int rank, ProcessWorldOptions options)
    : transport_(transport), rank_(rank), options_(std::move(options)),
      clock_(options_.clock != nullptr ? *options_.clock : system_clock_) {
    WEFT_CHECK(options_.timeout_s > 0.0, "a wait takes some time");
}

Transport::Ticket ProcessChannel::send(int to, Transport::Tag tag,
                                       std::span<const std::byte> bytes) {
    return in_library(*this, [&] { return transport_.send(to, tag, bytes); });
}

Transport::Ticket ProcessChannel::receive(int from, Transport::Tag tag,
                                          std::span<std::byte> bytes) {
    return in_library(*this, [&] { return transport_.receive(from, tag, bytes); });
}

bool ProcessChannel::is_done(Transport::Ticket ticket) {
    return in_library(*this, [&] { return transport_.is_done(ticket); });
}

bool ProcessChannel::wait(Transport::Ticket ticket, int peer, const std::stop_token& stop,
                          double& waited_s) {
    if (is_done(ticket)) {
        return goes_on();
    }
    const double since_s = clock_.steady_s();
    {
        const std::lock_guard lock(mutex_);
        waits_for_ = peer;
    }
    const std::stop_callback on_stop(stop, [this] { abort({}, true); });
    const auto end = in_library(*this, [&] { return transport_.wait(ticket, options_.timeout_s); });
    waited_s += clock_.steady_s() - since_s;
    {
        const std::lock_guard lock(mutex_);
        waits_for_ = -1;
    }
    if (end == Transport::WaitEnd::timed_out) {
        std::string where;
        {
            const std::lock_guard lock(mutex_);
            where = where_ != nullptr ? " at " + (*where_)() : std::string();
        }
        fail("rank " + std::to_string(rank_) + " has waited for rank " + std::to_string(peer) +
             where + " for more than " + format_duration(options_.timeout_s));
    }
    return goes_on();
}

bool ProcessChannel::goes_on() const {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
        return true;
    }
    if (stopped_) {
        return false;
    }
    transport_.drop(); // what was begun is of arrays that are about to go
    throw Error(ErrorKind::device, "rank " + std::to_string(rank_), reason_,
                "this run cannot go on; resume it from its last checkpoint");
}

void ProcessChannel::fail(std::string reason) {
    abort(std::move(reason));
    goes_on();
    throw Error(ErrorKind::device, "rank " + std::to_string(rank_), "the run was stopped");
}

ProcessChannel::InCall::InCall(ProcessChannel& channel, const std::function<std::string()>& where)
    : channel_(channel) {
    const std::lock_guard lock(channel_.mutex_);
    channel_.where_ = &where;
}

ProcessChannel::InCall::~InCall() {
    const std::lock_guard lock(channel_.mutex_);
    channel_.where_ = nullptr;
}

void ProcessChannel::abort(std::string reason, bool stopped) {
    {
        const std::lock_guard lock(mutex_);
        if (ended_) {
            return;
        }
        ended_ = true;
        stopped_ = stopped;
        reason_ = reason;
    }
    transport_.interrupt();
    if (options_.ended && !stopped) {
        options_.ended(reason);
    }
}

std::string ProcessChannel::failure() const {
    const std::lock_guard lock(mutex_);
    return reason_;
}

RankPosition ProcessChannel::position() const {
    const std::lock_guard lock(mutex_);
    RankPosition out;
    if (where_ != nullptr) {
        out.where = (*where_)();
        if (waits_for_ >= 0) {
            out.waits_for = {waits_for_};
        }
    }
    return out;
}

} // namespace weft::exec::comm
