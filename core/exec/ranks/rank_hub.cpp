// SPDX-License-Identifier: Apache-2.0
#include "core/exec/ranks/rank_hub.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/ranks/errors.h"
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

constexpr std::int64_t kMostFrame = std::int64_t{1} << 40;
constexpr double kHandshake_s = 5;
constexpr double kLookAround_s = 0.2;
constexpr double kLateAfter_s = 10; // who has not joined is named
constexpr double kGrace = 1;        // s, for who is lost to be known
constexpr double kMostSkew_s = 120; // between clocks of hosts
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
        comm::RankPosition position;
        std::optional<std::string> lost; // why
        bool gone = false;               // its reader has ended
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

    void welcome(int descriptor);
    void refuse(FrameSocket& socket, const std::string& who, const std::string& reason);
    void read(int rank);
    void take(int rank, Frame frame);
    void lose(int rank, const std::string& why);
    void commit(const std::string& reason);
    std::string who_waits_for(int rank);
    std::vector<int> missing() const;
    void throw_error_in(const Frame& answer, int rank);
    [[noreturn]] void throw_failure();

    const RankHubOptions options;
    const int listener;
    const SystemClock clock;
    std::vector<Member> members; // that of rank 0 stays empty
    std::optional<comm::ProcessWorld> world;
    comm::Transport* transport = nullptr;
    std::string refused; // the first rank that could not join, and why
    std::vector<std::string> strangers;

    mutable std::mutex mutex;
    std::condition_variable changed;
    bool failing = false; // somebody looks for the reason
    bool failed = false;
    std::string reason;
    bool ending = false;
    std::int64_t asides = 0; // questions that were asked
    std::map<std::int64_t, Frame> aside_answers;
};

RankHub::RankHub(RankHubOptions options) : state_(std::make_unique<State>(std::move(options))) {}

RankHub::~RankHub() {
    end();
    ::close(state_->listener);
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
    std::vector<int> out;
    for (int rank = 1; rank < options.size; ++rank) {
        if (members[static_cast<std::size_t>(rank)].socket == nullptr) {
            out.push_back(rank);
        }
    }
    return out;
}

void RankHub::State::refuse(FrameSocket& socket, const std::string& who, const std::string& why) {
    socket.send({{"refused", why}});
    if (refused.empty()) {
        refused = who + ": " + why;
    }
}

// A stranger is sent away and forgotten; a rank that cannot take part ends the run.
void RankHub::State::welcome(int descriptor) {
    auto socket = std::make_unique<FrameSocket>(descriptor);
    const std::string nonce = new_nonce();
    Frame frame;
    if (!socket->send({{"nonce", nonce}}) ||
        socket->receive(frame, kHandshake_s) != FrameSocket::Got::frame) {
        return;
    }
    const Json& head = frame.head;
    const int rank = head.value("rank", -1);
    const std::string other = head.value("nonce", "");
    if (!same_proof(proof_of(options.secret, nonce + " " + std::to_string(rank)),
                    head.value("proof", ""))) {
        socket->send({{"refused", "it does not know the secret of this run (WEFT_RUN_SECRET)"}});
        strangers.push_back(socket->peer());
        return;
    }
    const RankIdentity who = identity_of(head.value("identity", Json::object()));
    const std::string name = "rank " + std::to_string(rank) + " on " + who.host;
    if (head.value("size", 0) != options.size || rank < 1 || rank >= options.size) {
        refuse(*socket, name,
               "it was started as one of " + std::to_string(head.value("size", 0)) +
                   " ranks, rank 0 as one of " + std::to_string(options.size));
        return;
    }
    if (member(rank).socket != nullptr) {
        refuse(*socket, name,
               "there is one already, on " + member(rank).identity.host +
                   ": each rank is started once");
        return;
    }
    if (const std::string why = why_not(options.identity, who); !why.empty()) {
        refuse(*socket, name, why);
        return;
    }
    const double asked_s = clock.steady_s();
    if (!socket->send({{"welcome", proof_of(options.secret, other + " hub")}}) ||
        socket->receive(frame, kHandshake_s) != FrameSocket::Got::frame) {
        return;
    }
    Member& mine = member(rank);
    mine.clock_lead_s = frame.head.value("clock", 0.0) - (asked_s + clock.steady_s()) / 2;
    mine.identity = who;
    socket->limit_frames(kMostFrame);
    mine.socket = std::move(socket);
    const double skew_s = who.epoch_s - clock.epoch_s();
    tell_news(RankNews::What::joined, rank,
              std::abs(skew_s) > kMostSkew_s
                  ? "its clock is " + format_duration(std::abs(skew_s)) +
                        (skew_s > 0 ? " ahead" : " behind") + "; set the clocks of the hosts"
                  : "");
}

void RankHub::gather(const std::stop_token& stop) {
    State& state = *state_;
    const double since_s = state.clock.steady_s();
    bool told_late = false;
    for (auto missing = state.missing(); !missing.empty(); missing = state.missing()) {
        if (stop.stop_requested()) {
            throw Error(ErrorKind::runtime, "", "was stopped while it waited for its ranks");
        }
        const int descriptor = accept_within(state.listener, kLookAround_s);
        if (descriptor >= 0) {
            try {
                state.welcome(descriptor);
            } catch (const Json::exception&) {
                // Not one of ours: what it said is no greeting.
            }
        }
        if (!state.refused.empty()) {
            throw Error(ErrorKind::device, "ranks", state.refused);
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
            if (!state.strangers.empty()) {
                text +=
                    "; somebody without this run's secret tried from " + state.strangers.front();
            }
            throw Error(ErrorKind::device, "ranks", text,
                        "see that they were started, what they say, and that they reach " +
                            state.options.address + ":" + std::to_string(port()));
        }
    }
    for (int rank = 1; rank < size(); ++rank) {
        state.member(rank).reader = std::thread([&state, rank] { state.read(rank); });
    }
}

void RankHub::State::read(int rank) {
    Member& mine = member(rank);
    Frame frame;
    double silent_s = 0;
    for (;;) {
        const FrameSocket::Got got = mine.socket->receive(frame, kBeat_s);
        if (got == FrameSocket::Got::frame) {
            silent_s = 0;
            take(rank, std::move(frame));
            continue;
        }
        silent_s += got == FrameSocket::Got::silence ? kBeat_s : 0;
        bool over = false;
        {
            const std::lock_guard lock(mutex);
            over = ending || failed;
        }
        if (got == FrameSocket::Got::closed || (!over && silent_s >= kMostSilence_s)) {
            if (!over) {
                lose(rank, got == FrameSocket::Got::closed
                               ? "is gone: its connection ended"
                               : "has not been heard of for " + format_duration(kMostSilence_s) +
                                     ": it is stopped or cut off");
            }
            break;
        }
        if (over && silent_s >= kMostSilence_s) {
            break;
        }
    }
    mine.socket->shut();
    const std::lock_guard lock(mutex);
    mine.gone = true;
    changed.notify_all();
}

void RankHub::State::take(int rank, Frame frame) {
    Member& mine = member(rank);
    if (const auto failure = frame.head.find("failed"); failure != frame.head.end()) {
        // By whoever is lost, more often than not.
        commit("rank " + std::to_string(rank) + ": " + failure->get<std::string>());
        return;
    }
    const std::lock_guard lock(mutex);
    if (const auto beat = frame.head.find("beat"); beat != frame.head.end()) {
        mine.position.where = beat->value("where", "");
        mine.position.waits_for = beat->value("waits_for", std::vector<int>{});
        mine.position.for_s = beat->value("for_s", 0.0);
        mine.socket->send({{"beat", true}});
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
std::string RankHub::State::who_waits_for(int lost) {
    std::string out;
    std::size_t named = 0;
    const auto add = [&](int rank, const comm::RankPosition& at) {
        if (std::find(at.waits_for.begin(), at.waits_for.end(), lost) != at.waits_for.end() &&
            ++named <= kMostRanksNamed) {
            out += "; rank " + std::to_string(rank) + " waits for it at " + at.where;
        }
    };
    if (world) {
        add(0, world->position());
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
    {
        const std::lock_guard lock(mutex);
        text = name_of(rank) + " " + why + who_waits_for(rank);
        member(rank).lost = text;
        changed.notify_all();
    }
    tell_news(RankNews::What::lost, rank, why);
    commit(text);
}

void RankHub::State::commit(const std::string& said) {
    std::unique_lock lock(mutex);
    if (failed || ending) {
        return;
    }
    if (failing) { // by another thread, which waits for this news or another
        changed.wait(lock, [&] { return failed; });
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
    reason = lost != members.end() ? *lost->lost : said;
    failed = true;
    changed.notify_all();
    lock.unlock();
    if (world) {
        world->abort(reason);
    }
    for (Member& one : members) {
        if (one.socket == nullptr) {
            continue;
        }
        if (one.lost) {
            one.socket->shut(); // who sends to it shall not wait
        } else {
            one.socket->send({{"abort", reason}});
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
    throw Error(ErrorKind::device, "ranks", reason,
                "this run cannot go on; resume it from its last checkpoint");
}

void RankHub::fail(const std::string& reason) {
    state_->commit(reason);
}

Error RankHub::verdict(const Error& other) const {
    const std::lock_guard lock(state_->mutex);
    return state_->failed ? Error(ErrorKind::device, "ranks", state_->reason,
                                  "this run cannot go on; resume it from its last checkpoint")
                          : other;
}

void RankHub::tell(int rank, const Json& head, std::span<const std::byte> body) {
    if (!state_->member(rank).socket->send(head, body)) {
        const std::unique_lock lock(state_->mutex);
        if (state_->failed) {
            state_->throw_failure();
        } // else its reader is about to say so, and the next answer tells
    }
}

Frame RankHub::ask(int rank, Json head, std::span<const std::byte> body) {
    State& state = *state_;
    State::Member& member = state.member(rank);
    head["asked"] = true;
    member.socket->send(head, body);
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&] { return !member.answers.empty() || state.failed; });
    if (member.answers.empty()) {
        state.throw_failure();
    }
    Frame answer = std::move(member.answers.front());
    member.answers.pop_front();
    lock.unlock();
    state.throw_error_in(answer, rank);
    return answer;
}

Frame RankHub::ask_aside(int rank, Json head) {
    State& state = *state_;
    std::unique_lock lock(state.mutex);
    const std::int64_t number = ++state.asides;
    head["aside"] = number;
    lock.unlock();
    state.member(rank).socket->send(head);
    lock.lock();
    state.changed.wait(lock, [&] { return state.aside_answers.contains(number) || state.failed; });
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

std::vector<Frame> RankHub::ask_all(const Json& head) {
    std::vector<Frame> out(static_cast<std::size_t>(size()));
    std::vector<std::exception_ptr> faults(out.size());
    std::vector<std::thread> askers;
    for (int rank = 1; rank < size(); ++rank) {
        askers.emplace_back([&, rank] {
            const auto at = static_cast<std::size_t>(rank);
            try {
                out[at] = ask(rank, head);
            } catch (...) {
                faults[at] = std::current_exception();
            }
        });
    }
    for (std::thread& asker : askers) {
        asker.join();
    }
    for (const std::exception_ptr& fault : faults) {
        if (fault != nullptr) {
            std::rethrow_exception(fault);
        }
    }
    return out;
}

void RankHub::connect(comm::Transport& transport, double timeout_s) {
    State& state = *state_;
    const auto in_library = [](const auto& fn) {
        try {
            return fn();
        } catch (const Error&) {
            throw;
        } catch (const std::exception& fault) {
            throw Error(ErrorKind::device, "rank 0", fault.what(),
                        "`weft doctor` says what this machine offers");
        }
    };
    std::vector<std::vector<std::byte>> addresses(static_cast<std::size_t>(size()));
    addresses[0] = in_library([&] { return transport.address(); });
    std::vector<Frame> told = ask_all({{"do", "address"}});
    Json sizes = Json::array();
    std::vector<std::byte> all;
    for (int rank = 0; rank < size(); ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        if (rank > 0) {
            addresses[at] = std::move(told[at].body);
        }
        sizes.push_back(addresses[at].size());
        all.insert(all.end(), addresses[at].begin(), addresses[at].end());
    }
    for (int rank = 1; rank < size(); ++rank) {
        tell(rank, {{"do", "connect"}, {"sizes", sizes}, {"timeout_s", timeout_s}}, all);
    }
    in_library([&] { transport.connect(addresses); });
    state.transport = &transport;
    comm::ProcessWorldOptions options;
    options.timeout_s = timeout_s;
    options.ended = [&state](const std::string& why) { state.commit(why); };
    state.world.emplace(transport, 0, size(), std::move(options));
    ask_all({{"do", "connected"}});
}

comm::ProcessWorld& RankHub::world() {
    return *state_->world;
}

void RankHub::end() {
    State& state = *state_;
    bool well = false;
    {
        const std::lock_guard lock(state.mutex);
        if (state.ending) {
            return;
        }
        state.ending = true;
        well = !state.failed;
    }
    for (State::Member& member : state.members) {
        if (member.socket != nullptr && !member.lost) {
            member.socket->send({{"end", well}});
        }
    }
    if (well && state.transport != nullptr) {
        try {
            state.transport->leave();
        } catch (const std::exception&) {
            // The run is over and saved: how a library closes is nobody's loss.
        }
    }
    for (State::Member& member : state.members) {
        if (member.reader.joinable()) {
            member.reader.join();
        }
    }
}

} // namespace weft::exec
