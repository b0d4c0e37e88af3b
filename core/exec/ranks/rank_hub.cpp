// SPDX-License-Identifier: Apache-2.0
#include "core/exec/ranks/rank_hub.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/ranks/errors.h"
#include "core/exec/ranks/followed_exchanges.h"
#include "core/exec/ranks/join.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace weft::exec {
namespace {

using config::Json;

constexpr const char* kGoOn = "this run cannot go on; resume it from its last checkpoint";

constexpr std::int64_t kMostFrame = std::int64_t{1} << 40;
constexpr double kHandshake_s = 5;
constexpr double kLookAround_s = 0.2;
constexpr double kLateAfter_s = 10; // who has not joined is named
constexpr double kGrace = 1;        // s, for who is lost to be known
constexpr double kMostSkew_s = 120; // between clocks of hosts
constexpr double kFarewell_s = 10;  // for ranks to go, and for a library to close
constexpr std::size_t kMostGreeted = 64;
constexpr std::size_t kMostRanksNamed = 8;

std::string list_of(const std::vector<int>& ranks) {
    std::string out = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < std::min(ranks.size(), kMostRanksNamed); ++i) {
        out += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    }
    return out + (ranks.size() > kMostRanksNamed
                      ? " and " + std::to_string(ranks.size() - kMostRanksNamed) + " more"
                      : "");
}

} // namespace

struct RankHub::State {
    explicit State(RankHubOptions given)
        : options(std::move(given)), listener(listen_at(options.address, options.port)),
          members(static_cast<std::size_t>(options.size)) {}

    struct Member {
        std::unique_ptr<FrameSocket> socket;
        std::thread reader;
        RankIdentity identity;
        double clock_lead_s = 0;
        // Guarded by the mutex:
        std::deque<Frame> answers;
        std::string asked; // what the next answer is to
        comm::RankPosition position;
        std::optional<std::string> lost; // why
        bool gone = false;               // its reader has ended
        bool joined = false;
    };

    Member& member(int rank) { return members[static_cast<std::size_t>(rank)]; }

    std::string name_of(int rank) {
        const RankIdentity& who = member(rank).identity;
        return "rank " + std::to_string(rank) + " (host " + who.host + ", process " +
               std::to_string(who.process) + ")";
    }

    void tell_news(RankNews::What what, int rank, std::string text) {
        if (options.news) {
            options.news({what, rank, member(rank).identity.host, std::move(text)});
        }
    }

    void welcome(std::unique_ptr<FrameSocket> socket);
    void greet(int descriptor) noexcept;
    std::string why_refused(int rank, const Json& greeting, const RankIdentity& who);
    void read(int rank) noexcept;
    void read_frames(int rank);
    void beat();
    void take(int rank, Frame frame);
    void lose(int rank, const std::string& why);
    void commit(const Error& said);
    void dismiss();
    void leave();
    std::string who_waits_for(int rank, const comm::RankPosition& own_position);
    std::vector<int> missing() const;
    void put(int rank, Json head, std::span<const std::byte> body);
    Frame answer_of(int rank);
    void throw_error_in(const Frame& answer, int rank);
    [[noreturn]] void throw_failure();

    const RankHubOptions options;
    const int listener;
    const SystemClock clock;
    std::vector<Member> members; // that of rank 0 stays empty
    std::optional<comm::ProcessWorld> world;
    FollowedExchanges own; // `world` once it is connected, or what else there is
    std::shared_ptr<comm::Transport> transport;

    mutable std::mutex mutex; // of what follows
    std::condition_variable changed;
    std::string refused; // the first rank that could not join, and why
    std::vector<std::string> strangers;
    std::size_t greeted = 0; // at this moment
    int sent_away = 0;
    bool failing = false; // somebody looks for the reason
    std::optional<Error> failure;
    bool ending = false;
    std::int64_t asides = 0; // questions that were asked
    std::map<std::int64_t, Frame> aside_answers;
    std::thread beater;
};

RankHub::RankHub(RankHubOptions options) : state_(std::make_unique<State>(std::move(options))) {
    state_->beater = std::thread([this] { state_->beat(); });
}

RankHub::~RankHub() {
    end();
    state_->beater.join();
    ::close(state_->listener);
}

// Each rank hears it, however long another one takes or is silent.
void RankHub::State::beat() {
    std::unique_lock lock(mutex);
    while (!ending) {
        changed.wait_for(lock, std::chrono::duration<double>(kBeat_s), [&] { return ending; });
        lock.unlock();
        for (Member& one : members) {
            bool there = false;
            {
                const std::lock_guard look(mutex);
                there = one.joined && !one.gone;
            }
            if (there) {
                one.socket->send_beat({{"beat", true}});
            }
        }
        lock.lock();
    }
}

int RankHub::size() const {
    return state_->options.size;
}

int RankHub::port() const {
    return port_of(state_->listener);
}

const RankIdentity& RankHub::identity(int rank) const {
    return rank == 0 ? state_->options.identity
                     : state_->members[static_cast<std::size_t>(rank)].identity;
}

double RankHub::clock_lead_s(int rank) const {
    return state_->members[static_cast<std::size_t>(rank)].clock_lead_s;
}

std::vector<int> RankHub::State::missing() const {
    const std::lock_guard lock(mutex);
    std::vector<int> out;
    for (int rank = 1; rank < options.size; ++rank) {
        if (!members[static_cast<std::size_t>(rank)].joined) {
            out.push_back(rank);
        }
    }
    return out;
}

/// Empty: it may take part.
std::string RankHub::State::why_refused(int rank, const Json& greeting, const RankIdentity& who) {
    if (greeting.value("size", 0) != options.size || rank < 1 || rank >= options.size) {
        return "it was started as one of " + std::to_string(greeting.value("size", 0)) +
               " ranks, rank 0 as one of " + std::to_string(options.size);
    }
    if (member(rank).socket != nullptr) {
        return "there is one already, on " + member(rank).identity.host +
               ": each rank is started once";
    }
    return why_not(options.identity, who);
}

// A stranger is sent away and forgotten; a rank that cannot take part ends the run.
void RankHub::State::welcome(std::unique_ptr<FrameSocket> socket) {
    const std::string nonce = new_nonce();
    Frame frame;
    if (!socket->send({{"nonce", nonce}}) ||
        socket->receive_all(frame, kHandshake_s) != FrameSocket::Got::frame) {
        return;
    }
    const Json greeting = frame.head;
    const int rank = greeting.value("rank", -1);
    const std::string other = greeting.value("nonce", "");
    if (!same_proof(proof_of(options.secret, nonce + " " + std::to_string(rank)),
                    greeting.value("proof", ""))) {
        socket->send({{"refused", "it does not know the secret of this run (WEFT_RUN_SECRET)"}});
        const std::lock_guard lock(mutex);
        strangers.push_back(socket->peer());
        ++sent_away;
        return;
    }
    const RankIdentity who = identity_of(greeting.value("identity", Json::object()));
    const double asked_s = clock.steady_s();
    std::unique_lock lock(mutex);
    if (const std::string why = why_refused(rank, greeting, who); !why.empty()) {
        socket->send({{"refused", why}});
        ++sent_away;
        refused = refused.empty() ? "rank " + std::to_string(rank) + " on " + who.host + ": " + why
                                  : refused;
        changed.notify_all();
        return;
    }
    Member& mine = member(rank);
    mine.identity = who;
    mine.socket = std::move(socket);
    lock.unlock();
    const bool answers =
        mine.socket->send({{"welcome", proof_of(options.secret, other + " hub")}}) &&
        mine.socket->receive_all(frame, kHandshake_s) == FrameSocket::Got::frame;
    lock.lock();
    if (!answers) {
        mine.socket.reset(); // its seat is free again
        return;
    }
    mine.clock_lead_s = frame.head.value("clock", 0.0) - (asked_s + clock.steady_s()) / 2;
    mine.socket->limit_frames(kMostFrame);
    mine.joined = true;
    mine.reader = std::thread([this, rank] { read(rank); });
    changed.notify_all();
    lock.unlock();
    const double skew_s = frame.head.value("time", 0.0) - clock.epoch_s();
    tell_news(RankNews::What::joined, rank,
              std::abs(skew_s) > kMostSkew_s
                  ? "its clock is " + format_duration(std::abs(skew_s)) +
                        (skew_s > 0 ? " ahead" : " behind") + "; set the clocks of the hosts"
                  : "");
}

// On a thread for each who comes: nobody waits for somebody who says nothing.
void RankHub::State::greet(int descriptor) noexcept {
    try {
        welcome(std::make_unique<FrameSocket>(descriptor));
    } catch (const std::exception&) {
        // Not one of ours: what it said is no greeting.
    }
    const std::lock_guard lock(mutex);
    --greeted;
    changed.notify_all();
}

void RankHub::gather(const std::stop_token& stop) {
    State& state = *state_;
    const double since_s = state.clock.steady_s();
    bool told_late = false;
    for (auto missing = state.missing(); !missing.empty(); missing = state.missing()) {
        if (stop.stop_requested()) {
            throw Error(ErrorKind::runtime, "", "was stopped while it waited for its ranks");
        }
        std::string refused;
        std::string stranger;
        bool may_greet = false;
        {
            const std::lock_guard lock(state.mutex);
            if (state.failure) {
                throw Error(*state.failure);
            }
            refused = state.refused;
            stranger = state.strangers.empty() ? "" : state.strangers.front();
            may_greet = state.greeted < kMostGreeted;
        }
        if (!refused.empty()) {
            throw Error(ErrorKind::device, "ranks", refused);
        }
        const int descriptor = may_greet ? accept_within(state.listener, kLookAround_s) : -1;
        if (descriptor >= 0) {
            {
                const std::lock_guard lock(state.mutex);
                ++state.greeted;
            }
            std::thread([&state, descriptor] { state.greet(descriptor); }).detach();
        }
        const double waited_s = state.clock.steady_s() - since_s;
        if (waited_s > kLateAfter_s && !told_late) {
            told_late = true;
            for (const int rank : missing) {
                state.tell_news(RankNews::What::late, rank, "it has not joined yet");
            }
        }
        if (waited_s > state.options.join_timeout_s) {
            std::string text = list_of(missing) + " of " + std::to_string(size()) +
                               " did not join within " +
                               format_duration(state.options.join_timeout_s);
            if (!stranger.empty()) {
                text += "; somebody without this run's secret tried from " + stranger;
            }
            throw Error(ErrorKind::device, "ranks", text,
                        "see that they were started, what they say, and that they reach " +
                            state.options.address + ":" + std::to_string(port()));
        }
    }
}

void RankHub::State::read(int rank) noexcept {
    try {
        read_frames(rank);
    } catch (const std::exception& fault) {
        lose(rank, std::string("cannot be understood: ") + fault.what());
    }
    member(rank).socket->shut();
    const std::lock_guard lock(mutex);
    member(rank).gone = true;
    changed.notify_all();
}

void RankHub::State::read_frames(int rank) {
    FrameSocket& socket = *member(rank).socket;
    Frame frame;
    double silent_s = 0;
    for (;;) {
        const FrameSocket::Got got = socket.receive(frame, kBeat_s);
        silent_s = socket.has_heard() ? 0 : silent_s + kBeat_s;
        if (got == FrameSocket::Got::frame) {
            take(rank, std::move(frame));
            continue;
        }
        bool over = false;
        {
            const std::lock_guard lock(mutex);
            over = ending || failure.has_value();
        }
        const bool silent = silent_s >= kMostSilence_s;
        if (got == FrameSocket::Got::closed || silent) {
            if (!over) {
                lose(rank, silent ? "has not been heard of for " + format_duration(kMostSilence_s) +
                                        ": it is stopped or cut off"
                                  : "is gone: its connection ended");
            }
            return;
        }
    }
}

void RankHub::State::take(int rank, Frame frame) {
    Member& mine = member(rank);
    if (const auto said = frame.head.find("failed"); said != frame.head.end()) {
        // Because of a rank that is lost, more often than not.
        commit(error_of(*said, "rank " + std::to_string(rank) + " on " + mine.identity.host));
        return;
    }
    const std::lock_guard lock(mutex);
    if (const auto beat = frame.head.find("beat"); beat != frame.head.end()) {
        mine.position.where = beat->value("where", "");
        mine.position.waits_for = beat->value("waits_for", std::vector<int>{});
        return;
    }
    if (const auto aside = frame.head.find("aside"); aside != frame.head.end()) {
        const auto number = aside->get<std::int64_t>();
        aside_answers[number] = std::move(frame);
    } else {
        mine.answers.push_back(std::move(frame));
    }
    changed.notify_all();
}

// In the words of those who are left, as they last said where they are.
std::string RankHub::State::who_waits_for(int lost, const comm::RankPosition& own_position) {
    std::string out;
    std::size_t named = 0;
    const auto add = [&](int rank, const comm::RankPosition& at) {
        if (std::find(at.waits_for.begin(), at.waits_for.end(), lost) != at.waits_for.end() &&
            ++named <= kMostRanksNamed) {
            out += "; rank " + std::to_string(rank) + " waits for it at " + at.where;
        }
    };
    add(0, own_position);
    if (const std::string& asked = member(lost).asked; named == 0 && !asked.empty()) {
        out += "; rank 0 waits for its answer: " + asked;
    }
    for (int rank = 1; rank < options.size; ++rank) {
        if (rank != lost) {
            add(rank, member(rank).position);
        }
    }
    if (named > kMostRanksNamed) {
        out += "; and " + std::to_string(named - kMostRanksNamed) + " more";
    }
    if (const comm::RankPosition& last = member(lost).position; !last.where.empty()) {
        out += "; when last heard of it was at " + last.where;
    }
    return out;
}

void RankHub::State::lose(int rank, const std::string& why) {
    std::string text;
    const comm::RankPosition own_position = own.position(); // which locks, and ends take ours then
    {
        const std::lock_guard lock(mutex);
        text = name_of(rank) + " " + why + who_waits_for(rank, own_position);
        member(rank).lost = text;
        changed.notify_all();
    }
    tell_news(RankNews::What::lost, rank, why);
    commit(Error(ErrorKind::device, "ranks", text, kGoOn));
}

void RankHub::State::commit(const Error& said) {
    std::unique_lock lock(mutex);
    if (failure || ending) {
        return;
    }
    if (failing) { // by another thread, which waits for this news or another
        changed.wait(lock, [&] { return failure.has_value(); });
        return;
    }
    failing = true;
    const auto first_lost = [&] {
        return std::find_if(members.begin(), members.end(),
                            [](const Member& one) { return one.lost.has_value(); });
    };
    changed.wait_for(lock, std::chrono::duration<double>(kGrace),
                     [&] { return first_lost() != members.end(); });
    const auto lost = first_lost();
    failure = lost != members.end() ? Error(ErrorKind::device, "ranks", *lost->lost, kGoOn) : said;
    const Error reason = *failure;
    const auto library = transport;
    changed.notify_all();
    lock.unlock();
    if (!own.abort(reason.message()) && library != nullptr) {
        library->interrupt();
    }
    for (Member& one : members) {
        bool there = false;
        bool gone = false;
        {
            const std::lock_guard look(mutex);
            there = one.joined;
            gone = one.lost.has_value();
        }
        if (gone) {
            one.socket->shut(); // who sends to it shall not wait
        } else if (there) {
            one.socket->send({{"abort", reason.message()}});
        }
    }
}

void RankHub::State::throw_error_in(const Frame& answer, int rank) {
    if (const auto fault = answer.head.find("error"); fault != answer.head.end()) {
        throw error_of(*fault,
                       "rank " + std::to_string(rank) + " on " + member(rank).identity.host);
    }
}

void RankHub::State::throw_failure() {
    throw Error(*failure);
}

void RankHub::fail(const Error& reason) {
    state_->commit(reason);
}

Error RankHub::verdict(const Error& other) const {
    const std::lock_guard lock(state_->mutex);
    return state_->failure ? *state_->failure : other;
}

void RankHub::tell(int rank, const Json& head, std::span<const std::byte> body) {
    if (!state_->member(rank).socket->send(head, body)) {
        const std::unique_lock lock(state_->mutex);
        if (state_->failure) {
            state_->throw_failure();
        } // else its reader is about to say so, and the next answer tells
    }
}

void RankHub::State::put(int rank, Json head, std::span<const std::byte> body) {
    head["asked"] = true;
    {
        const std::lock_guard lock(mutex);
        member(rank).asked = head.at("do").get<std::string>();
    }
    member(rank).socket->send(head, body);
}

Frame RankHub::State::answer_of(int rank) {
    Member& mine = member(rank);
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !mine.answers.empty() || failure; });
    if (failure) {
        throw_failure();
    }
    Frame answer = std::move(mine.answers.front());
    mine.answers.pop_front();
    mine.asked.clear();
    lock.unlock();
    throw_error_in(answer, rank);
    return answer;
}

Frame RankHub::ask(int rank, Json head, std::span<const std::byte> body) {
    state_->put(rank, std::move(head), body);
    return state_->answer_of(rank);
}

Frame RankHub::ask_aside(int rank, Json head) {
    State& state = *state_;
    std::unique_lock lock(state.mutex);
    const std::int64_t number = ++state.asides;
    head["aside"] = number;
    lock.unlock();
    state.member(rank).socket->send(head);
    lock.lock();
    state.changed.wait(lock, [&] { return state.aside_answers.contains(number) || state.failure; });
    const auto found = state.aside_answers.find(number);
    if (found == state.aside_answers.end()) {
        state.throw_failure();
    }
    Frame answer = std::move(found->second);
    state.aside_answers.erase(found);
    lock.unlock();
    state.throw_error_in(answer, rank);
    return answer;
}

// All are asked before any answer is waited for, by one thread: thousands that wait would each be
// woken by every answer.
std::vector<Frame> RankHub::ask_all(const Json& head) {
    std::vector<Frame> out(static_cast<std::size_t>(size()));
    for (int rank = 1; rank < size(); ++rank) {
        state_->put(rank, head, {});
    }
    std::exception_ptr fault;
    for (int rank = 1; rank < size(); ++rank) {
        try {
            out[static_cast<std::size_t>(rank)] = state_->answer_of(rank);
        } catch (...) {
            fault = fault != nullptr ? fault : std::current_exception();
        }
    }
    if (fault != nullptr) {
        std::rethrow_exception(fault);
    }
    return out;
}

void RankHub::connect(std::shared_ptr<comm::Transport> transport, double timeout_s,
                      comm::Sums sums) {
    State& state = *state_;
    const auto in_library = [this](const auto& fn) {
        try {
            return fn();
        } catch (const Error&) {
            throw;
        } catch (const std::exception& fault) {
            throw verdict(Error(ErrorKind::device, "rank 0", fault.what(),
                                "`weft doctor` says what this machine offers"));
        }
    };
    std::vector<std::vector<std::byte>> addresses(static_cast<std::size_t>(size()));
    {
        const std::lock_guard lock(state.mutex);
        state.transport = transport; // who fails meanwhile ends it
    }
    addresses[0] = in_library([&] { return transport->address(); });
    std::vector<Frame> told = ask_all({{"do", "address"}});
    Json sizes = Json::array();
    std::vector<std::byte> all;
    std::map<std::string, int> numbers; // of hosts
    std::vector<int> hosts;             // by rank
    for (int rank = 0; rank < size(); ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        if (rank > 0) {
            addresses[at] = std::move(told[at].body);
        }
        sizes.push_back(addresses[at].size());
        const auto next = static_cast<int>(numbers.size());
        hosts.push_back(numbers.try_emplace(identity(rank).host, next).first->second);
        all.insert(all.end(), addresses[at].begin(), addresses[at].end());
    }
    for (int rank = 1; rank < size(); ++rank) {
        tell(rank,
             {{"do", "connect"},
              {"sizes", sizes},
              {"timeout_s", timeout_s},
              {"within_s", state.options.join_timeout_s},
              {"hosts", hosts},
              {"sums_by_host", sums == comm::Sums::by_host}},
             all);
    }
    in_library([&] { transport->connect(addresses, state.options.join_timeout_s); });
    comm::ProcessWorldOptions options;
    options.timeout_s = timeout_s;
    options.hosts = std::move(hosts);
    options.sums = sums;
    options.ended = [&state](const std::string& why) {
        state.commit(Error(ErrorKind::device, "ranks", why, kGoOn));
    };
    state.world.emplace(*transport, 0, size(), std::move(options));
    state.own.follow(&*state.world);
    if (const Error known = verdict(Error(ErrorKind::runtime, "", "")); !known.text().empty()) {
        throw Error(known); // it was told when nobody could hear it
    }
    ask_all({{"do", "connected"}});
}

comm::ProcessWorld& RankHub::world() {
    return *state_->world;
}

void RankHub::follow(comm::OwnExchanges* own) {
    state_->own.follow(own);
}

// The library's last words are to all ranks: it may wait for one that is not there any more.
void RankHub::State::leave() {
    struct Leaving {
        std::mutex mutex;
        std::condition_variable changed;
        bool done = false;
    };
    const auto leaving = std::make_shared<Leaving>();
    std::thread([leaving, library = transport] {
        try {
            library->leave();
        } catch (const std::exception&) {
            // The run is over and saved: how a library closes is nobody's loss.
        }
        const std::lock_guard lock(leaving->mutex);
        leaving->done = true;
        leaving->changed.notify_all();
    }).detach();
    std::unique_lock lock(leaving->mutex);
    leaving->changed.wait_for(lock, std::chrono::duration<double>(kFarewell_s),
                              [&] { return leaving->done; });
}

// Ranks may be on their way to a run that does not begin.
void RankHub::State::dismiss() {
    const double until_s = clock.steady_s() + kMostSilence_s;
    for (int told = 1 + sent_away; told < options.size && clock.steady_s() < until_s;) {
        const int descriptor = accept_within(listener, kLookAround_s);
        if (descriptor >= 0) {
            FrameSocket(descriptor).send({{"refused", "the run does not begin: rank 0 says why"}});
            ++told;
        }
    }
}

void RankHub::end() {
    State& state = *state_;
    bool well = false;
    bool began = false;
    {
        std::unique_lock lock(state.mutex);
        if (state.ending) {
            return;
        }
        state.ending = true;
        state.changed.notify_all();
        well = !state.failure;
        state.changed.wait(lock, [&] { return state.greeted == 0; });
        began = std::any_of(state.members.begin(), state.members.end(),
                            [](const State::Member& one) { return one.joined; });
    }
    if (!began) {
        state.dismiss();
        return;
    }
    std::vector<State::Member*> there;
    {
        const std::lock_guard lock(state.mutex);
        for (State::Member& member : state.members) {
            if (member.joined && !member.lost && !member.gone) {
                there.push_back(&member);
            }
        }
    }
    for (State::Member* member : there) {
        member->socket->send({{"end", well}});
    }
    const bool all = static_cast<int>(there.size()) == size() - 1;
    if (well && all && state.world) {
        state.leave();
    }
    {
        std::unique_lock lock(state.mutex);
        state.changed.wait_for(lock, std::chrono::duration<double>(kFarewell_s), [&] {
            return std::all_of(there.begin(), there.end(),
                               [](const State::Member* member) { return member->gone; });
        });
    }
    for (State::Member& member : state.members) {
        if (member.joined) {
            member.socket->shut();
            member.reader.join();
        }
    }
}

} // namespace weft::exec
