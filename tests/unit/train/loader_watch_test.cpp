// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/loader_watch.h"
#include "tests/support/weft_test.h"

#include <cmath>

using namespace weft;
using namespace weft::train;

namespace {

/// A second of steps that waited `wait_ms` for data, which took `decode_ms` to decode and a quarter
/// of that to read.
LoaderEvent second_of(double wait_ms, int workers, double decode_ms) {
    LoaderEvent out;
    out.steps_ms = 1000;
    out.wait_ms = wait_ms;
    out.workers = workers;
    out.prefetch = workers > 0 ? 2 : 0;
    out.decode_ms = decode_ms;
    out.read_ms = decode_ms / 4;
    return out;
}

constexpr int kCores = 8;

} // namespace

class LoaderWatchTest : public QObject {
    Q_OBJECT
private slots:
    void data_that_are_ready_need_no_advice() {
        for (const double wait_ms : {0.0, 30.0, 50.0}) {
            const LoaderVerdict verdict = judge_loader(second_of(wait_ms, 1, 900), kCores);
            QVERIFY(!verdict.starved);
            QVERIFY(verdict.text.starts_with("Data are ready"));
            QVERIFY(verdict.hint.empty());
            QVERIFY(verdict.pointer.empty());
        }
        QVERIFY(judge_loader(second_of(30, 1, 900), kCores).text.find("3 %") != std::string::npos);
        QVERIFY(!judge_loader({}, kCores).starved);
    }

    void a_starved_step_names_the_longest_stage() {
        const LoaderVerdict verdict = judge_loader(second_of(120, 1, 800), kCores);
        QVERIFY(verdict.starved);
        QCOMPARE(verdict.text,
                 std::string("The steps wait for data 12 % of the time: decoding takes 80 % of the "
                             "time that goes into preparing them."));
    }

    // 2,000 ms of work by two workers in a second, of which the steps compute 400 ms: five of them
    // do it in that time.
    void as_many_workers_are_advised_as_keep_pace_with_the_steps() {
        const LoaderVerdict verdict = judge_loader(second_of(600, 2, 1600), kCores);
        QCOMPARE(verdict.pointer, std::string("/data/num_workers"));
        QCOMPARE(verdict.value, 5);
        QCOMPARE(verdict.hint, std::string("Set data.num_workers to 5."));
    }

    void no_more_workers_are_advised_than_there_are_cores() {
        QCOMPARE(judge_loader(second_of(600, 2, 1600), 4).value, 4);
        const LoaderVerdict all = judge_loader(second_of(600, 4, 3200), 4);
        QVERIFY(all.pointer.empty());
        QVERIFY(all.hint.find("weft data convert") != std::string::npos);
    }

    void the_training_thread_gets_a_worker() {
        const LoaderVerdict verdict = judge_loader(second_of(300, 0, 240), kCores);
        QVERIFY(verdict.text.find("training thread") != std::string::npos);
        QCOMPARE(verdict.pointer, std::string("/data/num_workers"));
        QCOMPARE(verdict.value, 1);
    }

    void idle_workers_shall_work_further_ahead() {
        const LoaderVerdict verdict = judge_loader(second_of(200, 4, 800), kCores);
        QCOMPARE(verdict.pointer, std::string("/data/prefetch"));
        QCOMPARE(verdict.value, 4);
    }

    // Rank 1 is the slow one at first, then rank 2: what is told is of whom the others waited for.
    void of_many_ranks_the_slowest_is_told() {
        LoaderWatch watch(1, 2);
        const auto of_rank = [](double wait_s, double decode_s, std::int64_t samples) {
            data::LoaderUse out;
            out.wait_s = wait_s;
            out.stages[static_cast<std::size_t>(Stage::decode)] = decode_s;
            out.samples = samples;
            return out;
        };
        watch.begin({0, {of_rank(0, 1, 0), of_rank(0, 0, 0), of_rank(0, 0, 0)}});
        watch.add_step(2, 10);
        LoaderEvent told = watch.take(
            7, {0.5, {of_rank(0.1, 1.2, 10), of_rank(0.5, 0.9, 11), of_rank(0.2, 0.1, 12)}});
        QCOMPARE(told.rank, std::optional(1));
        QCOMPARE(told.wait_ms, 500.0);
        QCOMPARE(told.steps_ms, 2000.0);
        QCOMPARE(told.decode_ms, 900.0);
        QCOMPARE(told.samples, 11);
        QVERIFY(judge_loader(told, kCores).text.find("for rank 1 most: decoding") !=
                std::string::npos);
        watch.add_step(1, 11);
        told = watch.take(
            8, {0.9, {of_rank(0.1, 1.2, 10), of_rank(0.5, 0.9, 11), of_rank(0.6, 0.4, 20)}});
        QCOMPARE(told.rank, std::optional(2));
        QVERIFY(std::abs(told.wait_ms - 400) < 1e-9 && std::abs(told.decode_ms - 300) < 1e-9);
        QCOMPARE(told.samples, 8);
    }

    void events_add_up() {
        LoaderEvent all;
        LoaderEvent one = second_of(100, 1, 400);
        one.ready = 2;
        one.samples = 10;
        LoaderEvent other = second_of(300, 1, 200);
        other.steps_ms = 3000;
        other.samples = 5;
        add(one, all);
        add(other, all);
        QCOMPARE(all.steps_ms, 4000.0);
        QCOMPARE(all.wait_ms, 400.0);
        QCOMPARE(all.decode_ms, 600.0);
        QCOMPARE(all.read_ms, 150.0);
        QCOMPARE(all.samples, 15);
        QCOMPARE(all.ready, 0.5); // 2 in a quarter of the time
    }
};

WEFT_TEST(LoaderWatchTest)
#include "loader_watch_test.moc"
