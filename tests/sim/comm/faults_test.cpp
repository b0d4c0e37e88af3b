// SPDX-License-Identifier: Apache-2.0
// A rank that stalls, dies or calls something else: who is told what. Time is a manual clock's but
// where a test is about waiting ranks that notice by themselves.
#include "core/base/error.h"
#include "core/exec/comm/issued_call.h"
#include "tests/sim/comm/ranks.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace weft;
using namespace weft::exec::comm;
using namespace weft::exec::comm::test;

namespace {

Outcome reduce_one(Communicator& comm, std::string_view what, std::stop_token stop = {}) {
    Bytes data(32);
    const Transfer tensor{data, data, ir::DType::f32};
    return comm.all_reduce({&tensor, 1}, Reduction::sum, what, std::move(stop));
}

void reduce_ok(Communicator& comm, std::string_view what) {
    if (reduce_one(comm, what) != Outcome::finished) {
        throw std::logic_error("stopped");
    }
}

/// Opened once, by any thread.
class Gate {
public:
    void open() {
        open_ = true;
        open_.notify_all();
    }
    void pass() const { open_.wait(false); }

private:
    std::atomic<bool> open_ = false;
};

/// Runs ranks of which some do not come: once `gone` is open and `waiting` ranks wait, the clock
/// moves past the timeout. Returns what each rank was told.
std::vector<std::string> run_until_late(InProcessWorld& world, ManualClock& clock, const Gate& gone,
                                        int waiting, const std::function<void(int)>& rank_main) {
    std::jthread watcher([&] {
        gone.pass();
        await_waiting(world, waiting);
        clock.advance(31.0);
        world.check_timeouts();
    });
    return run_ranks(world, rank_main);
}

/// Opens when rank 1 is about to read for the first time: the second point of a broadcast.
class AtReading final : public ScheduleHook {
public:
    void reached(int world_rank) override {
        if (world_rank == 1 && ++points_ == 2) {
            gate.open();
        }
    }
    Gate gate;

private:
    int points_ = 0;
};

/// Rank 0 gives what rank 1 reads for milliseconds; meanwhile the run ends, and rank 0 uses its
/// memory for something else. Whether rank 1 got as far as reading, and whether it saw the
/// something else.
struct Read {
    bool happened = false;
    bool torn = false;
};

Read read_while_the_run_ends() {
    constexpr std::byte kOld{0x11};
    constexpr std::byte kNew{0xFF};
    AtReading hook;
    InProcessWorld world(2, {.hook = &hook});
    std::vector<Bytes> data = {Bytes(std::size_t{32} << 20, kOld), Bytes(std::size_t{32} << 20)};
    std::atomic<bool> over = false;
    std::jthread ender([&] {
        hook.gate.pass();
        // Rank 0 waits for rank 1 to end its reading, unless both have ended meanwhile.
        while (world.waiting_ranks() < 1 && !over) {
            std::this_thread::yield();
        }
        world.abort("the end");
    });
    run_ranks(world, [&](int rank) {
        Bytes& mine = data[static_cast<std::size_t>(rank)];
        try {
            (void)world.communicator(rank).broadcast(mine, ir::DType::u8, 0, "weights");
        } catch (const Error&) {
            if (rank == 0) {
                std::fill(mine.begin(), mine.end(), kNew);
            }
        }
    });
    over = true;
    return {data[1].back() != std::byte{0},
            std::find(data[1].begin(), data[1].end(), kNew) != data[1].end()};
}

} // namespace

class FaultsTest : public QObject {
    Q_OBJECT

    ManualClock clock_;

    InProcessOptions options() { return {.timeout_s = 30.0, .clock = &clock_}; }

    static void expect_all(const std::vector<std::string>& errors, const char* text) {
        for (const std::string& error : errors) {
            QCOMPARE(QString::fromStdString(error), QString(text));
        }
    }

private slots:
    void a_stalled_rank_is_named_with_its_place_to_everyone() {
        InProcessWorld world(4, options());
        Gate gone;
        const auto errors = run_until_late(world, clock_, gone, 3, [&](int rank) {
            Communicator& comm = world.communicator(rank);
            reduce_ok(comm, "all_reduce of gradient/blocks.0.mlp.up.weight");
            reduce_ok(comm, "all_reduce of gradient/blocks.0.mlp.down.weight");
            if (rank == 2) {
                gone.open();
                while (world.failure().empty()) {
                    std::this_thread::yield(); // a kernel that takes very long
                }
            }
            reduce_ok(comm, "all_reduce of gradient/embedding.weight");
        });
        expect_all(errors,
                   "rank 2 is at collective 2 (all_reduce of gradient/blocks.0.mlp.down.weight), "
                   "the others wait at 3 (all_reduce of gradient/embedding.weight), "
                   "for more than 30.0 s (group world)");
        QCOMPARE(world.failure(), errors[0]);
    }

    void ranks_that_died_before_their_first_collective_are_named() {
        InProcessWorld world(4, options());
        Gate gone;
        const auto errors = run_until_late(world, clock_, gone, 2, [&](int rank) {
            if (rank < 2) {
                reduce_ok(world.communicator(rank), "x");
            } else {
                gone.open();
            }
        });
        const char* text = "rank 2 has not come to collective 1, rank 3 has not come to collective "
                           "1, the others wait at 1 (x), for more than 30.0 s (group world)";
        expect_all({errors[0], errors[1]}, text);
        QVERIFY(errors[2].empty());
    }

    // Real time and a short timeout: nobody else looks after the waiting ranks.
    void waiting_ranks_notice_a_death_by_themselves() {
        InProcessWorld world(3, {.timeout_s = 0.05});
        const auto errors = run_ranks(world, [&](int rank) {
            if (rank != 0) {
                reduce_ok(world.communicator(rank), "x");
            }
        });
        expect_all({errors[1], errors[2]},
                   "rank 0 has not come to collective 1, the others wait at 1 (x), for more than "
                   "50.0 ms (group world)");
    }

    // Rank 5 of a 2 x 4 mesh is gone: columns 0, 2 and 3 wait only because row 1 waits for it.
    void a_dead_rank_is_found_through_the_groups_that_wait_for_each_other() {
        InProcessWorld world(8, options());
        const GroupSet rows = world.split("model", std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
        const GroupSet columns = world.split("data", std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3});
        Gate gone;
        const auto errors = run_until_late(world, clock_, gone, 7, [&](int rank) {
            reduce_ok(world.communicator(rank, rows), "activations");
            if (rank != 5) {
                reduce_ok(world.communicator(rank, rows), "logits");
                reduce_ok(world.communicator(rank, columns), "gradient");
            } else {
                gone.open();
            }
        });
        for (int rank = 0; rank < 8; ++rank) {
            const std::string& error = errors[static_cast<std::size_t>(rank)];
            // Told from where the first wait ended: that of the row, or that of column 1.
            const bool in_row = error == "rank 5 is at collective 1 (activations), the others wait "
                                         "at 2 (logits), for more than 30.0 s (group model)";
            const bool in_column = error == "rank 5 has not come to collective 1, the others wait "
                                            "at 1 (gradient), for more than 30.0 s (group data)";
            QVERIFY2(rank == 5 ? error.empty() : in_row || in_column, error.c_str());
        }
    }

    void ranks_that_wait_for_each_other_are_named_as_a_circle() {
        InProcessWorld world(2, options());
        Gate gone;
        const auto errors = run_until_late(world, clock_, gone, 2, [&](int rank) {
            Communicator& comm = world.communicator(rank);
            Bytes data(8);
            gone.open();
            (void)comm.receive(data, ir::DType::f32, 1 - rank, "activation");
        });
        expect_all(errors, "ranks wait for each other: rank 0 at message 1 of rank 1 (activation) "
                           "of group world, rank 1 at message 1 of rank 0 (activation) of group "
                           "world, for more than 30.0 s");
    }

    void a_message_that_does_not_come_names_its_sender() {
        InProcessWorld world(2, options());
        Gate gone;
        const auto errors = run_until_late(world, clock_, gone, 1, [&](int rank) {
            Communicator& comm = world.communicator(rank);
            Bytes data(8);
            if (rank == 0) {
                (void)comm.send(data, ir::DType::f32, 1, "activation");
                gone.open();
                return;
            }
            (void)comm.receive(data, ir::DType::f32, 0, "activation");
            (void)comm.receive(data, ir::DType::f32, 0, "activation of microbatch 1");
        });
        QCOMPARE(errors[1], "rank 0 is at message 1 to rank 1, which waits for 2 (activation of "
                            "microbatch 1), for more than 30.0 s (group world)");
    }

    void a_message_that_is_not_taken_names_its_receiver() {
        InProcessWorld world(2, options());
        Gate gone;
        const auto errors = run_until_late(world, clock_, gone, 1, [&](int rank) {
            Bytes data(8);
            gone.open();
            if (rank == 0) {
                (void)world.communicator(0).send(data, ir::DType::f32, 1, "activation");
            }
        });
        QCOMPARE(errors[0], "rank 1 has taken no message of rank 0, which waits until it takes "
                            "1 (activation), for more than 30.0 s (group world)");
    }

    // Rank 0 waits for 100 s, in which the others meet every 20 s: nobody hangs.
    void a_wait_in_which_others_go_on_is_none() {
        InProcessWorld world(3, options());
        const GroupSet pair = world.add_groups("pair", {{1, 2}});
        const auto errors = run_ranks(world, [&](int rank) {
            if (rank != 0) {
                Communicator& comm = world.communicator(rank, pair);
                for (int round = 0; round < 5; ++round) {
                    reduce_ok(comm, "gradient");
                    if (rank == 1) {
                        await_waiting(world, 2);
                        clock_.advance(20.0);
                        world.check_timeouts();
                    }
                }
            }
            reduce_ok(world.communicator(rank), "loss");
        });
        expect_all(errors, "");
    }

    void an_abort_wakes_everyone_with_its_reason_and_is_final() {
        InProcessWorld world(4, options());
        const auto errors = run_ranks(world, [&](int rank) {
            if (rank == 3) {
                await_waiting(world, 3);
                world.abort("rank 3: out of memory in matmul");
                world.abort("a later reason");
            }
            reduce_ok(world.communicator(rank), "x");
        });
        expect_all(errors, "rank 3: out of memory in matmul");
        try {
            (void)world.communicator(1).barrier("later");
            QFAIL("an aborted world goes on");
        } catch (const Error& error) {
            QCOMPARE(error.kind(), ErrorKind::device);
            QCOMPARE(error.where(), "rank 1");
            QVERIFY(!error.hint().empty());
        }
    }

    // A waiting rank that hears of the end leaves at once, but not before others have read its
    // memory.
    void nobody_reads_memory_that_its_owner_has_taken_back() {
        constexpr int kMostRounds = 200; // rank 1 may be held up until the run has ended
        int reads = 0;
        for (int round = 0; round < kMostRounds && reads < 5; ++round) {
            const Read read = read_while_the_run_ends();
            reads += read.happened ? 1 : 0;
            QVERIFY(!read.torn);
        }
        QVERIFY(reads > 0);
    }

    void a_stop_request_ends_every_wait() {
        InProcessWorld world(4, options());
        std::stop_source source;
        std::jthread stopper([&] {
            await_waiting(world, 3);
            source.request_stop();
        });
        Gate stopped;
        std::atomic<int> ended = 0;
        const auto errors = run_ranks(world, [&](int rank) {
            // Only rank 0 knows of the request: the others are told.
            const std::stop_token token = rank == 0 ? source.get_token() : std::stop_token();
            if (rank == 3) {
                stopped.pass();
            }
            ended += reduce_one(world.communicator(rank), "x", token) == Outcome::stopped ? 1 : 0;
            stopped.open();
        });
        expect_all(errors, "");
        QCOMPARE(ended.load(), 4);
        QVERIFY(world.failure().empty());
    }

    // What ranks say before they call anything.
    void calls_that_were_told_are_compared_data() {
        QTest::addColumn<int>("change");
        QTest::addColumn<QString>("text");
        const QString first = "collectives differ: rank 3 calls collective %1, rank 5 calls %2 "
                              "(group data)";
        QTest::newRow("nothing") << 0 << "";
        QTest::newRow("kind") << 1
                              << first.arg("2 as all_reduce sum of f32[8], bf16[4] (gradients)",
                                           "collective 2 as all_gather of f32[8], bf16[4] "
                                           "(gradients)");
        QTest::newRow("count") << 2
                               << first.arg("2 as all_reduce sum of f32[8], bf16[4] (gradients)",
                                            "collective 2 as all_reduce sum of f32[8], bf16[5] "
                                            "(gradients)");
        QTest::newRow("one less") << 3
                                  << first.arg("3 as permute of i32[2] by 1 (keys)",
                                               "no collective 3");
        QTest::newRow("order") << 4
                               << first.arg("1 as all_reduce max of f32[1] (loss)",
                                            "collective 1 as permute of i32[2] by 1 (keys)");
    }
    void calls_that_were_told_are_compared() {
        QFETCH(int, change);
        QFETCH(QString, text);
        using ir::DType;
        const IssuedCall loss{"all_reduce max", {{DType::f32, 1}}, "", "loss"};
        const IssuedCall gradients{
            "all_reduce sum", {{DType::f32, 8}, {DType::bf16, 4}}, "", "gradients"};
        const IssuedCall keys{"permute", {{DType::i32, 2}}, "by 1", "keys"};
        const IssuedCalls one{3, {loss, gradients, keys}};
        IssuedCalls other{5, one.calls};
        if (change == 1) {
            other.calls[1].kind = "all_gather";
        } else if (change == 2) {
            other.calls[1].tensors[1].count = 5;
        } else if (change == 3) {
            other.calls.pop_back();
        } else if (change == 4) {
            std::swap(other.calls.front(), other.calls.back());
        }
        const std::vector<IssuedCalls> ranks = {one, IssuedCalls{4, one.calls}, other};
        QCOMPARE(QString::fromStdString(describe_mismatch("data", ranks)), text);
    }

    void mismatches_name_both_sides_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("text");
        const QString usual = "collectives differ: rank 0 calls collective 2 as all_reduce sum of "
                              "f32[8] (x), rank 1 calls collective 2 as %1 (group world)";
        QTest::newRow("kind") << 0 << usual.arg("all_gather of f32[8] (x)");
        QTest::newRow("size") << 1 << usual.arg("all_reduce sum of f32[4] (x)");
        QTest::newRow("dtype") << 2 << usual.arg("all_reduce sum of i32[8] (x)");
        QTest::newRow("label") << 3 << usual.arg("all_reduce sum of f32[8] (y)");
        QTest::newRow("reduction") << 4 << usual.arg("all_reduce max of f32[8] (x)");
        QTest::newRow("bucket") << 5 << usual.arg("all_reduce sum of f32[8], f32[8] (x)");
        QTest::newRow("barrier") << 6 << usual.arg("barrier (x)");
        QTest::newRow("broadcast") << 7 << usual.arg("broadcast of f32[8] from 1 (x)");
        QTest::newRow("permute") << 8 << usual.arg("permute of f32[8] along 0->1 1->0 (x)");
    }
    void mismatches_name_both_sides() {
        QFETCH(int, kind);
        QFETCH(QString, text);
        InProcessWorld world(2, options());
        const auto errors = run_ranks(world, [&](int rank) {
            Communicator& comm = world.communicator(rank);
            reduce_ok(comm, "before");
            Bytes data(32);
            Bytes more(64);
            const Transfer same[] = {{data, data, ir::DType::f32}, {data, data, ir::DType::f32}};
            const Transfer grown{data, more, ir::DType::f32};
            const Transfer half{std::span(data).first(16), std::span(data).first(16),
                                ir::DType::f32};
            const Transfer whole{data, data, ir::DType::i32};
            const Route routes[] = {{0, 1}, {1, 0}};
            const std::span<const Transfer> usual(same, 1);
            if (rank == 0) {
                (void)comm.all_reduce(usual, Reduction::sum, "x");
                return;
            }
            switch (kind) {
            case 0: (void)comm.all_gather({&grown, 1}, "x"); break;
            case 1: (void)comm.all_reduce({&half, 1}, Reduction::sum, "x"); break;
            case 2: (void)comm.all_reduce({&whole, 1}, Reduction::sum, "x"); break;
            case 3: (void)comm.all_reduce(usual, Reduction::sum, "y"); break;
            case 4: (void)comm.all_reduce(usual, Reduction::max, "x"); break;
            case 5: (void)comm.all_reduce(same, Reduction::sum, "x"); break;
            case 6: (void)comm.barrier("x"); break;
            case 7: (void)comm.broadcast(data, ir::DType::f32, 1, "x"); break;
            case 8:
                (void)comm.permute({data, std::span(more).first(32), ir::DType::f32}, routes, "x");
                break;
            }
        });
        expect_all(errors, qPrintable(text));
    }

    void a_message_of_another_size_names_both_sides() {
        InProcessWorld world(2, options());
        const auto errors = run_ranks(world, [&](int rank) {
            Communicator& comm = world.communicator(rank);
            Bytes data(32);
            if (rank == 0) {
                (void)comm.send(data, ir::DType::f32, 1, "activation");
            } else {
                (void)comm.receive(data, ir::DType::bf16, 0, "activation");
            }
        });
        expect_all(errors, "messages differ: rank 0 sends message 1 as f32[8] (activation), rank 1 "
                           "expects bf16[16] (activation) (group world)");
    }
};

WEFT_TEST(FaultsTest)
#include "faults_test.moc"
