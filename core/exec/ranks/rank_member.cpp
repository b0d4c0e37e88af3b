// SPDX-License-Identifier: Apache-2.0
#include "core/exec/ranks/rank_member.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/ranks/errors.h"
#include "core/exec/ranks/followed_exchanges.h"
#include "core/exec/ranks/join.h"
#include "core/exec/ranks/rank_hub.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

namespace weft::exec {
namespace {

using config::Json;

constexpr std::int64_t kMostFromHub = std::int64_t{1} << 40;

} // namespace

struct RankMember::State {
    explicit State(RankMemberOptions given)
        : options(std::move(given)),
          socket(connect_within(options.address, options.port, options.join_timeout_s)) {}

    void join();
    void read() noexcept;
    void read_frames();
    void beat();
    void end_exchanges(const std::string& reason);
    void lose(const std::string& why);
    std::string hub_text() const {
        return "rank 0 at " + options.address + ":" + std::to_string(options.port);
    }

    const RankMemberOptions options;
    FrameSocket socket;
    SystemClock clock;
    std::optional<comm::ProcessWorld> world;
    comm::Transport* transport = nullptr; // guarded by the mutex
    FollowedExchanges own;                // `world` once it is connected, or what else there is
    bool asked = false;                   // by the command that was handed out last

    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Frame> commands;
    bool aborted = false;
    std::optional<bool> ended; // well
    std::string lost;          // why the hub is
    bool leaving = false;
    std::thread reader;
    std::thread beater;
};

RankMember::RankMember(RankMemberOptions options)
    : state_(std::make_unique<State>(std::move(options))) {
    State& state = *state_;
    state.join();
    state.socket.limit_frames(kMostFromHub);
    state.reader = std::thread([&state] { state.read(); });
    state.beater = std::thread([&state] { state.beat(); });
}

RankMember::~RankMember() {
    State& state = *state_;
    {
        const std::lock_guard lock(state.mutex);
        state.leaving = true;
        state.changed.notify_all();
    }
    state.socket.shut();
    state.reader.join();
    state.beater.join();
}

int RankMember::rank() const {
    return state_->options.rank;
}

int RankMember::size() const {
    return state_->options.size;
}

void RankMember::State::join() {
    const auto get = [&](const char* key, Frame& frame) {
        if (socket.receive(frame, options.join_timeout_s) != FrameSocket::Got::frame) {
            throw Error(ErrorKind::device, hub_text(), "does not answer as rank 0 of a run would",
                        "see that MASTER_ADDR and MASTER_PORT are those of this run");
        }
        if (frame.head.contains("refused")) {
            throw Error(ErrorKind::device, "rank " + std::to_string(options.rank),
                        "cannot take part: " + frame.head["refused"].get<std::string>());
        }
        return frame.head.value(key, "");
    };
    Frame frame;
    const std::string nonce = get("nonce", frame);
    const std::string own = new_nonce();
    socket.send({{"rank", options.rank},
                 {"size", options.size},
                 {"identity", to_json(options.identity)},
                 {"nonce", own},
                 {"proof", proof_of(options.secret, nonce + " " + std::to_string(options.rank))}});
    const std::string proof = get("welcome", frame);
    socket.send({{"clock", clock.steady_s()}, {"time", clock.epoch_s()}});
    if (!same_proof(proof, proof_of(options.secret, own + " hub"))) {
        throw Error(ErrorKind::device, hub_text(), "does not know the secret of this run",
                    "see that MASTER_ADDR and MASTER_PORT are those of this run");
    }
}

void RankMember::State::lose(const std::string& why) {
    {
        const std::lock_guard lock(mutex);
        if (ended || leaving) {
            return;
        }
        lost = hub_text() + " " + why;
        changed.notify_all();
    }
    socket.shut(); // who sends to it shall not wait
    end_exchanges(lost);
}

void RankMember::State::end_exchanges(const std::string& reason) {
    comm::Transport* library = nullptr;
    {
        const std::lock_guard lock(mutex);
        library = transport;
    }
    if (!own.abort(reason) && library != nullptr) {
        library->interrupt(); // it may be about to meet the others
    }
}

void RankMember::State::read() noexcept {
    try {
        read_frames();
    } catch (const std::exception& fault) {
        lose(std::string("cannot be understood: ") + fault.what());
    }
}

void RankMember::State::read_frames() {
    Frame frame;
    double silent_s = 0;
    for (;;) {
        const FrameSocket::Got got = socket.receive(frame, kBeat_s);
        silent_s = socket.has_heard() ? 0 : silent_s + kBeat_s;
        if (got == FrameSocket::Got::closed) {
            lose("is gone: its connection ended");
            return;
        }
        if (got == FrameSocket::Got::silence) {
            if (silent_s >= kMostSilence_s) {
                lose("has not been heard of for " + format_duration(kMostSilence_s) +
                     ": it is stopped or cut off");
                return;
            }
            continue;
        }
        if (frame.head.contains("beat")) {
            continue;
        }
        if (const auto reason = frame.head.find("abort"); reason != frame.head.end()) {
            {
                const std::lock_guard lock(mutex);
                aborted = true;
            }
            end_exchanges(reason->get<std::string>());
            continue;
        }
        const std::lock_guard lock(mutex);
        if (const auto end = frame.head.find("end"); end != frame.head.end()) {
            ended = end->get<bool>();
        } else {
            commands.push_back(std::move(frame));
        }
        changed.notify_all();
    }
}

void RankMember::State::beat() {
    std::unique_lock lock(mutex);
    while (
        !changed.wait_for(lock, std::chrono::duration<double>(kBeat_s), [&] { return leaving; })) {
        lock.unlock();
        const comm::RankPosition at = own.position();
        socket.send_beat({{"beat", {{"where", at.where}, {"waits_for", at.waits_for}}}});
        lock.lock();
    }
}

RankMember::Next RankMember::next(Frame& command, const std::function<bool()>& idle) {
    constexpr auto kBetweenLooks = std::chrono::microseconds(500);
    State& state = *state_;
    const auto comes = [&] {
        return !state.commands.empty() || state.ended || !state.lost.empty();
    };
    std::unique_lock lock(state.mutex);
    for (bool looks = static_cast<bool>(idle);
         looks && !state.changed.wait_for(lock, kBetweenLooks, comes);) {
        lock.unlock();
        looks = idle();
        lock.lock();
    }
    state.changed.wait(lock, comes);
    if (!state.lost.empty()) {
        throw Error(ErrorKind::device, "rank " + std::to_string(rank()), state.lost,
                    "the run goes on from its last checkpoint: `weft resume`");
    }
    if (!state.commands.empty()) {
        command = std::move(state.commands.front());
        state.commands.pop_front();
        state.asked = command.head.value("asked", false);
        return Next::command;
    }
    lock.unlock();
    if (!*state.ended) {
        return Next::failed;
    }
    if (state.world) {
        try {
            state.transport->leave();
        } catch (const std::exception&) {
            // The run is over: how a library closes is nobody's loss.
        }
    }
    return Next::end;
}

void RankMember::answer(Json head, std::span<const std::byte> body) {
    if (std::exchange(state_->asked, false)) {
        state_->socket.send(head, body);
    }
}

void RankMember::answer(const Error& fault) {
    const bool asked = std::exchange(state_->asked, false);
    state_->socket.send(asked ? Json{{"error", to_json(fault)}} : Json{{"failed", to_json(fault)}});
}

void RankMember::fail(const Error& fault) {
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->aborted || !state_->lost.empty()) {
            return; // it follows from what is known
        }
        state_->aborted = true;
    }
    state_->asked = false;
    state_->socket.send({{"failed", to_json(fault)}});
    state_->end_exchanges(fault.message());
}

void RankMember::answer_aside(const Frame& command, Json head) {
    head["aside"] = command.head.at("aside");
    state_->socket.send(head);
}

void RankMember::answer_aside(const Frame& command, const Error& fault) {
    answer_aside(command, Json{{"error", to_json(fault)}});
}

bool RankMember::connect(const Frame& command, comm::Transport& transport) {
    State& state = *state_;
    const std::string wanted = command.head.value("do", "");
    if (wanted == "address") {
        answer(Json::object(), transport.address());
        return true;
    }
    if (wanted == "connected") {
        answer();
        return true;
    }
    if (wanted != "connect") {
        return false;
    }
    std::vector<std::vector<std::byte>> addresses;
    auto at = command.body.begin();
    for (const Json& size : command.head.at("sizes")) {
        const auto bytes = size.get<std::ptrdiff_t>();
        WEFT_CHECK(bytes <= command.body.end() - at, "the hub sends whole addresses");
        addresses.emplace_back(at, at + bytes);
        at += bytes;
    }
    {
        const std::lock_guard lock(state.mutex);
        state.transport = &transport;
    }
    transport.connect(addresses, command.head.at("within_s").get<double>());
    comm::ProcessWorldOptions options;
    options.timeout_s = command.head.at("timeout_s").get<double>();
    options.hosts = command.head.at("hosts").get<std::vector<int>>();
    options.sums = command.head.at("sums_by_host").get<bool>() ? comm::Sums::by_host
                                                               : comm::Sums::in_rank_order;
    options.ended = [&state](const std::string& why) {
        bool known = false;
        {
            const std::lock_guard lock(state.mutex);
            known = state.aborted || !state.lost.empty();
        }
        if (!known) {
            const Error fault(ErrorKind::device, "", why,
                              "this run cannot go on; resume it from its last checkpoint");
            state.socket.send({{"failed", to_json(fault)}});
        }
    };
    state.world.emplace(transport, rank(), size(), std::move(options));
    state.own.follow(&*state.world);
    return true;
}

comm::ProcessWorld& RankMember::world() {
    return *state_->world;
}

void RankMember::follow(comm::OwnExchanges* own) {
    state_->own.follow(own);
}

std::string RankMember::own_address() const {
    return state_->socket.own_address();
}

} // namespace weft::exec
