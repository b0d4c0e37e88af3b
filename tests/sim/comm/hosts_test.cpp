// SPDX-License-Identifier: Apache-2.0
// Groups whose ranks are on several hosts: what is added up in which order, and what goes between
// the hosts.
#include "core/base/clock.h"
#include "tests/sim/comm/worlds.h"
#include "tests/support/weft_test.h"

#include <map>
#include <thread>

using namespace weft;
using namespace weft::exec::comm;
using namespace weft::exec::comm::test;

namespace {

constexpr int kHosts = 2; // of ProcessWorlds: rank r is on host r % 2

struct Part {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// The first `whole.count` % n parts are one longer.
Part part_of(Part whole, std::int64_t index, std::int64_t n) {
    Part out{whole.first, 0};
    for (std::int64_t i = 0; i <= index; ++i) {
        out.first += out.count;
        out.count = whole.count / n + (i < whole.count % n ? 1 : 0);
    }
    return out;
}

/// Elements of all ranks' data that rank (host, place) adds up: within the hosts, then between.
void add_up(ir::DType dtype, Reduction reduction, const std::vector<Bytes>& data, Part part,
            int host, int place, Bytes& out, std::int64_t out_first) {
    const int per_host = static_cast<int>(data.size()) / kHosts;
    std::vector<Bytes> sums(kHosts, Bytes(data.front().size()));
    for (int of = 0; of < kHosts; ++of) {
        std::vector<Bytes> its;
        for (int i = 0; i < per_host; ++i) {
            its.push_back(data[static_cast<std::size_t>(i * kHosts + of)]);
        }
        for (std::int64_t i = part.first; i < part.first + part.count; ++i) {
            reduce_element(dtype, reduction, ring_order((place + 1) % per_host, per_host), its, i,
                           sums[static_cast<std::size_t>(of)], i);
        }
    }
    for (std::int64_t i = 0; i < part.count; ++i) {
        reduce_element(dtype, reduction, ring_order((host + 1) % kHosts, kHosts), sums,
                       part.first + i, out, out_first + i);
    }
}

std::vector<Bytes> drawn_on_all(ir::DType dtype, std::int64_t count, int ranks) {
    std::vector<Bytes> out;
    for (int rank = 0; rank < ranks; ++rank) {
        out.push_back(drawn_data(dtype, count, 40 + static_cast<std::uint64_t>(rank)));
    }
    return out;
}

std::int64_t between_hosts(Mailbox& mailbox, int ranks) {
    std::int64_t out = 0;
    for (int from = 0; from < ranks; ++from) {
        for (int to = 0; to < ranks; ++to) {
            out += from % kHosts != to % kHosts ? mailbox.carried(from, to) : 0;
        }
    }
    return out;
}

void on_all(ProcessWorlds& worlds, int ranks,
            const std::function<Outcome(Communicator&, int)>& call) {
    for (const std::string& error : run_ranks(worlds, ranks, [&](int rank) {
             if (call(worlds.of(rank).communicator(rank), rank) != Outcome::finished) {
                 throw std::logic_error("stopped");
             }
         })) {
        QVERIFY2(error.empty(), error.c_str());
    }
}

/// A rank's end of a network that takes a second of the rank's clock for each kilobyte that comes,
/// rounded down: notices come at once.
class SlowTransport final : public Transport {
public:
    SlowTransport(Mailbox& mailbox, int rank, ManualClock& clock)
        : inner_(make_mail_transport(mailbox, rank)), clock_(clock) {}

    std::vector<std::byte> address() override { return inner_->address(); }
    void connect(const std::vector<std::vector<std::byte>>& addresses, double seconds) override {
        inner_->connect(addresses, seconds);
    }
    Ticket send(int to, Tag tag, std::span<const std::byte> bytes) override {
        return inner_->send(to, tag, bytes);
    }
    Ticket receive(int from, Tag tag, std::span<std::byte> bytes) override {
        const Ticket out = inner_->receive(from, tag, bytes);
        seconds_[out] = static_cast<double>(bytes.size() / 1000);
        return out;
    }
    bool is_done(Ticket ticket) override { return inner_->is_done(ticket); }
    WaitEnd wait(Ticket ticket, double seconds) override {
        clock_.advance(late_s + seconds_[ticket]);
        late_s = 0;
        return inner_->wait(ticket, seconds);
    }
    void drop() override { inner_->drop(); }
    void interrupt() override { inner_->interrupt(); }
    void leave() override { inner_->leave(); }

    double late_s = 0; // by which the next that is waited for is

private:
    std::unique_ptr<Transport> inner_;
    ManualClock& clock_;
    std::map<Ticket, double> seconds_;
};

} // namespace

class CommHostsTest : public QObject {
    Q_OBJECT

    static void sizes() {
        QTest::addColumn<int>("ranks");
        for (const int ranks : {4, 6, 8}) {
            QTest::addRow("%d", ranks) << ranks;
        }
    }

private slots:
    void sums_are_made_within_the_hosts_and_then_between_them_data() { sizes(); }
    void sums_are_made_within_the_hosts_and_then_between_them() {
        QFETCH(int, ranks);
        ProcessWorlds worlds(ranks, Sums::by_host);
        for (const ir::DType dtype : kDTypes) {
            for (const Reduction reduction : {Reduction::sum, Reduction::max}) {
                for (const std::int64_t count : {0, 1, 5, 1291}) {
                    const auto data = drawn_on_all(dtype, count, ranks);
                    Bytes expected(data.front().size());
                    for (int owner = 0; owner < ranks; ++owner) {
                        const Part of_place = part_of({0, count}, owner / kHosts, ranks / kHosts);
                        const Part part = part_of(of_place, owner % kHosts, kHosts);
                        add_up(dtype, reduction, data, part, owner % kHosts, owner / kHosts,
                               expected, part.first);
                    }
                    auto results = data;
                    on_all(worlds, ranks, [&](Communicator& comm, int rank) {
                        Bytes& mine = results[static_cast<std::size_t>(rank)];
                        const Transfer tensor{mine, mine, dtype};
                        return comm.all_reduce({&tensor, 1}, reduction, "x");
                    });
                    QCOMPARE(results,
                             std::vector<Bytes>(static_cast<std::size_t>(ranks), expected));
                }
            }
        }
    }

    void parts_are_added_up_so_too_data() { sizes(); }
    void parts_are_added_up_so_too() {
        QFETCH(int, ranks);
        constexpr std::int64_t kCount = 37;
        ProcessWorlds worlds(ranks, Sums::by_host);
        // Two tensors at once, of different types.
        const auto wide = drawn_on_all(ir::DType::f32, kCount * ranks, ranks);
        const auto narrow = drawn_on_all(ir::DType::bf16, ranks, ranks);
        std::vector<Bytes> wide_sums(wide.size(), Bytes(kCount * 4));
        std::vector<Bytes> narrow_sums(narrow.size(), Bytes(2));
        on_all(worlds, ranks, [&](Communicator& comm, int rank) {
            const auto at = static_cast<std::size_t>(rank);
            const Transfer tensors[] = {{wide[at], wide_sums[at], ir::DType::f32},
                                        {narrow[at], narrow_sums[at], ir::DType::bf16}};
            return comm.reduce_scatter(tensors, Reduction::sum, "x");
        });
        for (int rank = 0; rank < ranks; ++rank) {
            const auto at = static_cast<std::size_t>(rank);
            Bytes expected(kCount * 4);
            add_up(ir::DType::f32, Reduction::sum, wide, {rank * kCount, kCount}, rank % kHosts,
                   rank / kHosts, expected, 0);
            QCOMPARE(wide_sums[at], expected);
            expected.resize(2);
            add_up(ir::DType::bf16, Reduction::sum, narrow, {rank, 1}, rank % kHosts, rank / kHosts,
                   expected, 0);
            QCOMPARE(narrow_sums[at], expected);
        }
    }

    // Else no link would be slow: all of the time that bytes take would be the other rank's.
    void bytes_on_their_way_are_not_waited_for_as_a_rank_is() {
        Mailbox mailbox;
        ManualClock clocks[2];
        std::vector<std::unique_ptr<SlowTransport>> transports;
        std::vector<std::unique_ptr<ProcessWorld>> worlds;
        for (int rank = 0; rank < 2; ++rank) {
            transports.push_back(std::make_unique<SlowTransport>(mailbox, rank, clocks[rank]));
            transports.back()->late_s = rank == 0 ? 3 : 0; // for it rank 1 comes late
            ProcessWorldOptions options;
            options.clock = &clocks[rank];
            worlds.push_back(
                std::make_unique<ProcessWorld>(*transports.back(), rank, 2, std::move(options)));
        }
        std::vector<Bytes> data(2, Bytes(20'000));
        std::vector<std::thread> threads;
        for (int rank = 0; rank < 2; ++rank) {
            threads.emplace_back([&, rank] {
                Communicator& comm = worlds[static_cast<std::size_t>(rank)]->communicator(rank);
                Bytes& mine = data[static_cast<std::size_t>(rank)];
                const Transfer tensor{mine, mine, ir::DType::f32};
                QCOMPARE(comm.all_reduce({&tensor, 1}, Reduction::sum, "x"), Outcome::finished);
                if (rank == 0) {
                    QCOMPARE(comm.send(mine, ir::DType::f32, 1, "y"), Outcome::finished);
                } else {
                    QCOMPARE(comm.receive(mine, ir::DType::f32, 0, "y"), Outcome::finished);
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        QCOMPARE(worlds[0]->communicator(0).traffic().waited_s, 3.0);
        QCOMPARE(worlds[1]->communicator(1).traffic().waited_s, 0.0);
        QCOMPARE(clocks[0].steady_s() - ManualClock().steady_s(), 3.0 + 10 + 10);
        QCOMPARE(clocks[1].steady_s() - ManualClock().steady_s(), 10.0 + 10 + 20);
    }

    void a_mean_keeps_the_order_of_ranks() {
        ProcessWorlds worlds(4, Sums::by_host);
        auto data = drawn_on_all(ir::DType::f32, 100, 4);
        const Bytes expected =
            expected_all_reduce(ir::DType::f32, Reduction::mean, Algorithm::ring, data);
        on_all(worlds, 4, [&](Communicator& comm, int rank) {
            Bytes& mine = data[static_cast<std::size_t>(rank)];
            const Transfer tensor{mine, mine, ir::DType::f32};
            return comm.all_reduce({&tensor, 1}, Reduction::mean, "x");
        });
        QCOMPARE(data, std::vector<Bytes>(4, expected));
    }

    void each_host_hears_of_a_part_once_data() {
        QTest::addColumn<int>("sums");
        QTest::addColumn<int>("ranks");
        for (const int ranks : {4, 8}) {
            QTest::addRow("in rank order %d", ranks)
                << static_cast<int>(Sums::in_rank_order) << ranks;
            QTest::addRow("by host %d", ranks) << static_cast<int>(Sums::by_host) << ranks;
        }
    }
    // Of S bytes all_gather takes S/2 from each host to the other. So does the gathering half of
    // all_reduce; the half that adds up S/2 by host, else all that p ranks have of S/2.
    void each_host_hears_of_a_part_once() {
        QFETCH(int, sums);
        QFETCH(int, ranks);
        constexpr std::int64_t kBytes = 4 * 840;
        ProcessWorlds worlds(ranks, static_cast<Sums>(sums));
        const auto crossed = [&](const std::function<Outcome(Communicator&, int)>& call) {
            const std::int64_t before = between_hosts(worlds.mailbox(), ranks);
            on_all(worlds, ranks, call);
            return between_hosts(worlds.mailbox(), ranks) - before;
        };
        const std::int64_t notices =
            crossed([](Communicator& comm, int) { return comm.barrier("x"); });
        std::vector<Bytes> whole(static_cast<std::size_t>(ranks), Bytes(kBytes));
        const std::int64_t gathered = crossed([&](Communicator& comm, int rank) {
            Bytes& all = whole[static_cast<std::size_t>(rank)];
            const auto size = all.size() / static_cast<std::size_t>(ranks);
            const auto mine = std::span(all).subspan(static_cast<std::size_t>(rank) * size, size);
            const Transfer tensor{mine, all, ir::DType::f32};
            return comm.all_gather({&tensor, 1}, "x");
        });
        QCOMPARE(gathered - notices, kBytes);
        const std::int64_t reduced = crossed([&](Communicator& comm, int rank) {
            Bytes& mine = whole[static_cast<std::size_t>(rank)];
            const Transfer tensor{mine, mine, ir::DType::f32};
            return comm.all_reduce({&tensor, 1}, Reduction::sum, "x");
        });
        const std::int64_t ranks_heard =
            static_cast<Sums>(sums) == Sums::by_host ? 1 : ranks / kHosts;
        QCOMPARE(reduced - notices, kBytes + kBytes * ranks_heard);
    }
};

WEFT_TEST(CommHostsTest)
#include "hosts_test.moc"
