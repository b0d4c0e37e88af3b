// SPDX-License-Identifier: Apache-2.0
#include "core/exec/comm/rendezvous.h"

#include "core/base/error.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

namespace weft::exec::comm {
namespace {

constexpr std::size_t kUsualLabel = 256; // labels up to this length are copied without allocation
constexpr double kLongestNap_s = 24 * 3600.0; // what every library's clock arithmetic can hold

} // namespace

Rendezvous::Rendezvous(int ranks, InProcessOptions options)
    : options_(options), clock_(options.clock != nullptr ? *options.clock : system_clock_),
      ranks_(static_cast<std::size_t>(ranks)) {
    WEFT_CHECK(options.timeout_s > 0.0, "a wait takes some time");
}

Group& Rendezvous::add_group(std::string name, std::vector<int> world_ranks) {
    const Lock lock(mutex_);
    Group& group = groups_.emplace_back();
    group.name = std::move(name);
    const std::size_t count = world_ranks.size();
    group.members.resize(count);
    group.channels.resize(count * count);
    for (std::size_t i = 0; i < count; ++i) {
        group.members[i].world_rank = world_ranks[i];
        group.members[i].what.reserve(kUsualLabel);
        group.members[i].sources.resize(count);
    }
    group.world_ranks = std::move(world_ranks);
    return group;
}

Outcome Rendezvous::enter(Group& group, int member, const Call& call, bool reads,
                          const std::stop_token& stop) {
    Lock lock(mutex_);
    Member& me = group.member(member);
    call_hook(lock, me.world_rank);
    if (end_ != End::none) {
        return leave(lock, me.world_rank);
    }
    go_on();
    me.call = call;
    ++me.number;
    me.what.assign(call.what);
    return gather(lock, group, member, true, reads, stop);
}

Outcome Rendezvous::meet(Group& group, int member, bool reads, const std::stop_token& stop) {
    Lock lock(mutex_);
    return gather(lock, group, member, false, reads, stop);
}

Outcome Rendezvous::gather(Lock& lock, Group& group, int member, bool first, bool reads,
                           const std::stop_token& stop) {
    Member& me = group.member(member);
    Rank& mine = rank(me.world_rank);
    end_reading(mine);
    if (end_ != End::none) {
        return leave(lock, me.world_rank);
    }
    const std::int64_t meeting = ++me.meetings;
    if (++group.arrived == group.size()) {
        if (std::string mismatch = first ? describe_mismatch(group) : std::string();
            !mismatch.empty()) {
            end(End::failed, std::move(mismatch));
            return leave(lock, me.world_rank);
        }
        group.arrived = 0;
        group.released = meeting;
        go_on();
        for (const Member& other : group.members) {
            release(rank(other.world_rank));
        }
    } else {
        const Wait meeting_wait{Wait::For::meeting, &group, member, 0, 0, {}, 0.0};
        wait(lock, meeting_wait, stop, [&] { return group.released >= meeting; });
    }
    if (group.released < meeting) {
        return leave(lock, me.world_rank);
    }
    call_hook(lock, me.world_rank);
    if (!reads) {
        return Outcome::finished; // all have met: what ends the run now is for the next call
    }
    if (end_ != End::none) {
        return leave(lock, me.world_rank);
    }
    mine.reading = true;
    ++reading_;
    return Outcome::finished;
}

void Channel::grow() {
    const auto under_way = static_cast<std::size_t>(posted - taken);
    if (under_way < ring.size()) {
        return;
    }
    std::vector<Message> larger(std::max<std::size_t>(8, 2 * ring.size()));
    for (std::int64_t number = taken + 1; number <= posted; ++number) {
        larger[static_cast<std::size_t>(number - 1) % larger.size()] = std::move(message(number));
    }
    ring = std::move(larger);
}

Outcome Rendezvous::post(Group& group, int source, int destination, std::span<const std::byte> src,
                         ir::DType dtype, std::string_view what) {
    Lock lock(mutex_);
    Member& me = group.member(source);
    call_hook(lock, me.world_rank);
    Channel& channel = group.channel(source, destination);
    const std::int64_t number = channel.posted + 1;
    if (end_ != End::none) {
        return leave(lock, me.world_rank);
    }
    channel.grow();
    Message& message = channel.message(number);
    message.src = src;
    message.dtype = dtype;
    message.what.assign(what);
    channel.posted = number;
    go_on();
    ++me.messages_sent;
    Rank& receiver = rank(group.member(destination).world_rank);
    const Wait& awaited = receiver.wait;
    if (awaited.what == Wait::For::message && awaited.group == &group && awaited.peer == source) {
        release(receiver);
    }
    return Outcome::finished;
}

Outcome Rendezvous::wait_taken(Group& group, int source, int destination, std::int64_t number,
                               const std::stop_token& stop) {
    Lock lock(mutex_);
    Member& me = group.member(source);
    const Channel& channel = group.channel(source, destination);
    WEFT_CHECK(number <= channel.posted, "only what was posted can be taken");
    const auto done = [&] { return channel.taken >= number; };
    if (!done()) {
        wait(lock,
             {Wait::For::taken, &group, source, destination, number, channel.message(number).what,
              0.0},
             stop, done);
    }
    return done() ? Outcome::finished : leave(lock, me.world_rank);
}

Outcome Rendezvous::take(Group& group, int source, int destination, std::span<std::byte> dst,
                         ir::DType dtype, std::string_view what, const std::stop_token& stop) {
    Lock lock(mutex_);
    Member& me = group.member(destination);
    Member& sender = group.member(source);
    Rank& mine = rank(me.world_rank);
    call_hook(lock, me.world_rank);
    Channel& channel = group.channel(source, destination);
    const std::int64_t number = channel.taken + 1;
    wait(lock, {Wait::For::message, &group, destination, source, number, what, 0.0}, stop,
         [&] { return channel.posted >= number; });
    if (end_ != End::none) {
        return leave(lock, me.world_rank);
    }
    if (std::string mismatch = describe_mismatch(group, source, destination, dst, dtype, what);
        !mismatch.empty()) {
        end(End::failed, std::move(mismatch));
        return leave(lock, me.world_rank);
    }
    const std::span<const std::byte> src = channel.message(number).src;
    mine.reading = true;
    ++reading_;
    lock.unlock();
    std::copy(src.begin(), src.end(), dst.begin());
    lock.lock();
    end_reading(mine);
    channel.taken = number;
    go_on();
    if (source != destination) {
        const auto bytes = static_cast<std::int64_t>(src.size());
        me.received_bytes += bytes;
        std::atomic_ref(sender.sent_bytes).fetch_add(bytes, std::memory_order_relaxed);
    }
    Rank& posting = rank(sender.world_rank);
    const Wait& awaited = posting.wait;
    if (awaited.what == Wait::For::taken && awaited.group == &group &&
        awaited.peer == destination && awaited.number <= number) {
        release(posting);
    }
    return Outcome::finished;
}

std::int64_t Rendezvous::posted(const Group& group, int source, int destination) const {
    const Lock lock(mutex_);
    return group.channel(source, destination).posted;
}

Traffic Rendezvous::traffic(const Group& group, int member) const {
    const Lock lock(mutex_);
    const Member& me = group.member(member);
    return {me.number, me.messages_sent, me.sent_bytes, me.received_bytes, me.waited_s};
}

void Rendezvous::abort(std::string reason) {
    Lock lock(mutex_);
    end(End::failed, std::move(reason));
    nobody_reads_.wait(lock, [&] { return reading_ == 0; });
}

std::string Rendezvous::failure() const {
    const Lock lock(mutex_);
    return reason_;
}

void Rendezvous::check_timeouts() {
    const Lock lock(mutex_);
    check_timeouts_locked();
}

int Rendezvous::waiting_ranks() const {
    const Lock lock(mutex_);
    return static_cast<int>(std::count_if(ranks_.begin(), ranks_.end(), [](const Rank& rank) {
        return rank.wait.what != Wait::For::nothing;
    }));
}

template <class Done>
void Rendezvous::wait(Lock& lock, const Wait& wait, const std::stop_token& stop, const Done& done) {
    const auto over = [&] { return done() || end_ != End::none; };
    if (over()) {
        return;
    }
    Member& me = wait.group->member(wait.member);
    Rank& mine = rank(me.world_rank);
    const double since_s = clock_.steady_s();
    mine.wait = wait;
    mine.wait.since_s = since_s;
    for (;;) {
        const double left_s =
            std::max(since_s, gone_on_s_) + options_.timeout_s - clock_.steady_s();
        const std::chrono::duration<double> nap(std::clamp(left_s, 0.0, kLongestNap_s));
        if (mine.changed.wait_for(lock, stop, nap, over)) {
            break;
        }
        if (stop.stop_requested()) {
            end(End::stopped, {});
        } else {
            check_timeouts_locked();
        }
    }
    mine.wait.what = Wait::For::nothing;
    me.waited_s += clock_.steady_s() - since_s;
}

void Rendezvous::go_on() {
    gone_on_s_ = clock_.steady_s();
}

void Rendezvous::release(Rank& rank) {
    rank.wait.what = Wait::For::nothing; // it waits no more, even before it wakes
    rank.changed.notify_all();
}

void Rendezvous::end_reading(Rank& rank) {
    if (rank.reading) {
        rank.reading = false;
        if (--reading_ == 0 && end_ != End::none) {
            nobody_reads_.notify_all();
        }
    }
}

void Rendezvous::call_hook(Lock& lock, int world_rank) {
    if (options_.hook != nullptr) {
        lock.unlock();
        options_.hook->reached(world_rank);
        lock.lock();
    }
}

void Rendezvous::end(End how, std::string reason) {
    if (end_ == End::none) {
        end_ = how;
        reason_ = std::move(reason);
        for (Rank& rank : ranks_) {
            rank.changed.notify_all();
        }
    }
}

Outcome Rendezvous::leave(Lock& lock, int world_rank) {
    nobody_reads_.wait(lock, [&] { return reading_ == 0; });
    if (end_ == End::stopped) {
        return Outcome::stopped;
    }
    throw Error(ErrorKind::device, "rank " + std::to_string(world_rank), reason_,
                "this run cannot go on; resume it from its last checkpoint");
}

void Rendezvous::check_timeouts_locked() {
    if (end_ != End::none) {
        return;
    }
    const double oldest_s = clock_.steady_s() - options_.timeout_s;
    if (gone_on_s_ > oldest_s) {
        return;
    }
    std::vector<Wait> waits;
    for (const Rank& rank : ranks_) {
        if (rank.wait.what != Wait::For::nothing) {
            waits.push_back(rank.wait);
        }
    }
    const auto first = std::find_if(waits.begin(), waits.end(),
                                    [&](const Wait& wait) { return wait.since_s <= oldest_s; });
    if (first != waits.end()) {
        end(End::failed, describe_stall(waits, *first, options_.timeout_s));
    }
}

} // namespace weft::exec::comm
