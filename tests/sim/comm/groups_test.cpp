// SPDX-License-Identifier: Apache-2.0
// Sub-groups, many ranks, and no allocation once calls have been made.
#include "core/base/check.h"
#include "tests/sim/comm/ranks.h"
#include "tests/support/weft_test.h"

#include <atomic>
#include <cstdlib>
#include <new>
#include <numeric>

using namespace weft;
using namespace weft::exec::comm;
using namespace weft::exec::comm::test;

namespace {

std::atomic<std::int64_t> allocations = 0;

} // namespace

// Every allocation of this binary is counted.
void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) {
        return memory;
    }
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

std::int64_t sum_of_ids(Communicator& comm, std::int64_t id) {
    std::int64_t value = id;
    const auto bytes = std::as_writable_bytes(std::span(&value, 1));
    const Transfer tensor{bytes, bytes, ir::DType::i64};
    if (comm.all_reduce({&tensor, 1}, Reduction::sum, "ids") != Outcome::finished) {
        throw std::logic_error("stopped");
    }
    return value;
}

/// The sum over a group of a number that names each rank: which ranks a group has.
std::int64_t expected_sum(const std::vector<int>& ranks) {
    return std::accumulate(ranks.begin(), ranks.end(), std::int64_t{0},
                           [](std::int64_t sum, int rank) { return sum + (1LL << rank); });
}

void expect(bool condition, const char* text) {
    if (!condition) {
        throw std::logic_error(text);
    }
}

/// One of each operation; its buffers are the caller's.
void call_everything(Communicator& comm, std::span<std::byte> big, std::span<std::byte> other) {
    const auto small = other.first(other.size() / static_cast<std::size_t>(comm.size()));
    const Transfer same[] = {{big, big, ir::DType::bf16}, {other, other, ir::DType::f32}};
    const Transfer scatter{big, small, ir::DType::f32};
    const Transfer gather{small, big, ir::DType::f32};
    const Route route{0, comm.size() - 1};
    const int next = (comm.rank() + 1) % comm.size();
    const int last = (comm.rank() + comm.size() - 1) % comm.size();
    const Outcome outcomes[] = {
        comm.all_reduce(same, Reduction::mean, "gradient of a layer with a rather long name"),
        comm.reduce_scatter({&scatter, 1}, Reduction::sum, "scatter"),
        comm.all_gather({&gather, 1}, "gather"),
        comm.all_to_all({big, other, ir::DType::f32}, "tokens"),
        comm.permute({big, other, ir::DType::f32}, {&route, 1}, "shift"),
        comm.broadcast(big, ir::DType::f32, comm.size() - 1, "weights"),
        comm.barrier("end of a step"),
        comm.post_send(big, ir::DType::f32, next, "activation of a layer with a long name"),
        comm.receive(other, ir::DType::f32, last, "activation of a layer with a long name"),
        comm.wait_sent(next, comm.last_posted(next)),
    };
    for (const Outcome outcome : outcomes) {
        expect(outcome == Outcome::finished, "stopped");
    }
}

} // namespace

class GroupsTest : public QObject {
    Q_OBJECT

    static void expect_no_errors(const std::vector<std::string>& errors) {
        for (const std::string& error : errors) {
            QVERIFY2(error.empty(), error.c_str());
        }
    }

private slots:
    // Device (d, m) of a 2 x 4 mesh is rank 4d + m.
    void a_mesh_has_rows_and_columns() {
        InProcessWorld world(8);
        const GroupSet rows = world.split("model", std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
        const GroupSet columns = world.split("data", std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3});
        expect_no_errors(run_ranks(world, [&](int rank) {
            const int d = rank / 4;
            const int m = rank % 4;
            Communicator& row = world.communicator(rank, rows);
            Communicator& column = world.communicator(rank, columns);
            expect(row.rank() == m && row.size() == 4, "place in the row");
            expect(column.rank() == d && column.size() == 2, "place in the column");
            expect(column.world_ranks() == std::vector<int>{m, 4 + m}, "ranks of the column");
            for (int round = 0; round < 10; ++round) {
                expect(sum_of_ids(row, 1LL << rank) == 0xFLL << (4 * d), "sum of the row");
                expect(sum_of_ids(column, 1LL << rank) == 0x11LL << m, "sum of the column");
                expect(sum_of_ids(world.communicator(rank), 1LL << rank) == 0xFF, "whole sum");
            }
            expect(row.traffic().collectives == 10, "collectives are counted per group");
        }));
    }

    void groups_have_any_size_and_order_and_may_leave_ranks_out() {
        InProcessWorld world(7);
        const std::vector<std::vector<int>> lists = {{5, 0, 3}, {4}, {2, 1}};
        const GroupSet set = world.add_groups("uneven", lists);
        expect_no_errors(run_ranks(world, [&](int rank) {
            for (const std::vector<int>& list : lists) {
                const auto place = std::find(list.begin(), list.end(), rank);
                if (place == list.end()) {
                    continue;
                }
                Communicator& comm = world.communicator(rank, set);
                expect(comm.rank() == place - list.begin(), "ranks in list order");
                expect(sum_of_ids(comm, 1LL << rank) == expected_sum(list), "sum of the group");
            }
        }));
        QVERIFY_THROWS_EXCEPTION(CheckFailure, world.communicator(6, set));
        QVERIFY_THROWS_EXCEPTION(CheckFailure, world.add_groups("twice", {{0, 1}, {1, 2}}));
        const GroupSet some = world.split("some", std::vector<int>{0, -1, 0, -1, -1, -1, -1});
        QCOMPARE(world.communicator(2, some).world_ranks(), (std::vector<int>{0, 2}));
    }

    void sixty_four_ranks_meet() {
        for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree}) {
            InProcessWorld world(64, {.algorithm = algorithm});
            expect_no_errors(run_ranks(world, [&](int rank) {
                for (int round = 0; round < 5; ++round) {
                    expect(sum_of_ids(world.communicator(rank), rank) == 64 * 63 / 2, "sum");
                }
            }));
        }
    }

    void calls_that_were_made_before_allocate_nothing() {
        for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree}) {
            InProcessWorld world(4, {.algorithm = algorithm});
            std::atomic<std::int64_t> before = 0;
            std::atomic<std::int64_t> after = 0;
            expect_no_errors(run_ranks(world, [&](int rank) {
                Communicator& comm = world.communicator(rank);
                Bytes big(4096);
                Bytes other(4096);
                // A ring of messages is used up once before its places repeat.
                for (int round = 0; round < 10; ++round) {
                    call_everything(comm, big, other);
                }
                expect(comm.barrier("all have all they want") == Outcome::finished, "stopped");
                before = allocations.load();
                expect(comm.barrier("all have looked") == Outcome::finished, "stopped");
                for (int round = 0; round < 50; ++round) {
                    call_everything(comm, big, other);
                }
                after = allocations.load();
                expect(comm.barrier("all have looked again") == Outcome::finished, "stopped");
            }));
            QCOMPARE(after.load() - before.load(), std::int64_t{0});
        }
    }
};

WEFT_TEST(GroupsTest)
#include "groups_test.moc"
