// SPDX-License-Identifier: Apache-2.0
// A hub and its ranks as threads: questions and answers, and what is said when a rank goes, in the
// middle of an exchange and outside.
#include "core/base/error.h"
#include "core/exec/ranks/rank_hub.h"
#include "core/exec/ranks/rank_member.h"
#include "tests/sim/comm/worlds.h"
#include "tests/support/weft_test.h"

#include <atomic>
#include <thread>

using namespace weft;
using namespace weft::exec;
using namespace weft::exec::comm::test;

namespace {

/// Ranks that do what the hub asks: "double" a number, "meet" in a barrier, "leave" without a word,
/// "hang" for ever in a barrier that nobody else comes to.
class Ranks {
public:
    explicit Ranks(int size) : size_(size) {
        RankHubOptions options;
        options.size = size;
        options.address = "127.0.0.1";
        options.identity = {"1", "any", "hub", 1, 1, 0};
        options.news = [this](const RankNews& news) {
            if (news.what == RankNews::What::lost) {
                lost_ = news.rank;
            }
        };
        hub_.emplace(std::move(options));
        for (int rank = 1; rank < size; ++rank) {
            threads_.emplace_back([this, rank] { serve(rank); });
        }
        hub_->gather({});
        hub_->connect(make_mail_transport(mailbox_, 0), 600);
    }

    ~Ranks() {
        hub_->end();
        for (std::thread& thread : threads_) {
            thread.join();
        }
        hub_.reset();
    }

    RankHub& hub() { return *hub_; }
    int lost() const { return lost_; }
    int ended_well() const { return well_; }

private:
    void serve(int rank) {
        RankMemberOptions options;
        options.rank = rank;
        options.size = size_;
        options.address = "127.0.0.1";
        options.port = hub_->port();
        options.identity = {"1", "any", "host" + std::to_string(rank), rank, 1, 0};
        const auto transport = make_mail_transport(mailbox_, rank);
        RankMember member(options);
        Frame command;
        for (;;) {
            const RankMember::Next next = member.next(command);
            if (next != RankMember::Next::command) {
                well_ += next == RankMember::Next::end ? 1 : 0;
                return;
            }
            try {
                if (member.connect(command, *transport)) {
                    continue;
                }
                const auto wanted = command.head.at("do").get<std::string>();
                if (wanted == "double") {
                    member.answer({{"number", 2 * command.head.at("number").get<int>()}},
                                  command.body);
                } else if (wanted == "aside") {
                    member.answer_aside(command, {{"rank", rank}});
                } else if (wanted == "refuse") {
                    member.answer(Error(ErrorKind::memory, "here", "no room", "make some"));
                } else if (wanted == "meet") {
                    static_cast<void>(
                        member.world().communicator(rank).barrier("the test's meeting"));
                    member.answer();
                } else if (wanted == "leave") {
                    return;
                }
            } catch (const Error& fault) {
                member.answer(fault);
            }
        }
    }

    const int size_;
    Mailbox mailbox_;
    std::optional<RankHub> hub_;
    std::atomic<int> lost_ = -1;
    std::atomic<int> well_ = 0;
    std::vector<std::thread> threads_;
};

std::optional<Error> fault_of(const std::function<void()>& fn) {
    try {
        fn();
        return std::nullopt;
    } catch (const Error& fault) {
        return fault;
    }
}

} // namespace

class LostTest : public QObject {
    Q_OBJECT
private slots:
    void questions_have_their_answers_and_all_end_well() {
        std::optional<Ranks> ranks(std::in_place, 4);
        for (int i = 0; i < 100; ++i) {
            for (int rank = 1; rank < 4; ++rank) {
                const std::vector<std::byte> body(static_cast<std::size_t>(i));
                const Frame answer =
                    ranks->hub().ask(rank, {{"do", "double"}, {"number", 10 * i + rank}}, body);
                QCOMPARE(answer.head["number"].get<int>(), 2 * (10 * i + rank));
                QCOMPARE(answer.body.size(), body.size());
            }
        }
        std::vector<std::thread> askers;
        std::atomic<int> right = 0;
        for (int i = 0; i < 30; ++i) {
            askers.emplace_back([&, i] {
                const int rank = 1 + i % 3;
                right +=
                    ranks->hub().ask_aside(rank, {{"do", "aside"}}).head["rank"].get<int>() == rank
                        ? 1
                        : 0;
            });
        }
        for (std::thread& asker : askers) {
            asker.join();
        }
        QCOMPARE(right.load(), 30);
        const auto refused = fault_of([&] { ranks->hub().ask(2, {{"do", "refuse"}}); });
        QVERIFY(refused && refused->kind() == ErrorKind::memory);
        QCOMPARE(refused->message(), std::string("rank 2 on host2, here: no room. make some"));
        ranks->hub().end();
        while (ranks->ended_well() < 3) {
            std::this_thread::yield();
        }
    }

    void a_rank_that_goes_while_others_wait_is_named_with_them() {
        Ranks ranks(3);
        // Rank 1 waits in a meeting that rank 2 does not come to.
        ranks.hub().tell(1, {{"do", "meet"}});
        const auto waits = [&] {
            std::thread asker([&] {
                const auto fault = fault_of([&] {
                    static_cast<void>(
                        ranks.hub().world().communicator(0).barrier("the test's meeting"));
                });
                QVERIFY(fault.has_value());
            });
            // Rank 1 has come, rank 2 is waited for.
            while (ranks.hub().world().position().waits_for != std::vector<int>{2}) {
                std::this_thread::yield();
            }
            ranks.hub().tell(2, {{"do", "leave"}});
            asker.join();
        };
        waits();
        const Error said = ranks.hub().verdict(Error(ErrorKind::runtime, "", "nothing was said"));
        const std::string text = said.text();
        QVERIFY2(text.starts_with("rank 2 (host host2, process 2) is gone: its connection ended"),
                 text.c_str());
        QVERIFY2(text.find("rank 0 waits for it at collective 1 (the test's meeting) of group "
                           "world") != std::string::npos,
                 text.c_str());
        QCOMPARE(ranks.lost(), 2);
        QVERIFY(said.kind() == ErrorKind::device);
        const auto later = fault_of([&] { ranks.hub().ask(1, {{"do", "double"}, {"number", 1}}); });
        QVERIFY(later && later->text() == text);
    }

    void a_rank_that_goes_between_two_questions_is_named() {
        Ranks ranks(3);
        ranks.hub().tell(1, {{"do", "leave"}});
        const auto fault = fault_of([&] {
            for (;;) {
                ranks.hub().ask(1, {{"do", "double"}, {"number", 1}});
            }
        });
        QVERIFY(fault && fault->text().starts_with("rank 1 (host host1, process 1) is gone"));
    }

    void a_mismatch_is_told_before_data_moves() {
        Ranks ranks(2);
        ranks.hub().tell(1, {{"do", "meet"}});
        std::vector<std::byte> data(12);
        const auto fault = fault_of([&] {
            static_cast<void>(ranks.hub().world().communicator(0).broadcast(data, ir::DType::f32, 0,
                                                                            "the weights"));
        });
        QVERIFY(fault.has_value());
        const std::string text = fault->text();
        QVERIFY2(text.find("collectives differ: ") != std::string::npos, text.c_str());
        QVERIFY2(text.find("broadcast of f32[3] from 0 (the weights)") != std::string::npos,
                 text.c_str());
        QVERIFY2(text.find("barrier (the test's meeting)") != std::string::npos, text.c_str());
    }
};

WEFT_TEST(LostTest)
#include "lost_test.moc"
