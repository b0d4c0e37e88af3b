// SPDX-License-Identifier: Apache-2.0
// Who may take part in a run, what is said to those who may not, and that strangers do no harm.
#include "core/base/error.h"
#include "core/exec/ranks/rank_hub.h"
#include "core/exec/ranks/rank_member.h"
#include "tests/support/weft_test.h"

#include <future>
#include <optional>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace weft;
using namespace weft::exec;

namespace {

constexpr double kShort_s = 2;

RankIdentity identity_here(const std::string& version = "1.0") {
    return {version, "avx512", "here", 7, 1, 0};
}

RankHubOptions hub_of(int size, double timeout_s = 60) {
    RankHubOptions out;
    out.size = size;
    out.address = "127.0.0.1";
    out.secret = "secret";
    out.identity = identity_here();
    out.join_timeout_s = timeout_s;
    return out;
}

RankMemberOptions member_of(const RankHub& hub, int rank, int size = 2) {
    RankMemberOptions out;
    out.rank = rank;
    out.size = size;
    out.address = "127.0.0.1";
    out.port = hub.port();
    out.secret = "secret";
    out.identity = identity_here();
    return out;
}

/// What the hub and a rank with these options say, while the hub gathers; empty: nothing.
struct Said {
    std::string hub, rank;
};

std::string what_of(const std::function<void()>& fn) {
    try {
        fn();
        return {};
    } catch (const Error& fault) {
        return fault.message();
    }
}

Said join_with(const std::function<void(RankMemberOptions&)>& change, double timeout_s = 60) {
    RankHub hub(hub_of(2, timeout_s));
    RankMemberOptions options = member_of(hub, 1);
    change(options);
    auto rank = std::async(std::launch::async, [&] {
        return what_of([&] {
            RankMember member(options);
            Frame frame;
            while (member.next(frame) == RankMember::Next::command) {
                member.answer();
            }
        });
    });
    Said out;
    out.hub = what_of([&] { hub.gather({}); });
    hub.end();
    out.rank = rank.get();
    return out;
}

bool says(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

} // namespace

class JoinTest : public QObject {
    Q_OBJECT
private slots:
    void a_rank_joins_and_leaves() {
        const Said said = join_with([](RankMemberOptions&) {});
        QCOMPARE(said.hub, std::string());
        QCOMPARE(said.rank, std::string());
    }

    void a_rank_without_the_secret_is_sent_away_and_named_in_the_end() {
        const Said said =
            join_with([](RankMemberOptions& options) { options.secret = "other"; }, kShort_s);
        QVERIFY2(says(said.rank, "WEFT_RUN_SECRET"), said.rank.c_str());
        QVERIFY2(says(said.hub, "rank 1 of 2 did not join within 2.0 s"), said.hub.c_str());
        QVERIFY2(says(said.hub, "somebody without this run's secret tried from 127.0.0.1:"),
                 said.hub.c_str());
    }

    void another_version_is_refused_with_both() {
        const Said said =
            join_with([](RankMemberOptions& options) { options.identity.version = "0.9"; });
        for (const std::string& text : {said.hub, said.rank}) {
            QVERIFY2(says(text, "has weft 0.9, rank 0 on here has 1.0"), text.c_str());
        }
    }

    void another_processor_is_refused() {
        const Said said =
            join_with([](RankMemberOptions& options) { options.identity.instructions = "avx2"; });
        QVERIFY2(says(said.hub, "computes with avx2, rank 0 on here with avx512"),
                 said.hub.c_str());
    }

    void ranks_of_another_count_are_refused() {
        const Said size = join_with([](RankMemberOptions& options) { options.size = 3; });
        QVERIFY2(says(size.hub, "started as one of 3 ranks, rank 0 as one of 2"), size.hub.c_str());
        const Said rank = join_with([](RankMemberOptions& options) { options.rank = 2; });
        QVERIFY2(says(rank.hub, "rank 2 on here"), rank.hub.c_str());
    }

    void a_rank_that_is_there_already_is_refused() {
        RankHub hub(hub_of(3));
        const auto serve = [&] {
            return what_of([&] {
                RankMember member(member_of(hub, 1, 3));
                Frame frame;
                member.next(frame);
            });
        };
        auto one = std::async(std::launch::async, serve);
        auto other = std::async(std::launch::async, serve);
        const std::string said = what_of([&] { hub.gather({}); });
        QVERIFY2(says(said, "rank 1 on here: there is one already, on here: each rank is started "
                            "once"),
                 said.c_str());
        hub.end(); // whoever was first is let go
        const std::string first = one.get();
        const std::string second = other.get();
        QVERIFY2(says(first, "there is one already") != says(second, "there is one already"),
                 (first + " / " + second).c_str());
    }

    // Noise, silence, and a frame of a size that nobody sends.
    void strangers_do_no_harm() {
        RankHub hub(hub_of(2));
        std::vector<int> strangers;
        const auto connect = [&] {
            strangers.push_back(connect_within("127.0.0.1", hub.port(), 10));
            return strangers.back();
        };
        const int noise = connect();
        const std::string text =
            "GET / HTTP/1.1\r\nHost: here\r\n\r\n and more than a frame's head";
        QVERIFY(::send(noise, text.data(), text.size(), MSG_NOSIGNAL) > 0);
        {
            FrameSocket huge(connect());
            strangers.pop_back();
            huge.send({{"rank", 1}}, std::vector<std::byte>(1 << 20));
            FrameSocket odd(connect());
            strangers.pop_back();
            odd.send({{"rank", "one"}, {"nonce", 3}, {"proof", nullptr}, {"identity", 4}});
            auto rank = std::async(std::launch::async, [&] {
                return what_of([&] {
                    RankMember member(member_of(hub, 1));
                    Frame frame;
                    member.next(frame);
                });
            });
            QCOMPARE(what_of([&] { hub.gather({}); }), std::string());
            hub.end();
            QCOMPARE(rank.get(), std::string());
        }
        for (const int stranger : strangers) {
            ::close(stranger);
        }
    }

    void a_stop_ends_the_wait_for_ranks() {
        RankHub hub(hub_of(2));
        std::stop_source stop;
        auto gathered = std::async(std::launch::async,
                                   [&] { return what_of([&] { hub.gather(stop.get_token()); }); });
        stop.request_stop();
        QVERIFY(says(gathered.get(), "stopped"));
    }

    void frames_arrive_as_they_were_sent() {
        const int listener = listen_at("127.0.0.1", 0);
        FrameSocket one(connect_within("127.0.0.1", port_of(listener), 10));
        FrameSocket other(accept_within(listener, 10));
        other.limit_frames(1 << 26);
        std::vector<std::byte> large(5'000'000);
        for (std::size_t i = 0; i < large.size(); ++i) {
            large[i] = static_cast<std::byte>(i * 7 % 251);
        }
        auto sent = std::async(std::launch::async, [&] {
            return one.send({{"a", 1}}) && one.send({{"text", "\xff not text"}}, large) &&
                   one.send({{"last", true}});
        });
        Frame frame;
        QVERIFY(other.receive(frame, 10) == FrameSocket::Got::frame);
        QCOMPARE(frame.head["a"].get<int>(), 1);
        QVERIFY(frame.body.empty());
        QVERIFY(other.receive(frame, 10) == FrameSocket::Got::frame);
        QVERIFY(frame.body == large);
        QVERIFY(other.receive(frame, 10) == FrameSocket::Got::frame);
        QVERIFY(sent.get());
        QVERIFY(other.receive(frame, 0.01) == FrameSocket::Got::silence);
        one.shut();
        QVERIFY(other.receive(frame, 10) == FrameSocket::Got::closed);
        ::close(listener);
    }
};

WEFT_TEST(JoinTest)
#include "join_test.moc"
