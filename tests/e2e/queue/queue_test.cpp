// SPDX-License-Identifier: Apache-2.0
// `weft queue`: what people and misfortunes do to it.
#include "core/train/record/run_summary.h"
#include "tests/e2e/queue/queue_process.h"
#include "tests/support/test_folder.h"

#include <fstream>

namespace {

using namespace weft;
using namespace weft::test;
using config::Json;
using queue::State;

constexpr int kLongMs = 60000;

class QueueTest : public QObject, private TestFolder {
    Q_OBJECT

    QString short_; // 20 steps
    QString long_;  // never ends by itself here

    QueueRoom room(const char* name) const { return QueueRoom(path(name)); }

    static void ok(const Finished& done) { QVERIFY2(done.code == 0, done.err.c_str()); }

    static std::int64_t saved_step(const std::string& run) {
        return run.empty() ? -1 : train::summarise_run(run).last_checkpoint_step;
    }
    static std::string order_of(const QueueRoom& room) {
        std::string out;
        for (const queue::Entry& entry : room.book().entries) {
            out += std::to_string(entry.id);
        }
        return out;
    }
    static std::size_t resumes_of(const std::string& run) {
        std::size_t out = 0;
        for (const train::Event& event : events_of(run)) {
            out += std::holds_alternative<train::ResumedEvent>(event.payload) ? 1 : 0;
        }
        return out;
    }

private slots:
    void initTestCase() {
        short_ = write_config(path("short"),
                              config::json_of(R"({"training": {"length": {"steps": 20}}})"));
        long_ = write_config(path("long"), config::json_of(R"({
            "training": {"length": {"steps": 100000000}},
            "evaluation": {"every": {"steps": 1000000}},
            "checkpoint": {"every": {"steps": 200}, "on_improvement": false}})"));
    }

    void runs_are_trained_one_after_another() {
        const QueueRoom here = room("row");
        ok(here.weft({"queue", "add", short_, short_, "--set", "seed=3"}));
        ok(here.weft({"queue", "add", short_, "--set", "seed=4", "--first"}));
        QCOMPARE(order_of(here), std::string("312"));
        ok(here.weft({"queue", "run", "--until-empty", "--quiet"}));
        double last = 0;
        for (const queue::Entry& entry : here.book().entries) {
            QCOMPARE(entry.state, State::done);
            QCOMPARE(train::summarise_run(entry.run).step, std::int64_t{20});
            QCOMPARE(train::summarise_run(entry.run).state, std::string("finished"));
            QVERIFY(entry.started >= last);
            last = entry.ended;
        }
        QCOMPARE(train::read_frozen_config(here.entry(3).run).config.seed, std::uint64_t{4});
    }

    void a_run_of_several_processes_waits_its_turn_like_others() {
        const QueueRoom here = room("processes");
        QCOMPARE(here.weft({"queue", "add", short_, "--hosts", "localhost:x"}).code, 2);
        ok(here.weft({"queue", "add", short_, "--hosts", "localhost:2"}));
        ok(here.weft({"queue", "run", "--until-empty", "--quiet"}));
        const queue::Entry entry = here.entry(1);
        QVERIFY2(entry.state == State::done, entry.reason.c_str());
        QCOMPARE(train::summarise_run(entry.run).step, std::int64_t{20});
        int joined = 0;
        for (const train::Event& event : events_of(entry.run)) {
            const auto* rank = std::get_if<train::RankEvent>(&event.payload);
            joined += rank != nullptr && rank->state == "joined" ? 1 : 0;
        }
        QCOMPARE(joined, 1); // rank 1, to rank 0
        // A checkpoint of it goes on with other settings on as many processes: a run of its own.
        ok(here.weft({"queue", "add", QString::fromStdString(entry.run), "--hosts", "localhost:2",
                      "--set", "training.length={\"steps\":30}"}));
        ok(here.weft({"queue", "run", "--until-empty", "--quiet"}));
        const queue::Entry fork = here.entry(2);
        QVERIFY2(fork.state == State::done, fork.reason.c_str());
        QVERIFY(fork.run != entry.run);
        QCOMPARE(train::summarise_run(fork.run).step, std::int64_t{30});
    }

    void a_configuration_is_queued_as_it_is_now() {
        const QueueRoom here = room("frozen");
        const QString config = write_config(path("changing"), config::json_of(R"({"seed": 1})"));
        ok(here.weft({"queue", "add", config}));
        write_config(path("changing"), config::json_of(R"({"seed": 2})"));
        ok(here.weft({"queue", "run", "--until-empty"}));
        QCOMPARE(train::read_frozen_config(here.entry(1).run).config.seed, std::uint64_t{1});
    }

    void what_is_wrong_is_said_before_anything_is_queued() {
        const QueueRoom here = room("wrong");
        const Finished set = here.weft({"queue", "add", short_, "--set", "optimizer.rate=1"});
        QCOMPARE(set.code, 2);
        QVERIFY(set.err.find("/optimizer/rate") != std::string::npos);
        QCOMPARE(here.weft({"queue", "add", short_, text("no-such-file.json")}).code, 2);
        const Finished vary =
            here.weft({"sweep", short_, "--vary", "seed=1,2", "--vary", "optimizer.rate=1,2"});
        QCOMPARE(vary.code, 2);
        QVERIFY(vary.err.find("/optimizer/rate") != std::string::npos);
        QCOMPARE(here.weft({"sweep", "show", "nothing"}).code, 2);
        QCOMPARE(here.weft({"sweep"}).code, 2);
        QCOMPARE(here.weft({"queue", "hold", "7"}).code, 2);
        QCOMPARE(here.weft({"queue", "stop", "x"}).code, 2);
        QVERIFY(here.book().entries.empty());
    }

    void entries_are_moved_held_released_and_removed() {
        const QueueRoom here = room("moved");
        ok(here.weft({"queue", "add", short_, short_, short_, short_}));
        ok(here.weft({"queue", "move", "4", "--first"}));
        ok(here.weft({"queue", "move", "1", "--last"}));
        ok(here.weft({"queue", "move", "#3", "--before", "2"}));
        QCOMPARE(order_of(here), std::string("4321"));
        QCOMPARE(here.weft({"queue", "move", "1"}).code, 2);
        ok(here.weft({"queue", "hold", "4", "3"}));
        ok(here.weft({"queue", "stop", "2"}));
        ok(here.weft({"queue", "run", "--until-empty"}));
        QCOMPARE(here.entry(4).state, State::held);
        QCOMPARE(here.entry(3).state, State::held);
        QCOMPARE(here.entry(2).state, State::stopped);
        QCOMPARE(here.entry(1).state, State::done);
        ok(here.weft({"queue", "release", "4", "2"}));
        QCOMPARE(here.entry(4).state, State::waiting);
        QCOMPARE(here.entry(2).state, State::waiting);
        QCOMPARE(here.weft({"queue", "release", "1"}).code, 2); // done
        ok(here.weft({"queue", "remove", "3", "4"}));
        ok(here.weft({"queue", "remove", "--ended"}));
        QCOMPARE(order_of(here), std::string("2"));
        const Finished listed = here.weft({"queue", "list", "--json"});
        QCOMPARE(config::json_of(listed.out).at(0).at("state").get<std::string>(),
                 std::string("waiting"));
        ok(here.weft({"queue", "add", short_}));
        QCOMPARE(order_of(here), std::string("25")); // no number is given again
    }

    void a_run_that_fails_keeps_nobody_back() {
        const QueueRoom here = room("failing");
        const QString missing =
            write_config(path("missing"),
                         config::json_of(R"({"data": {"train": {"type": "csv", "path": "gone.csv",
                "targets": "y", "kind": null, "features": null, "classes": null,
                "samples": null, "seed": null}}})"));
        ok(here.weft({"queue", "add", missing, short_}));
        ok(here.weft({"queue", "run", "--until-empty"}));
        QCOMPARE(here.entry(1).state, State::failed);
        QVERIFY2(here.entry(1).reason.find("gone.csv") != std::string::npos,
                 here.entry(1).reason.c_str());
        QCOMPARE(here.entry(2).state, State::done);
    }

    void what_wants_devices_that_are_not_here_waits_and_says_so() {
        const QueueRoom here = room("elsewhere_only");
        ok(here.weft({"queue", "add", short_, "--devices", "cuda:63"}));
        ok(here.weft({"queue", "add", short_}));
        ok(here.weft({"queue", "run", "--until-empty"}));
        QCOMPARE(here.entry(1).state, State::waiting);
        QVERIFY(here.entry(1).reason.find("63 GPUs") != std::string::npos);
        QCOMPARE(here.entry(2).state, State::done);
    }

    void a_run_is_resumed_and_one_with_changes_is_forked() {
        const QueueRoom here = room("resumed");
        ok(train_weft(short_, text("resumed/begun"), {}, {"--max-steps", "8"}));
        ok(here.weft({"queue", "add", "begun"}));
        QCOMPARE(here.weft({"queue", "add", "begun"}).code, 2); // it is there already
        ok(here.weft({"queue", "add", text("resumed/begun"), "--set", "seed=9"}));
        ok(here.weft({"queue", "run", "--until-empty"}));
        QCOMPARE(std::filesystem::path(here.entry(1).run), path("resumed") / "begun");
        QCOMPARE(train::summarise_run(path("resumed") / "begun").step, std::int64_t{20});
        const std::string fork = here.entry(2).run;
        QVERIFY(std::filesystem::path(fork) != path("resumed") / "begun");
        QCOMPARE(train::read_frozen_config(fork).config.seed, std::uint64_t{9});
        QCOMPARE(here.entry(2).state, State::done);
    }

    // With all that the session writes before there is a configuration, and halves of it.
    void a_run_that_was_killed_while_it_began_begins_anew() {
        const QueueRoom here = room("begun_only");
        ok(here.weft({"queue", "add", short_}));
        const auto run = train::create_run_folder(here.root(), "tiny");
        for (const char* name :
             {"lock", "events.jsonl", "run.json", "run.json.part", "config.json.part"}) {
            std::ofstream(run / name) << "{";
        }
        queue::change_book(queue::folder_under(here.root()), [&](queue::Book& book) {
            book.entries[0].state = State::running;
            book.entries[0].run = run.string();
        });
        ok(here.weft({"queue", "run", "--until-empty"}));
        QCOMPARE(here.entry(1).state, State::done);
        QCOMPARE(here.entry(1).run, run.string());
        QCOMPARE(train::summarise_run(run).step, std::int64_t{20});
    }

    void a_run_that_dies_again_and_again_has_failed() {
        const QueueRoom here = room("dying");
        ok(here.weft({"queue", "add", long_, "--set", "checkpoint.every=null"}));
        const auto scheduler = here.scheduler();
        std::int64_t killed = 0;
        for (int death = 0; death < queue::kMostAttempts; ++death) {
            std::int64_t pid = 0;
            QTRY_VERIFY_WITH_TIMEOUT((pid = pid_of_run(here.entry(1).run)) > 0 && pid != killed,
                                     kLongMs);
            ::kill(static_cast<pid_t>(pid), SIGKILL);
            killed = pid;
        }
        QCOMPARE(code_of_end(*scheduler), 0);
        QCOMPARE(here.entry(1).state, State::failed);
        QVERIFY(here.entry(1).reason.find("3 times") != std::string::npos);
    }

    // A scheduler is killed, its run goes on; the next one finds it, and resumes it when it is
    // killed, too.
    void a_run_outlives_its_scheduler_and_is_found_again() {
        const QueueRoom here = room("killed");
        ok(here.weft({"queue", "add", long_}));
        const auto first = here.scheduler();
        QTRY_VERIFY_WITH_TIMEOUT(saved_step(here.entry(1).run) > 0, kLongMs);
        kill_hard(*first);
        const std::string run = here.entry(1).run;
        const double started = here.entry(1).started;
        const std::int64_t pid = pid_of_run(run);
        QVERIFY(pid > 0);
        const std::int64_t before = saved_step(run);
        const auto second = here.scheduler();
        QTRY_COMPARE_WITH_TIMEOUT(here.scheduler_pid(), std::int64_t{second->processId()}, kLongMs);
        QTRY_VERIFY_WITH_TIMEOUT(saved_step(run) > before, kLongMs); // it went on
        QCOMPARE(pid_of_run(run), pid);
        QCOMPARE(here.entry(1).started, started);      // and was not started again
        QCOMPARE(here.weft({"queue", "run"}).code, 2); // one is enough
        ::kill(static_cast<pid_t>(pid), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(pid_of_run(run) > 0 && pid_of_run(run) != pid, kLongMs);
        QTRY_COMPARE_WITH_TIMEOUT(resumes_of(run), std::size_t{1}, kLongMs);
        ok(here.weft({"queue", "stop", "1"}));
        QCOMPARE(code_of_end(*second), 0);
        QCOMPARE(here.entry(1).state, State::stopped);
        QCOMPARE(train::summarise_run(run).state, std::string("stopped"));
        QVERIFY(!train::is_live(run));
        QCOMPARE(train::list_runs(here.root()).size(), std::size_t{1});
    }

    void a_scheduler_that_is_told_to_end_lets_runs_save() {
        const QueueRoom here = room("told");
        ok(here.weft({"queue", "add", long_}));
        const auto scheduler = here.scheduler({});
        QTRY_VERIFY_WITH_TIMEOUT(saved_step(here.entry(1).run) > 0, kLongMs);
        const std::string run = here.entry(1).run;
        scheduler->terminate();
        QCOMPARE(code_of_end(*scheduler), kExitStopped);
        QCOMPARE(here.entry(1).state, State::waiting);
        const train::RunSummary saved = train::summarise_run(run);
        QCOMPARE(saved.state, std::string("stopped"));
        QCOMPARE(saved.last_checkpoint_step, saved.step); // nothing is lost
        const auto next = here.scheduler();
        QTRY_COMPARE_WITH_TIMEOUT(resumes_of(run), std::size_t{1}, kLongMs);
        ok(here.weft({"queue", "stop", "1"}));
        QCOMPARE(code_of_end(*next), 0);
        QCOMPARE(here.entry(1).state, State::stopped);
    }

    void two_run_at_a_time_where_two_may() {
        const QueueRoom here = room("beside");
        ok(here.weft({"queue", "add", long_, long_, long_}));
        const auto scheduler = here.scheduler({"--until-empty", "--parallel", "2"});
        QTRY_VERIFY_WITH_TIMEOUT(
            saved_step(here.entry(1).run) > 0 && saved_step(here.entry(2).run) > 0, kLongMs);
        QVERIFY(train::is_live(here.entry(1).run) && train::is_live(here.entry(2).run));
        QCOMPARE(here.entry(3).state, State::waiting);
        ok(here.weft({"queue", "stop", "3", "2", "1"}));
        QCOMPARE(code_of_end(*scheduler), 0);
    }

    // Whoever stops a run in another place does not want it started again at once.
    void a_run_that_somebody_stops_is_stopped() {
        const QueueRoom here = room("elsewhere");
        ok(here.weft({"queue", "add", long_}));
        const auto scheduler = here.scheduler();
        QTRY_VERIFY_WITH_TIMEOUT(saved_step(here.entry(1).run) > 0, kLongMs);
        ::kill(static_cast<pid_t>(pid_of_run(here.entry(1).run)), SIGTERM);
        QCOMPARE(code_of_end(*scheduler), 0);
        QCOMPARE(here.entry(1).state, State::stopped);
        ok(here.weft({"queue", "release", "1"}));
        QCOMPARE(here.entry(1).state, State::waiting);
    }

    void a_sweep_can_be_stopped_and_removed() {
        const QueueRoom here = room("swept");
        ok(here.weft({"sweep", short_, "--vary", "seed=1,2,3", "--method", "grid"}));
        QCOMPARE(here.weft({"queue", "remove", "1"}).code, 2);
        ok(here.weft({"sweep", "stop", "tiny"}));
        ok(here.weft({"queue", "run", "--until-empty"}));
        for (const queue::Entry& entry : here.book().entries) {
            QCOMPARE(entry.state, State::stopped);
            QVERIFY(entry.run.empty());
        }
        ok(here.weft({"sweep", "remove", "tiny"}));
        QVERIFY(here.book().entries.empty());
        QVERIFY(here.book().sweeps.empty());
    }

    void a_grid_has_a_value_for_each_trial() {
        const QueueRoom here = room("grid");
        ok(here.weft({"sweep", short_, "--vary", "optimizer.learning_rate=0.0001,0.01", "--method",
                      "grid"}));
        ok(here.weft({"queue", "run", "--until-empty"}));
        const Json table = config::json_of(here.weft({"sweep", "show", "tiny", "--json"}).out);
        for (const Json& row : table.at("trials")) {
            const train::RunSummary run = train::summarise_run(row.at("run").get<std::string>());
            QCOMPARE(row.at("values").at(0).get<double>(), run.metric("validation/loss")->last);
        }
        const auto value = [&](std::size_t i) {
            return table.at("trials").at(i).at("values").at(0).get<double>();
        };
        QCOMPARE(table.at("trials").at(0).at("best").get<bool>(), value(0) < value(1));
    }
};

} // namespace

WEFT_TEST(QueueTest)
#include "queue_test.moc"
