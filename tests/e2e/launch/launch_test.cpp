// SPDX-License-Identifier: Apache-2.0
// `weft launch` with scripts in place of weft: what it starts, tells and starts again.
#include "core/config/json.h"
#include "core/train/record/run_folder.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/far_host.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

namespace {

using namespace weft::test;
namespace fs = std::filesystem;
namespace train = weft::train;

std::string content_of(const fs::path& file) {
    std::ifstream in(file);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

} // namespace

class LaunchTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;
    int number_ = 0;
    fs::path place_;

    // A script that stands for weft; $place is the folder of the test.
    QString program(const char* body) const {
        const fs::path file = place_ / "it's weft";
        std::ofstream(file) << "#!/bin/sh\nplace='" << place_.string() << "'\n" << body;
        fs::permissions(file, fs::perms::owner_all);
        return QString::fromStdString(file.string());
    }
    QString run_folder() const { return QString::fromStdString((place_ / "run").string()); }
    Finished launch(const char* body, const QStringList& more) const {
        return run_weft(
            QStringList{"launch", config_, "--run-dir", run_folder(), "--program", program(body)} +
                more,
            {"WEFT_RUNS=" + QString::fromStdString((place_ / "runs").string())});
    }

private slots:
    void init() {
        place_ = path(("launch" + std::to_string(++number_)).c_str());
        config_ = write_config(place_ / "a folder's");
    }

    void every_rank_gets_its_place_and_the_same_secret() {
        const Finished run =
            launch("echo \"$WORLD_SIZE $LOCAL_WORLD_SIZE $MASTER_ADDR $MASTER_PORT "
                   "$WEFT_RUN_SECRET\" >\"$place/$RANK.$LOCAL_RANK\"\n"
                   "[ $RANK != 0 ] || printf '<%s>' \"$@\"\n",
                   {"--per-host", "3", "--set", "name=\"a b\"", "--", "--max-steps", "5"});
        QCOMPARE(run.code, 0);
        const std::string first = content_of(place_ / "0.0");
        QVERIFY2(first.starts_with("3 3 127.0.0.1 "), first.c_str());
        QVERIFY(first.size() > 50); // with a secret of 32 digits
        QCOMPARE(content_of(place_ / "1.1"), first);
        QCOMPARE(content_of(place_ / "2.2"), first);
        QCOMPARE(run.out, "<train><" + config_.toStdString() + "><--run-dir><" +
                              run_folder().toStdString() +
                              "><--set><name=\"a b\"><--set><mesh.devices=\"cpu:3\">"
                              "<--max-steps><5>");
    }

    void two_launches_have_two_secrets() {
        std::set<std::string> seen;
        for (int i = 0; i < 2; ++i) {
            launch("[ $RANK != 0 ] || echo $WEFT_RUN_SECRET >\"$place/secret\"\n",
                   {"--per-host", "2"});
            seen.insert(content_of(place_ / "secret"));
        }
        QCOMPARE(seen.size(), std::size_t{2});
    }

    void the_mesh_says_how_many_ranks_there_are() {
        const Finished run =
            launch("[ $RANK != 0 ] || echo $WORLD_SIZE\n", {"--set", "mesh.devices=\"cpu:4\""});
        QCOMPARE(run.out, std::string("4\n"));
        QCOMPARE(launch("", {}).code, 2); // "auto" says nothing
    }

    void what_other_ranks_print_goes_to_stderr_with_their_names() {
        const Finished run = launch("echo out; echo err >&2\n", {"--per-host", "2"});
        QCOMPARE(run.out, std::string("out\n"));
        QVERIFY2(run.err.find("[rank 1 localhost] out\n") != std::string::npos, run.err.c_str());
        QVERIFY2(run.err.find("[rank 1 localhost] err\n") != std::string::npos, run.err.c_str());
    }

    // The first start leaves what a session leaves, and loses a rank.
    void failed_ranks_go_on_with_the_run_and_the_event_tells_it() {
        const Finished run = launch("if [ \"$1\" = train ]; then\n"
                                    "  [ $RANK = 0 ] || kill -KILL $$\n"
                                    "  echo '{}' >\"$place/run/run.json\"; exit 6\n"
                                    "fi\n"
                                    "[ $RANK != 0 ] || printf '<%s>' \"$@\"\n",
                                    {"--per-host", "2", "--restarts", "3"});
        QCOMPARE(run.code, 0);
        QCOMPARE(run.out, "<resume><" + run_folder().toStdString() + ">");
        QVERIFY2(
            run.err.find("restart 1 of at most 3: rank 1 on localhost was killed by signal 9") !=
                std::string::npos,
            run.err.c_str());
        const auto events = events_of(run_folder().toStdString());
        QCOMPARE(events.size(), std::size_t{1});
        const auto* restart = std::get_if<train::RestartEvent>(&events[0].payload);
        QVERIFY(restart != nullptr);
        QCOMPARE(restart->attempt, 1);
        QCOMPARE(restart->most, 3);
        QCOMPARE(restart->exit_code, 6);
        QVERIFY(!train::is_live(run_folder().toStdString()));
    }

    // A host goes with its ranks: those of the others go on, where the run may have fewer.
    void a_host_that_is_gone_is_left_out_where_that_may_be() {
        const FarHost far(place_);
        const char* body = "case $1 in\n"
                           "--version) exec '" WEFT_PROGRAM "' --version ;;\n"
                           "train)\n"
                           "  [ $RANK -lt 2 ] || { : >\"$place/cut\"; kill -KILL $$; }\n"
                           "  while [ ! -e \"$place/cut\" ]; do sleep 0.05; done\n"
                           "  echo '{}' >\"$place/run/run.json\"; exit 6 ;;\n"
                           "esac\n"
                           "[ $RANK != 0 ] || printf '<%s>' $WORLD_SIZE \"$@\"\n";
        const QStringList words{"launch",      config_,       "--run-dir",  run_folder(),
                                "--program",   program(body), "--hosts",    "localhost:2,far:2",
                                "--interface", "lo",          "--restarts", "1",
                                "--elastic"};
        const Finished run = run_weft(words, far.environment());
        QVERIFY2(run.code == 0, run.err.c_str());
        QCOMPARE(run.out, "<2><resume><" + run_folder().toStdString() + "><--elastic>");
        const std::string told = "far does not answer: the run goes on on 2 of 4 ranks";
        QVERIFY2(run.err.find(told) != std::string::npos, run.err.c_str());
        const auto events = events_of(run_folder().toStdString());
        const auto* restart = std::get_if<train::RestartEvent>(&events.at(0).payload);
        QVERIFY(restart != nullptr && restart->reason.find(told) != std::string::npos);
    }

    void the_host_of_rank_0_takes_the_run_with_it() {
        const FarHost far(place_);
        const char* body = "[ $1 != --version ] || exec '" WEFT_PROGRAM "' --version\n"
                           ": >\"$place/cut\"\n"
                           "exit 6\n";
        const QStringList words{"launch",      config_,       "--run-dir",  run_folder(),
                                "--program",   program(body), "--hosts",    "far:1,localhost:1",
                                "--interface", "lo",          "--restarts", "1",
                                "--elastic"};
        const Finished run = run_weft(words, far.environment());
        QVERIFY(run.code != 0);
        QVERIFY2(run.err.find("far has it, and does not answer") != std::string::npos,
                 run.err.c_str());
    }

    void ranks_are_started_again_so_often_and_no_more() {
        const char* body = "[ $RANK != 0 ] || { echo x >>\"$place/starts\"; exit 6; }\n";
        QCOMPARE(launch(body, {"--per-host", "2", "--restarts", "2"}).code, 6);
        QCOMPARE(content_of(place_ / "starts"), std::string("x\nx\nx\n"));
    }

    void every_start_has_a_secret_of_its_own() {
        launch("[ $RANK != 0 ] || { echo $WEFT_RUN_SECRET >>\"$place/secrets\"; exit 6; }\n",
               {"--per-host", "2", "--restarts", "1"});
        const QStringList lines =
            QString::fromStdString(content_of(place_ / "secrets")).split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 2);
        QVERIFY(lines[0] != lines[1]);
    }

    void a_signal_stops_rank_0_which_is_not_started_again() {
        QProcess process;
        process.start(WEFT_PROGRAM,
                      {"launch", config_, "--run-dir", run_folder(), "--per-host", "2",
                       "--restarts", "5", "--program",
                       program("if [ $RANK = 0 ]; then\n"
                               "  trap 'echo saved; exit 75' TERM; trap 'echo checkpoint' USR1\n"
                               "else trap '' TERM; fi\n"
                               "echo ready\n"
                               "while [ ! -e \"$place/over\" ]; do sleep 0.05; done\n")});
        QVERIFY(process.waitForReadyRead(60000));
        QCOMPARE(process.readLine(), QByteArray("ready\n"));
        ::kill(static_cast<pid_t>(process.processId()), SIGUSR1);
        QVERIFY(process.waitForReadyRead(60000));
        QCOMPARE(process.readLine(), QByteArray("checkpoint\n"));
        ::kill(static_cast<pid_t>(process.processId()), SIGTERM);
        QVERIFY(process.waitForReadyRead(60000));
        std::ofstream(place_ / "over") << "";
        QVERIFY(process.waitForFinished(60000));
        QCOMPARE(process.exitCode(), 75);
        QCOMPARE(process.readLine(), QByteArray("saved\n"));
    }

    void a_run_goes_on_in_its_folder_and_changes_are_a_fork() {
        const QString run = QString::fromStdString((place_ / "old").string());
        QCOMPARE(train_weft(config_, run, {"mesh.devices=\"cpu:2\""}, {"--max-steps", "2"}).code,
                 0);
        const char* body = "[ $RANK != 0 ] || printf '<%s>' $WORLD_SIZE \"$@\"\n";
        const QStringList words{"launch", run, "--program", program(body)};
        QCOMPARE(run_weft(words + QStringList{"--", "--max-steps", "5"}).out,
                 "<2><resume><" + run.toStdString() + "><--max-steps><5>");
        const Finished fork = run_weft(words + QStringList{"--per-host", "4"});
        QVERIFY2(fork.out.starts_with("<4><resume><" + run.toStdString() + "><--fork><" +
                                      place_.string()),
                 fork.out.c_str());
        QVERIFY2(fork.out.ends_with("<--set><mesh.devices=\"cpu:4\">"), fork.out.c_str());
    }

    void dry_runs_print_what_would_be_started_and_write_nothing() {
        const QStringList words{"launch", config_, "--dry-run"};
        const QString runs = QString::fromStdString((place_ / "runs").string());
        const auto dry = [&](const QStringList& more) {
            const Finished run = run_weft(words + more, {"WEFT_RUNS=" + runs});
            return run.code == 0 ? run.out : "exit " + std::to_string(run.code) + run.err;
        };
        const auto says = [](const std::string& out, const char* text) {
            return out.find(text) != std::string::npos;
        };
        const std::string here = dry({"--per-host", "2"});
        QVERIFY2(says(here, "RANK=1 WORLD_SIZE=2") && says(here, "_tiny_001"), here.c_str());
        QVERIFY2(!says(here, "ssh"), here.c_str());
        QVERIFY(says(dry({"--hosts", "a:2,b:2"}), "-- b 'exec sh -c"));
        QVERIFY(
            says(dry({"--hosts", "a:2,b:2", "--with", "mpirun"}), "mpirun -n 4 --host a:2,b:2"));
        QVERIFY(says(dry({"--hosts", "a:2,b:2", "--with", "torchrun"}), "--node-rank=1"));
        QVERIFY(
            says(dry({"--nodes", "2", "--per-host", "2", "--with", "slurm"}), "#SBATCH --nodes=2"));
        QVERIFY(
            says(dry({"--nodes", "2", "--per-host", "2", "--image", "weft:1"}), "kind: JobSet"));
        QVERIFY(!says(dry({"--per-host", "2", "--with", "slurm"}), "--nodelist"));
        QVERIFY(!fs::exists(place_ / "runs"));
    }

    void what_cannot_be_started_exits_2_and_leaves_nothing() {
        const QString runs = QString::fromStdString((place_ / "runs").string());
        const QStringList empty_path{"WEFT_RUNS=" + runs, "PATH=/nowhere"};
        const auto refused = [&](const QStringList& more, const char* named) {
            const Finished run = run_weft(QStringList{"launch", config_} + more, empty_path);
            return run.code == 2 && run.err.find(named) != std::string::npos;
        };
        QVERIFY(refused({"--per-host", "2", "--hosts", "a", "--with", "processes"}, "--with ssh"));
        QVERIFY(refused({"--per-host", "2", "--hosts", "a"}, "ssh is not installed"));
        QVERIFY(refused({"--per-host", "2", "--with", "mpirun"}, "mpirun is not installed"));
        QVERIFY(refused({"--per-host", "2", "--with", "slurm"}, "sbatch is not installed"));
        QVERIFY(refused({"--per-host", "2", "--with", "kubernetes"}, "kubectl is not installed"));
        QVERIFY(refused({"--per-host", "2", "--nodes", "2"}, "--hosts"));
        QVERIFY(refused({"--per-host", "2", "--interface", "none0"}, "none0"));
        QVERIFY(refused({"--per-host", "2", "--hosts", "a,a"}, "twice"));
        QVERIFY(refused({"--per-host", "2", "--set", "sede=1"}, "sede"));
        QVERIFY(!fs::exists(place_ / "runs"));
    }
};

WEFT_TEST(LaunchTest)
#include "launch_test.moc"
