// SPDX-License-Identifier: Apache-2.0
// What the program is started in: few descriptors, none at all, output that nobody can keep, data
// that are no files. It says so and ends; it never hangs.
#include "core/train/record/run_summary.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <csignal>
#include <fstream>
#include <set>
#include <sys/stat.h>

namespace {

using namespace weft::test;
using namespace weft::train;
using weft::config::Json;
using weft::config::json_of;
namespace fs = std::filesystem;

constexpr int kShellPatienceMs = 60000; // a run of two steps takes a second

/// `weft ARGUMENTS` by a shell that does `before` first and redirects by `after`.
Finished run_in_shell(const QString& before, const QStringList& arguments, const QString& after) {
    QProcess process;
    process.start("/bin/sh", QStringList{"-c", before + "; exec \"$0\" \"$@\" " + after,
                                         QStringLiteral(WEFT_PROGRAM)} +
                                 arguments);
    Finished out;
    if (!process.waitForFinished(kShellPatienceMs)) {
        process.kill();
        process.waitForFinished();
    } else if (process.exitStatus() == QProcess::NormalExit) {
        out.code = process.exitCode();
    }
    out.out = process.readAllStandardOutput().toStdString();
    out.err = process.readAllStandardError().toStdString();
    return out;
}

class SurroundingsTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;

private slots:
    void initTestCase() { config_ = write_config(path("configs")); }

    // 3 is what standard input, output and error take.
    void with_few_descriptors_it_trains_or_says_why_not() {
        int finished = 0;
        for (int most = 3; most <= 64; ++most) {
            const QString run = text(QStringLiteral("run-%1").arg(most));
            const Finished done =
                run_in_shell(QStringLiteral("ulimit -n %1").arg(most),
                             {"train", config_, "--run-dir", run, "--max-steps", "2"}, "");
            const std::string told = std::to_string(most) + " descriptors: exit " +
                                     std::to_string(done.code) + ", " + done.err;
            // 127: the system could not even load the program's libraries.
            QVERIFY2((std::set<int>{0, 1, 2, 3, 127}).contains(done.code), told.c_str());
            QVERIFY2(done.code == 0 || !done.err.empty(), told.c_str());
            finished += done.code == 0 ? 1 : 0;
            if (done.code != 127 && fs::exists(fs::path(run.toStdString()) / "run.json")) {
                const std::string state = summarise_run(run.toStdString()).state;
                QVERIFY2(state != "running" && state != "starting", (told + state).c_str());
            }
        }
        QVERIFY2(finished >= 40, std::to_string(finished).c_str());
    }

    // libgomp tells by itself what it took from the environment.
    void threads_wait_briefly_for_each_other_unless_the_user_has_chosen() {
        const QString shown =
            "unset GOMP_SPINCOUNT OMP_WAIT_POLICY; export OMP_DISPLAY_ENV=verbose";
        const auto doctor = [&](const QString& chosen) {
            return run_in_shell(shown + chosen, {"doctor", "--json"}, "");
        };
        const auto set_by = [](const Finished& done) {
            return json_of(done.out)["thread_waiting"]["set_by"].get<std::string>();
        };
        const Finished plain = doctor("");
        QVERIFY2(plain.err.ends_with("OPENMP DISPLAY ENVIRONMENT END\n"), plain.err.c_str());
        QVERIFY2(plain.err.find("GOMP_SPINCOUNT = '20000'") != std::string::npos,
                 plain.err.c_str());
        QCOMPARE(set_by(plain), std::string("weft"));
        const Finished count = doctor("; export GOMP_SPINCOUNT=77");
        QVERIFY2(count.err.find("GOMP_SPINCOUNT = '77'") != std::string::npos, count.err.c_str());
        QCOMPARE(set_by(count), std::string("user"));
        const Finished policy = doctor("; export OMP_WAIT_POLICY=active");
        QVERIFY2(policy.err.find("GOMP_SPINCOUNT = '20000'") == std::string::npos,
                 policy.err.c_str());
        QCOMPARE(set_by(policy), std::string("user"));
    }

    // oneDNN computes wrong numbers in a team that is smaller than it was told.
    void limits_of_openmp_change_no_number() {
        const auto train = [&](const QString& before, const QString& run) {
            return run_in_shell(before,
                                {"train", config_, "--run-dir", text(run), "--max-steps", "9"}, "");
        };
        const Finished one = train("export OMP_THREAD_LIMIT=1", "limited");
        QVERIFY2(one.code == 0, one.err.c_str());
        const Finished dynamic = train("export OMP_DYNAMIC=true", "dynamic");
        QVERIFY2(dynamic.code == 0, dynamic.err.c_str());
        const auto threads = [&](const QString& run) {
            for (const Event& event : events_of(text(run).toStdString())) {
                if (const auto* system = std::get_if<SystemEvent>(&event.payload)) {
                    return system->devices[0]["threads"].get<int>();
                }
            }
            return 0;
        };
        QCOMPARE(threads("limited"), 1);
        for (const QString& run : {QString("limited"), QString("dynamic")}) {
            const QString same = run + "_as_asked";
            const Finished asked =
                train("export OMP_NUM_THREADS=" + QString::number(threads(run)), same);
            QVERIFY2(asked.code == 0, asked.err.c_str());
            const Finished diff =
                run_in_shell(":", {"checkpoint", "diff", text(run), text(same)}, "");
            QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
        }
    }

    void output_that_cannot_be_kept_exits_1_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("plan --json") << QStringList{"plan", config_, "--json"};
        QTest::newRow("plan") << QStringList{"plan", config_};
        QTest::newRow("check") << QStringList{"check", config_};
        QTest::newRow("check --json") << QStringList{"check", config_, "--json"};
        QTest::newRow("help config") << QStringList{"help", "config"};
        QTest::newRow("help schema") << QStringList{"help", "schema"};
        QTest::newRow("doctor") << QStringList{"doctor"};
        QTest::newRow("--help") << QStringList{"--help"};
        QTest::newRow("train") << QStringList{"train", config_,     "--max-steps",
                                              "1",     "--run-dir", text("full")};
    }

    void output_that_cannot_be_kept_exits_1() {
        QFETCH(QStringList, arguments);
        const Finished done = run_in_shell(":", arguments, ">/dev/full");
        QCOMPARE(done.code, 1);
        QVERIFY2(done.err.find("standard output cannot be written") != std::string::npos,
                 done.err.c_str());
    }

    void a_reader_that_has_enough_is_no_fault() {
        QProcess shell;
        // The reader is gone before anything is written.
        shell.start("/bin/sh", {"-c",
                                "{ \"$0\" help schema; echo \"exit $?\" >&2; } | "
                                "exec true",
                                QStringLiteral(WEFT_PROGRAM)});
        QVERIFY(shell.waitForFinished(kShellPatienceMs));
        const std::string told = shell.readAllStandardError().toStdString();
        QCOMPARE(told, std::string("exit 0\n"));
    }

    void closed_standard_descriptors_lead_to_nowhere() {
        QProcess process;
        const QString run = text("closed");
        process.start("/bin/sh", {"-c", "exec \"$0\" \"$@\" <&- >&- 2>&-",
                                  QStringLiteral(WEFT_PROGRAM), "train", config_, "--run-dir", run,
                                  "--set", "training.length={\"steps\": 100000000}"});
        QVERIFY(process.waitForStarted(kShellPatienceMs));
        const auto trains = [&] {
            for (const Event& event : events_of(run.toStdString())) {
                if (std::holds_alternative<StepEvent>(event.payload)) {
                    return true;
                }
            }
            return false;
        };
        QTRY_VERIFY_WITH_TIMEOUT(trains(), kShellPatienceMs);
        const fs::path descriptors = fs::path("/proc") / std::to_string(process.processId()) / "fd";
        for (const char* number : {"0", "1", "2"}) {
            QCOMPARE(fs::read_symlink(descriptors / number), fs::path("/dev/null"));
        }
        ::kill(static_cast<pid_t>(process.processId()), SIGTERM);
        QVERIFY(process.waitForFinished(kShellPatienceMs));
        QCOMPARE(process.exitCode(), kExitStopped);
    }

    void a_pipe_as_data_is_refused_at_once() {
        const fs::path pipe = path("pipe");
        QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
        for (const char* format : {"csv", "text", "npy"}) {
            Json document = json_of(R"({"model": {"type": "mlp", "hidden": [8]}})");
            if (std::string(format) == "text") {
                document["model"] = {{"type", "gpt2"}, {"variant", "124m"}};
            }
            document["data"]["train"] = {
                {"type", format},
                {std::string(format) == "npy" ? "inputs" : "path", pipe.string()}};
            const fs::path config = path(format);
            std::ofstream(config) << document.dump();
            for (const char* command : {"check", "plan", "train"}) {
                QStringList arguments{command, QString::fromStdString(config.string())};
                if (std::string(command) == "train") {
                    arguments << "--run-dir" << text(QStringLiteral("run-") + format);
                }
                const Finished done = run_in_shell(":", arguments, "");
                QVERIFY2(done.code == 3, (std::string(command) + " " + format + ": exit " +
                                          std::to_string(done.code) + " " + done.err)
                                             .c_str());
                QVERIFY2(done.err.find("this is a pipe") != std::string::npos, done.err.c_str());
            }
        }
    }

    void numbers_that_hide_all_others_are_told_by_check_plan_and_train() {
        std::ofstream(path("wild.csv")) << "a,kind\n1,x\n1e300,y\n3,x\n4,y\n2,x\n";
        const Json document = json_of(R"({"data": {"train": {"type": "csv", "path": "wild.csv"}},
                                          "model": {"type": "mlp", "hidden": [8]}})");
        std::ofstream(path("wild.json")) << document.dump();
        for (const char* command : {"check", "plan", "train"}) {
            QStringList arguments{command, text("wild.json")};
            if (std::string(command) == "train") {
                arguments << "--run-dir" << text("wild") << "--max-steps"
                          << "1";
            }
            const Finished done = run_weft(arguments);
            QVERIFY2(done.code == 0, done.err.c_str());
            QVERIFY2((done.err + done.out).find("column 'a' reach 1e+300") != std::string::npos,
                     (std::string(command) + ": " + done.err + done.out).c_str());
        }
    }
};

} // namespace

WEFT_TEST(SurroundingsTest)
#include "surroundings_test.moc"
