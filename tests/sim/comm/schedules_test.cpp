// SPDX-License-Identifier: Apache-2.0
// A thousand schedules drawn from seeds: ranks are held back at the points where others may
// overtake them. Whatever the delays: no deadlock, and the bits of an undisturbed run.
#include "core/base/philox.h"
#include "tests/sim/comm/ranks.h"
#include "tests/support/weft_test.h"

#include <atomic>
#include <thread>

using namespace weft;
using namespace weft::exec::comm;
using namespace weft::exec::comm::test;

namespace {

constexpr int kPrograms = 40;
constexpr int kSchedulesPerProgram = 25;

/// Holds a rank back until the others have reached some more points, or for so many turns when they
/// all wait: drawn per rank and point.
class Delays final : public ScheduleHook {
public:
    Delays(std::uint64_t seed, int ranks)
        : stream_(seed, "delays"), points_(static_cast<std::size_t>(ranks)) {}

    void reached(int world_rank) override {
        const std::int64_t point = points_[static_cast<std::size_t>(world_rank)]++;
        ++reached_;
        const PhiloxCounter words = stream_.block(static_cast<std::uint64_t>(world_rank),
                                                  static_cast<std::uint64_t>(point));
        if (words[0] % 8 != 0) {
            return;
        }
        const std::int64_t until = reached_ + words[1] % 8;
        for (std::uint32_t turn = 0; turn < words[2] % 6 && reached_ < until; ++turn) {
            std::this_thread::yield();
        }
    }

private:
    RandomStream stream_;
    std::vector<std::int64_t> points_; // each touched by its rank's thread only
    std::atomic<std::int64_t> reached_ = 0;
};

/// A program of collectives and messages, drawn from a seed, over the world and over its halves.
struct Program {
    int ranks;
    Algorithm algorithm;
    std::vector<std::uint32_t> calls;
};

Program draw(std::uint64_t seed) {
    const RandomStream stream(seed, "program");
    Program out;
    out.ranks = 2 + static_cast<int>(stream.word(0, 0) % 7);
    out.algorithm = stream.word(0, 1) % 2 == 0 ? Algorithm::ring : Algorithm::tree;
    for (std::uint64_t i = 0; i < 8; ++i) {
        out.calls.push_back(stream.word(1, i));
    }
    return out;
}

/// Turns `data` into something that depends on everything that was moved.
Outcome make_call(Communicator& comm, std::uint32_t call, std::span<std::byte> data,
                  std::span<std::byte> scratch) {
    const auto size = static_cast<std::size_t>(comm.size());
    const auto part = data.subspan(data.size() / size * static_cast<std::size_t>(comm.rank()),
                                   data.size() / size);
    const Transfer reduced{data, data, call % 2 == 0 ? ir::DType::f32 : ir::DType::bf16};
    const Transfer scatter{data, part, ir::DType::f32};
    const Transfer gather{part, scratch, ir::DType::f32};
    const int next = (comm.rank() + 1) % comm.size();
    const int last = (comm.rank() + comm.size() - 1) % comm.size();
    const Route routes[] = {{0, comm.size() - 1}, {comm.size() - 1, 0}};
    switch (call / 2 % 8) {
    case 0: return comm.all_reduce({&reduced, 1}, Reduction::mean, "mean");
    case 1: return comm.all_reduce({&reduced, 1}, Reduction::max, "max");
    case 2: return comm.reduce_scatter({&scatter, 1}, Reduction::sum, "scatter");
    case 3: return comm.all_gather({&gather, 1}, "gather");
    case 4: return comm.all_to_all({data, scratch, ir::DType::f32}, "tokens");
    case 5:
        return comm.permute({data, scratch, ir::DType::f32},
                            std::span(routes).first(comm.size() > 1 ? 2 : 1), "shift");
    case 6: return comm.broadcast(data, ir::DType::f32, comm.size() / 2, "weights");
    default: break;
    }
    const Outcome posted = comm.post_send(data, ir::DType::f32, next, "activation");
    const Outcome received = comm.receive(scratch, ir::DType::f32, last, "activation");
    const Outcome sent = comm.wait_sent(next, comm.last_posted(next));
    return posted == Outcome::finished && received == Outcome::finished ? sent : Outcome::stopped;
}

/// What every rank holds at the end.
std::vector<Bytes> run(const Program& program, ScheduleHook* hook) {
    // The timeout turns a deadlock into a sentence; it is far beyond what a loaded machine needs.
    InProcessWorld world(program.ranks,
                         {.algorithm = program.algorithm, .timeout_s = 120.0, .hook = hook});
    std::vector<int> halves;
    for (int rank = 0; rank < program.ranks; ++rank) {
        halves.push_back(rank % 2);
    }
    const GroupSet half = world.split("half", halves);
    std::vector<Bytes> out(static_cast<std::size_t>(program.ranks));
    const auto errors = run_ranks(world, [&](int rank) {
        // 840 divides by every group size; both types read these bits as ordinary numbers.
        Bytes data = drawn_data(ir::DType::bf16, 1680, static_cast<std::uint64_t>(rank));
        Bytes scratch(data.size());
        for (const std::uint32_t call : program.calls) {
            Communicator& comm =
                world.communicator(rank, call / 16 % 3 == 0 ? half : GroupSet::world);
            if (make_call(comm, call, data, scratch) != Outcome::finished) {
                throw std::logic_error("stopped");
            }
            out[static_cast<std::size_t>(rank)].insert(out[static_cast<std::size_t>(rank)].end(),
                                                       scratch.begin(), scratch.begin() + 64);
        }
        Bytes& mine = out[static_cast<std::size_t>(rank)];
        mine.insert(mine.end(), data.begin(), data.end());
        mine.insert(mine.end(), scratch.begin(), scratch.end());
    });
    for (const std::string& error : errors) {
        if (!error.empty()) {
            throw std::runtime_error(error);
        }
    }
    return out;
}

} // namespace

class SchedulesTest : public QObject {
    Q_OBJECT

private slots:
    void a_thousand_schedules_end_with_the_same_bits() {
        for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
            const Program program = draw(seed);
            const std::vector<Bytes> expected = run(program, nullptr);
            for (std::uint64_t schedule = 0; schedule < kSchedulesPerProgram; ++schedule) {
                Delays delays(seed * kSchedulesPerProgram + schedule, program.ranks);
                QVERIFY2(run(program, &delays) == expected,
                         qPrintable(QString("program %1, schedule %2").arg(seed).arg(schedule)));
            }
        }
    }

    // A rank may go down at any point of any operation: all others hear of it.
    void a_death_at_any_point_ends_the_run_for_all() {
        class Death final : public ScheduleHook {
        public:
            Death(int rank, int point) : rank_(rank), left_(point) {}
            void reached(int world_rank) override {
                if (world_rank == rank_ && --left_ == 0) {
                    world->abort("rank down");
                }
            }
            InProcessWorld* world = nullptr;

        private:
            int rank_;
            int left_;
        };
        for (int point = 1; point <= 24; ++point) {
            Death death(point % 4, point);
            InProcessWorld world(
                4, {.algorithm = Algorithm::tree, .timeout_s = 120.0, .hook = &death});
            death.world = &world;
            const auto errors = run_ranks(world, [&](int rank) {
                for (std::uint32_t call = 0; call < 64; ++call) {
                    // Memory of this call alone: a sanitizer sees who reads it later.
                    Bytes data = drawn_data(ir::DType::bf16, 96, static_cast<std::uint64_t>(rank));
                    Bytes scratch(data.size());
                    (void)make_call(world.communicator(rank), call, data, scratch);
                }
            });
            QCOMPARE(errors, std::vector<std::string>(4, "rank down"));
        }
    }
};

WEFT_TEST(SchedulesTest)
#include "schedules_test.moc"
