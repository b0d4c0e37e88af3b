// SPDX-License-Identifier: Apache-2.0
// What other processes can do with a run that trains, and what the studio's workers rely on.
#include "core/train/control/control_client.h"
#include "core/train/record/run_folder.h"
#include "core/train/record/run_summary.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <csignal>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace weft::test;
using namespace weft::train;
namespace fs = std::filesystem;

class ControlSocketTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;

    QStringList long_run(const char* name) const {
        return {"train",     config_, "--run-dir", text(name),
                "--control", "stdin", "--set",     "training.length={\"steps\": 100000000}"};
    }

private slots:
    void initTestCase() { config_ = write_config(path("configs")); }

    void every_run_is_reached_at_the_socket_that_its_lock_names() {
        LiveWeft live(long_run("reached"));
        QVERIFY(live.wait_for_step(1).has_value());
        const auto lock = read_lock(path("reached"));
        QVERIFY(lock.has_value());
        struct stat status {};
        QCOMPARE(::stat(lock->control.c_str(), &status), 0);
        QCOMPARE(status.st_mode & 0777, mode_t{0600});
        {
            ControlClient client(lock->control);
            client.send(R"({"command": "claim", "by": "studio"})");
            client.send(R"({"command": "subscribe", "from": 1})");
            client.send(R"({"command": "pause", "id": "p"})");
            bool paused = false;
            std::int64_t next = 1;
            while (!paused && client.transfer()) {
                for (const std::string& line : client.take_lines()) {
                    const auto event = parse_event(line);
                    QVERIFY2(event.has_value(), line.c_str());
                    next += event->seq == next ? 1 : 0;
                    const auto* state = std::get_if<StateEvent>(&event->payload);
                    paused = paused || (state != nullptr && state->state == RunState::paused);
                }
                client.wait(1);
            }
            QVERIFY(paused);
            QVERIFY(next > 3); // validating, preparing, ... came from the beginning
        }
        // Signals work whoever had control.
        live.signal(SIGTERM);
        QCOMPARE(live.finish(), 75);
        QVERIFY(!fs::exists(lock->control));
    }

    void a_killed_run_leaves_a_socket_that_the_next_run_removes() {
        std::string left;
        {
            LiveWeft live(long_run("left"));
            QVERIFY(live.wait_for_step(1).has_value());
            left = read_lock(path("left"))->control;
            live.signal(SIGKILL);
            QCOMPARE(live.finish(), -1);
        }
        QVERIFY(!read_lock(path("left")).has_value());
        QVERIFY(fs::exists(left));
        QCOMPARE(run_weft({"train", config_, "--run-dir", text("sweeps"), "--max-steps", "1"}).code,
                 0);
        QVERIFY(!fs::exists(left));
    }

    void a_run_that_is_stopped_while_it_is_prepared_ends_at_once_and_can_begin_again() {
        LiveWeft live(long_run("unprepared"));
        live.send(R"({"command": "stop", "id": "early"})");
        QVERIFY(live.wait_for_answer("early")->accepted);
        QCOMPARE(live.finish(), 75);
        const RunSummary summary = summarise_run(path("unprepared"));
        QCOMPARE(summary.state, std::string("stopped"));
        QCOMPARE(summary.step, 0);
        QCOMPARE(run_weft({"resume", text("unprepared"), "--max-steps", "2"}).code, 0);
    }

    void a_run_that_nothing_can_reach_trains_all_the_same() {
        // A file is in the way of the folder of sockets.
        fs::create_directories(path("tmp"));
        std::ofstream(path("tmp") / ("weft-" + std::to_string(::geteuid()))) << "in the way";
        const Finished run =
            run_weft({"train", config_, "--run-dir", text("alone"), "--max-steps", "1"},
                     {"TMPDIR=" + text("tmp"), "XDG_RUNTIME_DIR="});
        QCOMPARE(run.code, 0);
        QVERIFY2(run.err.find("No other program can control this run") != std::string::npos,
                 run.err.c_str());
    }

    void a_quiet_run_prints_nothing() {
        const Finished quiet =
            run_weft({"train", config_, "--run-dir", text("quiet"), "--max-steps", "1", "--quiet"});
        QCOMPARE(quiet.code, 0);
        QCOMPARE(quiet.out, std::string());
        QCOMPARE(run_weft({"train", config_, "--quiet", "--events"}).code, 2);
    }

    void a_worker_uses_the_folder_that_was_made_for_it() {
        const fs::path run = create_run_folder(path("made"), "tiny");
        fs::copy_file(config_.toStdString(), run / "config.json");
        std::ofstream(run / "logs" / "weft.log") << "a line";
        const QString folder = QString::fromStdString(run.string());
        const QStringList arguments{
            "train", folder + "/config.json", "--base-dir", text("base"), "--run-dir",
            folder,  "--max-steps",           "1"};
        const Finished trained = run_weft(arguments);
        QVERIFY2(trained.code == 0, trained.err.c_str());
        QCOMPARE(read_run_info(run).base_dir, path("base").string());
        // The second time it holds a run.
        QCOMPARE(run_weft(arguments).code, 2);
    }
};

} // namespace

WEFT_TEST(ControlSocketTest)
#include "control_socket_test.moc"
