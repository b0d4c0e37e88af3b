// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/checkpoint/pointer.h"
#include "core/train/record/run_summary.h"
#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <fstream>

namespace {

using namespace weft::train;
namespace fs = std::filesystem;

void append(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::app) << text;
}

StepEvent step_with_loss(std::int64_t step, double loss) {
    StepEvent event;
    event.step = step;
    event.loss = loss;
    return event;
}

class RunFolderTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;
    fs::path root() const { return fs::path(dir_.path().toStdString()); }
    fs::path fresh(const char* name) const {
        const fs::path folder = root() / name;
        create_run_folder_at(folder);
        return folder;
    }

private slots:
    void the_variable_decides_where_runs_go_and_empty_is_unset() {
        QCOMPARE(default_runs_root("/data/runs", "/home/ada"), fs::path("/data/runs"));
        QCOMPARE(default_runs_root("", "/home/ada"), fs::path("/home/ada/WeftRuns"));
        QCOMPARE(default_runs_root("runs", "/home/ada"), fs::current_path() / "runs");
    }

    void a_run_that_ended_is_not_read_again_until_its_files_change() {
        const fs::path runs = root() / "listed";
        const fs::path folder = runs / "2026-01-01_a_001";
        create_run_folder_at(folder);
        RunInfo info;
        info.state = "stopped";
        write_run_info(folder, info);
        const auto log_of = [](double loss) {
            return to_line({1, 1, StateEvent{RunState::stopped, {}, {}, 0, 0}}) + "\n" +
                   to_line({2, 2, step_with_loss(1, loss)}) + "\n";
        };
        append(folder / "events.jsonl", log_of(2.5));
        const std::vector<RunSummary> first = list_runs(runs);
        QCOMPARE(first.at(0).last_loss, 2.5);
        // Same size and time, other content: only a reader would see it.
        const auto time = fs::last_write_time(folder / "events.jsonl");
        fs::resize_file(folder / "events.jsonl", 0);
        append(folder / "events.jsonl", log_of(3.5));
        fs::last_write_time(folder / "events.jsonl", time);
        QCOMPARE(list_runs(runs, first).at(0).last_loss, 2.5);
        QCOMPARE(list_runs(runs).at(0).last_loss, 3.5);
        append(folder / "events.jsonl", to_line({3, 3, step_with_loss(2, 4.5)}) + "\n");
        QCOMPARE(list_runs(runs, first).at(0).last_loss, 4.5);
    }

    void run_folders_are_numbered_and_never_reused() {
        const fs::path first = create_run_folder(root() / "runs", "Fashion MLP (v2)");
        const fs::path next = next_run_folder(root() / "runs", "Fashion MLP (v2)");
        QVERIFY(!fs::exists(next));
        const fs::path second = create_run_folder(root() / "runs", "Fashion MLP (v2)");
        QCOMPARE(next, second);
        QVERIFY(first.filename().string().ends_with("_fashion-mlp-v2_001"));
        QVERIFY(second.filename().string().ends_with("_fashion-mlp-v2_002"));
        const fs::path letters = create_run_folder(root() / "runs", "Häuser, 2024");
        QVERIFY(letters.filename().string().ends_with("_häuser-2024_001"));
        std::string many;
        while (many.size() < 100) {
            many += "ü";
        }
        QVERIFY(weft::is_utf8(create_run_folder(root() / "runs", many).filename().string()));
        const fs::path no_text = create_run_folder(root() / "runs", "a\xfc"
                                                                    "b"); // not UTF-8
        QVERIFY(no_text.filename().string().ends_with("_a-b_001"));
        QVERIFY(fs::is_directory(second / "checkpoints"));
    }

    void a_folder_with_content_is_never_taken() {
        const fs::path folder = root() / "taken";
        fs::create_directories(folder);
        append(folder / "notes.txt", "mine");
        QVERIFY_THROWS_EXCEPTION(weft::Error, create_run_folder_at(folder));
        QCOMPARE(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
    }

    void a_run_can_be_found_by_the_file_that_points_to_it() {
        const fs::path folder = create_run_folder(root() / "pointed", "a");
        write_run_info(folder, {});
        QCOMPARE(weft::checkpoint::follow_pointer(folder / "run.weftrun"), folder);
        // A folder that waits for its worker is still free for it.
        const fs::path waiting = create_run_folder(root() / "pointed", "b");
        create_run_folder_at(waiting);
        QVERIFY(fs::exists(waiting / "run.weftrun"));
    }

    void run_info_survives_a_round_trip() {
        const fs::path folder = fresh("info");
        RunInfo info;
        info.id = "x_001";
        info.name = "n";
        info.parent = "../y_001";
        info.parent_step = 500;
        info.state = "paused";
        info.created = 12.5;
        info.parameters = 567434;
        info.model = "mlp";
        info.data = "Fashion-MNIST";
        info.data_fingerprint = "abc";
        info.environment = {{"threads", 2}};
        info.total_steps = 700;
        info.seconds = 1.5;
        info.message = "m";
        write_run_info(folder, info);
        const RunInfo back = read_run_info(folder);
        QCOMPARE(back.id, info.id);
        QCOMPARE(back.parent, info.parent);
        QCOMPARE(back.parent_step, info.parent_step);
        QCOMPARE(back.state, info.state);
        QCOMPARE(back.parameters, info.parameters);
        QCOMPARE(back.data_fingerprint, info.data_fingerprint);
        QVERIFY(back.environment == info.environment);
        QCOMPARE(back.total_steps, info.total_steps);
        QCOMPARE(back.message, info.message);
    }

    void only_one_session_holds_a_run() {
        const fs::path folder = fresh("locked");
        QVERIFY(!is_live(folder));
        {
            const RunLock lock(folder);
            QVERIFY(is_live(folder));
            try {
                const RunLock second(folder);
                QFAIL("a second lock was granted");
            } catch (const weft::Error& error) {
                QVERIFY(error.message().find(std::to_string(QCoreApplication::applicationPid())) !=
                        std::string::npos);
            }
            QVERIFY(is_live(folder));
        }
        QVERIFY(!is_live(folder));
        QVERIFY(!fs::exists(folder / "lock"));
    }

    void a_lock_file_of_a_dead_process_does_not_block() {
        const fs::path folder = fresh("dead");
        append(folder / "lock", "{\"pid\": 1, \"host\": \"x\"}");
        QVERIFY(!is_live(folder));
        const RunLock lock(folder);
        QVERIFY(is_live(folder));
    }

    void a_folder_that_another_run_took_is_refused_and_its_lock_stays() {
        const fs::path folder = fresh("taken over");
        std::optional<RunLock> lock(folder);
        QVERIFY(lock->place() == RunLock::Place::ours);
        lock->check();
        fs::rename(folder, folder.string() + " elsewhere");
        QVERIFY(lock->place() == RunLock::Place::gone);
        lock->check(); // nobody's
        fs::create_directories(folder);
        const RunLock other(folder);
        QVERIFY(lock->place() == RunLock::Place::of_another);
        const auto error = weft::test::error_of([&] { lock->check(); });
        QVERIFY(error && error->where() == folder.string());
        QVERIFY(weft::test::error_of([&] { lock->claim(); }).has_value());
        lock.reset();
        QVERIFY(other.place() == RunLock::Place::ours);
        QVERIFY(is_live(folder));
    }

    void a_folder_where_another_run_ended_is_not_ours_either() {
        const fs::path folder = fresh("ended");
        RunLock lock(folder);
        fs::remove_all(folder);
        fs::create_directories(folder);
        write_run_info(folder, RunInfo{});
        QVERIFY(lock.place() == RunLock::Place::of_another);
        QVERIFY(weft::test::error_of([&] { lock.claim(); }).has_value());
    }

    void a_folder_that_is_gone_is_claimed_anew() {
        const fs::path folder = fresh("claimed");
        RunLock lock(folder);
        fs::remove_all(folder);
        lock.claim();
        QVERIFY(lock.place() == RunLock::Place::ours);
        QVERIFY(is_live(folder));
    }

    void the_event_log_numbers_and_stamps_lines() {
        const fs::path folder = fresh("log");
        const weft::ManualClock clock(1000.5);
        EventLog log(folder, &clock);
        QCOMPARE(log.write(step_with_loss(1, 2.0)).seq, 1);
        const Event second = log.write(step_with_loss(2, 1.0));
        QCOMPARE(second.seq, 2);
        QCOMPARE(second.time, 1000.5);
        EventReader reader(folder);
        const auto events = reader.read();
        QCOMPARE(events.size(), std::size_t{2});
        QCOMPARE(std::get<StepEvent>(events[1].payload).loss, 1.0);
    }

    void a_torn_last_line_is_cut_and_numbers_go_on() {
        const fs::path folder = fresh("torn");
        { EventLog(folder).write(step_with_loss(1, 2.0)); }
        append(folder / "events.jsonl", "{\"event\":\"step\",\"se");
        EventLog log(folder);
        QCOMPARE(log.write(step_with_loss(2, 1.0)).seq, 2);
        EventReader reader(folder);
        QCOMPARE(reader.read().size(), std::size_t{2});
        QCOMPARE(reader.damaged_lines(), 0);
    }

    void a_reader_follows_a_growing_file_and_counts_damage() {
        const fs::path folder = fresh("growing");
        EventLog log(folder);
        EventReader reader(folder);
        QVERIFY(reader.read().empty());
        log.write(step_with_loss(1, 1.0));
        log.write(step_with_loss(2, 1.0));
        log.write(step_with_loss(3, 1.0));
        QCOMPARE(reader.read(2).size(), std::size_t{2});
        QCOMPARE(reader.read().size(), std::size_t{1});
        append(folder / "events.jsonl", "rubbish\n{\"event\":\"st");
        QVERIFY(reader.read().empty());
        QCOMPARE(reader.damaged_lines(), 1);
        append(folder / "events.jsonl", "ep\",\"seq\":4,\"time\":1,\"step\":4}\n");
        const auto last = reader.read();
        QCOMPARE(last.size(), std::size_t{1});
        QCOMPARE(last[0].seq, 4);
    }

    void a_full_disk_keeps_lines_for_later_and_none_is_torn() {
        const fs::path folder = root() / "full";
        fs::create_directories(folder);
        fs::create_symlink("/dev/full", folder / "events.jsonl");
        EventLog log(folder);
        QCOMPARE(log.write(step_with_loss(1, 1.0)).seq, 1);
        QVERIFY(log.problem().find("space") != std::string::npos);
    }

    void a_summary_tells_step_loss_best_and_curve() {
        const fs::path folder = fresh("summary");
        RunInfo info;
        info.state = "finished";
        info.name = "n";
        write_run_info(folder, info);
        EventLog log(folder);
        log.write(StateEvent{RunState::running, "", "", 0, 200});
        for (int step = 1; step <= 200; ++step) {
            log.write(step_with_loss(step, 1000.0 - step));
        }
        log.write(EvaluationEvent{100, {{"validation/loss", 0.25}}});
        log.write(EvaluationEvent{200, {{"validation/loss", 0.5}}});
        log.write(StateEvent{RunState::finished, "", "", 0, 0});
        fs::create_directories(folder / "checkpoints" / "step-00000150");
        fs::create_directories(folder / "checkpoints" / "step-00000200.part");
        const RunSummary summary = summarise_run(folder);
        QCOMPARE(summary.problem, std::string());
        QCOMPARE(summary.state, std::string("finished"));
        QCOMPARE(summary.step, 200);
        QCOMPARE(summary.total_steps, 200);
        QCOMPARE(summary.last_loss, 800.0);
        QCOMPARE(summary.best_value.value(), 0.25);
        QCOMPARE(summary.best_step, 100);
        QCOMPARE(summary.last_checkpoint_step, 150);
        QCOMPARE(summary.loss_curve.size(), std::size_t{64});
        QCOMPARE(summary.loss_curve.back(), (std::pair<double, double>(200, 800)));
    }

    void a_run_whose_process_died_is_interrupted() {
        const fs::path folder = fresh("died");
        RunInfo info;
        info.state = "running";
        write_run_info(folder, info);
        QCOMPARE(summarise_run(folder).state, std::string("interrupted"));
        const RunLock lock(folder);
        QCOMPARE(summarise_run(folder).state, std::string("running"));
    }

    void a_list_holds_every_run_and_says_what_is_unreadable() {
        const fs::path list_root = root() / "list";
        const fs::path good = create_run_folder(list_root, "a");
        write_run_info(good, RunInfo{});
        const fs::path bad = create_run_folder(list_root, "b");
        append(bad / "run.json", "{");
        fs::create_directories(list_root / "not-a-run");
        const auto runs = list_runs(list_root);
        QCOMPARE(runs.size(), std::size_t{2});
        QCOMPARE(std::count_if(runs.begin(), runs.end(),
                               [](const RunSummary& run) { return run.problem.empty(); }),
                 1);
        QVERIFY(list_runs(root() / "absent").empty());
    }
};

WEFT_TEST(RunFolderTest)

} // namespace
#include "run_folder_test.moc"
