// SPDX-License-Identifier: Apache-2.0
// Every operation against a scalar oracle, bit by bit, and its traffic against the textbook.
#include "tests/sim/comm/worlds.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <bit>

using namespace weft;
using namespace weft::exec::comm;
using namespace weft::exec::comm::test;

namespace {

// Empty, fewer than ranks, not a multiple of any of them, more than one block of accumulators.
constexpr std::int64_t kCounts[] = {0, 1, 5, 64, 1291};
constexpr Reduction kReductions[] = {Reduction::sum, Reduction::mean, Reduction::max,
                                     Reduction::min};

struct Case {
    ir::DType dtype;
    std::int64_t count;
    Reduction reduction;
};

std::vector<Case> reduction_cases() {
    std::vector<Case> out;
    for (const ir::DType dtype : kDTypes) {
        for (const std::int64_t count : kCounts) {
            for (const Reduction reduction : kReductions) {
                if (reduction != Reduction::mean || ir::is_float(dtype)) {
                    out.push_back({dtype, count, reduction});
                }
            }
        }
    }
    return out;
}

QString name_of(const Case& c) {
    return QString::fromStdString(std::string(reduction_name(c.reduction)) + " of " +
                                  std::string(ir::dtype_name(c.dtype)) + "[" +
                                  std::to_string(c.count) + "]");
}

std::vector<Bytes> data_of_all(ir::DType dtype, std::int64_t count, int ranks) {
    std::vector<Bytes> out;
    for (int rank = 0; rank < ranks; ++rank) {
        out.push_back(drawn_data(dtype, count, 100 + static_cast<std::uint64_t>(rank)));
    }
    return out;
}

Bytes part(const Bytes& data, int index, int parts) {
    const auto size = static_cast<std::ptrdiff_t>(data.size()) / parts;
    return {data.begin() + index * size, data.begin() + (index + 1) * size};
}

Bytes join(const std::vector<Bytes>& parts) {
    Bytes out;
    for (const Bytes& one : parts) {
        out.insert(out.end(), one.begin(), one.end());
    }
    return out;
}

void finished(Outcome outcome) {
    if (outcome != Outcome::finished) {
        throw std::logic_error("stopped");
    }
}

void expect_no_errors(const std::vector<std::string>& errors) {
    for (const std::string& error : errors) {
        QVERIFY2(error.empty(), error.c_str());
    }
}

/// results[case][rank]
using Results = std::vector<std::vector<Bytes>>;

/// One call per case and dtype on every rank of a world.
Results run_cases(int ranks, How how, const std::vector<Case>& cases,
                  const std::function<Bytes(Communicator&, const Case&)>& call) {
    const auto worlds = make_worlds(ranks, how);
    Results results(cases.size(), std::vector<Bytes>(static_cast<std::size_t>(ranks)));
    expect_no_errors(run_ranks(*worlds, ranks, [&](int rank) {
        for (std::size_t i = 0; i < cases.size(); ++i) {
            results[i][static_cast<std::size_t>(rank)] =
                call(worlds->of(rank).communicator(rank), cases[i]);
        }
    }));
    return results;
}

Bytes own_data(const Communicator& comm, const Case& c, std::int64_t count) {
    return drawn_data(c.dtype, count, 100 + static_cast<std::uint64_t>(comm.rank()));
}

std::int64_t log2_up(int ranks) {
    return std::bit_width(static_cast<unsigned>(ranks - 1));
}

} // namespace

class OperationsTest : public QObject {
    Q_OBJECT

    static void ranks_and_algorithms() {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<int>("how");
        for (int ranks = 1; ranks <= 8; ++ranks) {
            for (const How how : {How::ring, How::tree, How::processes, How::hosts}) {
                QTest::addRow("%s %d", how_text(how), ranks) << ranks << static_cast<int>(how);
            }
        }
    }

    static void all_kinds() {
        QTest::addColumn<int>("how");
        for (const How how : {How::ring, How::tree, How::processes, How::hosts}) {
            QTest::addRow("%s", how_text(how)) << static_cast<int>(how);
        }
    }

    static void ranks_and_rings() {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<int>("how");
        for (int ranks = 1; ranks <= 8; ++ranks) {
            for (const How how : {How::ring, How::processes, How::hosts}) {
                QTest::addRow("%s %d", how_text(how), ranks) << ranks << static_cast<int>(how);
            }
        }
    }

    /// `expected` makes a rank's result out of all ranks' data, `parts` times the case's count
    /// each.
    static void compare(const Results& results, const std::vector<Case>& cases, int parts,
                        const std::function<Bytes(const std::vector<Bytes>&, int)>& expected) {
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const int ranks = static_cast<int>(results[i].size());
            const auto data = data_of_all(cases[i].dtype, cases[i].count * parts, ranks);
            for (int rank = 0; rank < ranks; ++rank) {
                QVERIFY2(results[i][static_cast<std::size_t>(rank)] == expected(data, rank),
                         qPrintable(name_of(cases[i]) + " on rank " + QString::number(rank)));
            }
        }
    }

private slots:
    void all_reduce_sums_in_its_documented_order_data() { ranks_and_algorithms(); }
    void all_reduce_sums_in_its_documented_order() {
        QFETCH(int, ranks);
        QFETCH(int, how);
        const auto kind = static_cast<How>(how);
        const auto cases = reduction_cases();
        const auto in_place = [](Communicator& comm, const Case& c) {
            Bytes data = own_data(comm, c, c.count);
            const Transfer tensor{data, data, c.dtype};
            finished(comm.all_reduce({&tensor, 1}, c.reduction, "x"));
            return data;
        };
        const auto apart = [](Communicator& comm, const Case& c) {
            const Bytes src = own_data(comm, c, c.count);
            Bytes dst(src.size(), std::byte{0xA5});
            const Transfer tensor{src, dst, c.dtype};
            finished(comm.all_reduce({&tensor, 1}, c.reduction, "x"));
            return dst;
        };
        const Results results = run_cases(ranks, kind, cases, in_place);
        const Results results_apart = run_cases(ranks, kind, cases, apart);
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const Bytes expected =
                expected_all_reduce(cases[i].dtype, cases[i].reduction, order_of(kind),
                                    data_of_all(cases[i].dtype, cases[i].count, ranks));
            const std::vector<Bytes> everywhere(static_cast<std::size_t>(ranks), expected);
            QVERIFY2(results[i] == everywhere, qPrintable(name_of(cases[i]) + " in place"));
            QVERIFY2(results_apart[i] == everywhere, qPrintable(name_of(cases[i])));
        }
    }

    void data_of_the_test_show_the_order_of_a_sum() {
        const auto data = data_of_all(ir::DType::f32, 64, 8);
        QVERIFY(expected_all_reduce(ir::DType::f32, Reduction::sum, Algorithm::ring, data) !=
                expected_all_reduce(ir::DType::f32, Reduction::sum, Algorithm::tree, data));
    }

    void reduce_scatter_gives_each_rank_its_part_data() { ranks_and_rings(); }
    void reduce_scatter_gives_each_rank_its_part() {
        QFETCH(int, ranks);
        QFETCH(int, how);
        const auto kind = static_cast<How>(how);
        const auto cases = reduction_cases();
        const Results results =
            run_cases(ranks, kind, cases, [](Communicator& comm, const Case& c) {
                const Bytes src = own_data(comm, c, c.count * comm.size());
                Bytes dst(src.size() / static_cast<std::size_t>(comm.size()));
                const Transfer tensor{src, dst, c.dtype};
                finished(comm.reduce_scatter({&tensor, 1}, c.reduction, "x"));
                return dst;
            });
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const Case& c = cases[i];
            const auto data = data_of_all(c.dtype, c.count * ranks, ranks);
            const Bytes whole = expected_all_reduce(c.dtype, c.reduction, Algorithm::ring, data);
            for (int rank = 0; rank < ranks; ++rank) {
                QVERIFY2(results[i][static_cast<std::size_t>(rank)] == part(whole, rank, ranks),
                         qPrintable(name_of(c)));
            }
        }
    }

    void data_moves_to_where_each_operation_says_data() { ranks_and_rings(); }
    void data_moves_to_where_each_operation_says() {
        QFETCH(int, ranks);
        QFETCH(int, how);
        const auto kind = static_cast<How>(how);
        std::vector<Case> cases;
        for (const ir::DType dtype : kDTypes) {
            for (const std::int64_t count : kCounts) {
                cases.push_back({dtype, count, Reduction::sum});
            }
        }
        const auto size = [](const Communicator& comm) {
            return static_cast<std::size_t>(comm.size());
        };
        const auto gathered = [&](Communicator& comm, const Case& c) {
            const Bytes src = own_data(comm, c, c.count);
            Bytes dst(src.size() * size(comm));
            const Transfer tensor{src, dst, c.dtype};
            finished(comm.all_gather({&tensor, 1}, "x"));
            return dst;
        };
        compare(run_cases(ranks, kind, cases, gathered), cases, 1,
                [](const std::vector<Bytes>& data, int) { return join(data); });
        const auto exchanged = [&](Communicator& comm, const Case& c) {
            const Bytes src = own_data(comm, c, c.count * comm.size());
            Bytes dst(src.size());
            finished(comm.all_to_all({src, dst, c.dtype}, "x"));
            return dst;
        };
        compare(run_cases(ranks, kind, cases, exchanged), cases, ranks,
                [](const std::vector<Bytes>& data, int rank) {
                    std::vector<Bytes> parts;
                    for (const Bytes& one : data) {
                        parts.push_back(part(one, rank, static_cast<int>(data.size())));
                    }
                    return join(parts);
                });
        for (int root = 0; root < ranks; ++root) {
            const auto spread = [&](Communicator& comm, const Case& c) {
                Bytes data = own_data(comm, c, c.count);
                finished(comm.broadcast(data, c.dtype, root, "x"));
                return data;
            };
            compare(run_cases(ranks, kind, cases, spread), cases, 1,
                    [&](const std::vector<Bytes>& data, int) {
                        return data[static_cast<std::size_t>(root)];
                    });
        }
    }

    void a_permutation_follows_its_routes_and_leaves_zeros_elsewhere_data() { all_kinds(); }
    void a_permutation_follows_its_routes_and_leaves_zeros_elsewhere() {
        QFETCH(int, how);
        const Case c{ir::DType::f32, 37, Reduction::sum};
        const auto data = data_of_all(c.dtype, c.count, 5);
        const std::vector<Route> shift = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}};
        const std::vector<Route> some = {{3, 0}, {1, 1}};
        const auto run = [&](std::span<const Route> routes) {
            return run_cases(5, static_cast<How>(how), {c},
                             [&](Communicator& comm, const Case& one) {
                                 const Bytes src = own_data(comm, one, one.count);
                                 Bytes dst(src.size(), std::byte{0xA5});
                                 finished(comm.permute({src, dst, one.dtype}, routes, "x"));
                                 return dst;
                             })[0];
        };
        QCOMPARE(run(shift), (std::vector<Bytes>{data[4], data[0], data[1], data[2], data[3]}));
        const Bytes zero(data[0].size());
        QCOMPARE(run(some), (std::vector<Bytes>{data[3], data[1], zero, zero, zero}));
    }

    void a_bucket_gives_what_its_tensors_give_alone() {
        for (const How how : {How::ring, How::tree, How::processes, How::hosts}) {
            const auto worlds = make_worlds(3, how);
            expect_no_errors(run_ranks(*worlds, 3, [&](int rank) {
                Communicator& comm = worlds->of(rank).communicator(rank);
                std::vector<Bytes> alone;
                std::vector<Bytes> together;
                for (const ir::DType dtype : kDTypes) {
                    alone.push_back(drawn_data(dtype, 50, static_cast<std::uint64_t>(rank)));
                }
                together = alone;
                std::vector<Transfer> bucket;
                for (std::size_t i = 0; i < kDTypes.size(); ++i) {
                    const Transfer tensor{alone[i], alone[i], kDTypes[i]};
                    finished(comm.all_reduce({&tensor, 1}, Reduction::sum, "x"));
                    bucket.push_back({together[i], together[i], kDTypes[i]});
                }
                finished(comm.all_reduce(bucket, Reduction::sum, "bucket"));
                if (alone != together) {
                    throw std::logic_error("the bucket differs");
                }
            }));
        }
    }

    // Parts may be read from and written to their place in the larger buffer.
    void reduce_scatter_and_all_gather_in_place_make_an_all_reduce_data() { all_kinds(); }
    void reduce_scatter_and_all_gather_in_place_make_an_all_reduce() {
        QFETCH(int, how);
        const auto data = data_of_all(ir::DType::f32, 4 * 300, 4);
        const Case c{ir::DType::f32, 4 * 300, Reduction::mean};
        const Results results =
            run_cases(4, static_cast<How>(how), {c}, [](Communicator& comm, const Case& one) {
                Bytes whole = own_data(comm, one, one.count);
                const std::size_t size = whole.size() / 4;
                const auto mine =
                    std::span(whole).subspan(size * static_cast<std::size_t>(comm.rank()), size);
                const Transfer scatter{whole, mine, one.dtype};
                finished(comm.reduce_scatter({&scatter, 1}, one.reduction, "x"));
                const Transfer gather{mine, whole, one.dtype};
                finished(comm.all_gather({&gather, 1}, "x"));
                return whole;
            });
        const Bytes expected = expected_all_reduce(c.dtype, c.reduction, Algorithm::ring, data);
        QCOMPARE(results[0], std::vector<Bytes>(4, expected));
    }

    void messages_arrive_in_order_data() { all_kinds(); }
    void messages_arrive_in_order() {
        QFETCH(int, how);
        const auto worlds = make_worlds(2, static_cast<How>(how));
        expect_no_errors(run_ranks(*worlds, 2, [&](int rank) {
            Communicator& comm = worlds->of(rank).communicator(rank);
            for (int i = 0; i < 100; ++i) {
                const Bytes data = drawn_data(ir::DType::f32, 10 + i, 7);
                if (rank == 0) {
                    finished(comm.send(data, ir::DType::f32, 1, "x"));
                    continue;
                }
                Bytes got(data.size());
                finished(comm.receive(got, ir::DType::f32, 0, "x"));
                if (got != data) {
                    throw std::logic_error("message " + std::to_string(i) + " differs");
                }
            }
            const Traffic traffic = comm.traffic();
            if (traffic.messages_sent != (rank == 0 ? 100 : 0)) {
                throw std::logic_error("messages are counted");
            }
        }));
    }

    // 1F1B: both neighbours send before they receive.
    void posted_messages_let_two_ranks_send_to_each_other_first_data() { all_kinds(); }
    void posted_messages_let_two_ranks_send_to_each_other_first() {
        QFETCH(int, how);
        const auto worlds = make_worlds(2, static_cast<How>(how));
        expect_no_errors(run_ranks(*worlds, 2, [&](int rank) {
            Communicator& comm = worlds->of(rank).communicator(rank);
            const int peer = 1 - rank;
            const Bytes data = drawn_data(ir::DType::bf16, 100, 1);
            Bytes got(data.size());
            for (int round = 0; round < 20; ++round) {
                finished(comm.post_send(data, ir::DType::bf16, peer, "first"));
                finished(comm.post_send(data, ir::DType::bf16, peer, "second"));
                finished(comm.receive(got, ir::DType::bf16, peer, "first"));
                finished(comm.wait_sent(peer, comm.last_posted(peer) - 1));
                finished(comm.receive(got, ir::DType::bf16, peer, "second"));
                finished(comm.wait_sent(peer, comm.last_posted(peer)));
            }
        }));
    }

    void traffic_equals_the_textbook_data() { ranks_and_algorithms(); }
    void traffic_equals_the_textbook() {
        QFETCH(int, ranks);
        QFETCH(int, how);
        constexpr std::int64_t kCount = 840; // a multiple of 1 .. 8
        constexpr std::int64_t kBytes = kCount * 4;
        const std::int64_t share = kBytes * (ranks - 1) / ranks;
        // Children of a rank in the binomial tree of rank 0, counted from the definition: c is a
        // child of c without its lowest set bit.
        const auto children = [ranks](int rank) {
            std::int64_t count = 0;
            for (int c = 1; c < ranks; ++c) {
                count += (c & (c - 1)) == rank ? 1 : 0;
            }
            return count;
        };
        const auto worlds = make_worlds(ranks, static_cast<How>(how));
        expect_no_errors(run_ranks(*worlds, ranks, [&](int rank) {
            Communicator& comm = worlds->of(rank).communicator(rank);
            Bytes big(kBytes);
            Bytes other(kBytes);
            const Transfer same{big, big, ir::DType::f32};
            const auto small = std::span(other).first(static_cast<std::size_t>(kBytes / ranks));
            Traffic before;
            const auto expect = [&](std::int64_t sent, std::int64_t received, const char* what) {
                const Traffic now = comm.traffic();
                if (now.sent_bytes - before.sent_bytes != sent ||
                    now.received_bytes - before.received_bytes != received ||
                    now.collectives != before.collectives + 1) {
                    throw std::logic_error(std::string(what) + " moved another number");
                }
                before = now;
            };
            const std::int64_t up = rank == 0 ? 0 : kBytes;
            const std::int64_t down = children(rank) * kBytes;
            finished(comm.all_reduce({&same, 1}, Reduction::sum, "x"));
            if (order_of(static_cast<How>(how)) == Algorithm::ring) {
                expect(2 * share, 2 * share, "all_reduce");
            } else {
                expect(up + down, up + down, "all_reduce");
            }
            const Transfer scatter{big, small, ir::DType::f32};
            finished(comm.reduce_scatter({&scatter, 1}, Reduction::sum, "x"));
            expect(share, share, "reduce_scatter");
            const Transfer gather{small, big, ir::DType::f32};
            finished(comm.all_gather({&gather, 1}, "x"));
            expect(share, share, "all_gather");
            finished(comm.all_to_all({big, other, ir::DType::f32}, "x"));
            expect(share, share, "all_to_all");
            finished(comm.broadcast(big, ir::DType::f32, 0, "x"));
            expect(down, up, "broadcast");
            const Route route{0, ranks - 1};
            finished(comm.permute({big, other, ir::DType::f32}, {&route, 1}, "x"));
            const std::int64_t moved = ranks > 1 ? kBytes : 0;
            expect(rank == 0 ? moved : 0, rank == ranks - 1 ? moved : 0, "permute");
            finished(comm.barrier("x"));
            expect(0, 0, "barrier");
        }));
        QVERIFY(children(0) == log2_up(ranks)); // the root of a binomial tree has ceil(log2 n)
    }
};

WEFT_TEST(OperationsTest)
#include "operations_test.moc"
