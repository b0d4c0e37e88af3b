// SPDX-License-Identifier: Apache-2.0
// Real ranks of a preset, started by real programs: trained to the end, killed and gone on with,
// stopped, queued again.
#include "core/launch/network.h"
#include "core/train/record/run_folder.h"
#include "core/train/record/run_summary.h"
#include "tests/e2e/launch_real/started_programs.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <QDir>

#include <csignal>
#include <memory>

namespace {

using namespace weft::test;
namespace fs = std::filesystem;
namespace train = weft::train;

constexpr int kRealPatienceMs = 120000;

// The process of a rank of the run in `folder`; 0: there is none. As /proc tells it.
pid_t process_of(const QString& folder, int rank) {
    for (const QString& entry : QDir("/proc").entryList(QDir::Dirs)) {
        QFile words("/proc/" + entry + "/cmdline");
        QFile variables("/proc/" + entry + "/environ");
        if (!words.open(QIODevice::ReadOnly) || !variables.open(QIODevice::ReadOnly)) {
            continue;
        }
        const QList<QByteArray> all = variables.readAll().split('\0');
        const QList<QByteArray> line = words.readAll().split('\0');
        const QByteArray number = QByteArray::number(rank);
        const bool is_rank =
            all.contains("RANK=" + number) || all.contains("OMPI_COMM_WORLD_RANK=" + number);
        const bool trains = line.size() > 1 && (line[1] == "train" || line[1] == "resume");
        if (is_rank && trains && line.contains(folder.toUtf8())) {
            return entry.toInt();
        }
    }
    return 0;
}

// ssh itself that leads to a host for this run.
pid_t ssh_to(const QByteArray& host, const QString& folder) {
    for (const QString& entry : QDir("/proc").entryList(QDir::Dirs)) {
        QFile words("/proc/" + entry + "/cmdline");
        if (!words.open(QIODevice::ReadOnly)) {
            continue;
        }
        const QByteArray all = words.readAll();
        const QList<QByteArray> line = all.split('\0');
        if (line[0].endsWith("ssh") && line.contains(host) && all.contains(folder.toUtf8())) {
            return entry.toInt();
        }
    }
    return 0;
}

template <typename T>
int count_of(const fs::path& run) {
    int out = 0;
    for (const train::Event& event : events_of(run)) {
        out += std::holds_alternative<T>(event.payload) ? 1 : 0;
    }
    return out;
}

bool has_saved(const fs::path& run) {
    std::error_code problem;
    return fs::exists(run, problem) && count_of<train::CheckpointEvent>(run) > 0;
}

} // namespace

class RealLaunchTest : public QObject, private TestFolder {
    Q_OBJECT

    std::unique_ptr<SshHosts> hosts_;
    std::string interface_;
    int number_ = 0;
    fs::path run_;

    QString run_text() const { return QString::fromStdString(run_.string()); }
    // Ranks of several hosts do not meet at the loopback.
    QStringList launch_words(QStringList how, int steps) const {
        if (how.contains("--hosts") && !interface_.empty()) {
            how << "--interface" << QString::fromStdString(interface_);
        }
        return QStringList{
                   "launch",    QStringLiteral(WEFT_SOURCE_DIR "/resources/presets/waves-mlp.json"),
                   "--run-dir", run_text(),
                   "--set",     "training.length={\"steps\": " + QString::number(steps) + "}",
                   "--set",     "checkpoint.every={\"steps\": 50}",
                   "--set",     "evaluation.every={\"steps\": 100000}"} +
               how;
    }
    QStringList environment() const {
        return hosts_ && hosts_->problem().isEmpty() ? QStringList{hosts_->path()} : QStringList{};
    }
    void add_ways() const {
        QTest::addColumn<QStringList>("how");
        QTest::newRow("processes, 2") << QStringList{"--per-host", "2"};
        QTest::newRow("processes, 4") << QStringList{"--per-host", "4"};
        QTest::newRow("ssh, 2") << QStringList{"--hosts", "alpha,beta", "--per-host", "1"};
        QTest::newRow("ssh, 4") << QStringList{"--hosts", "alpha:2,beta:2"};
        QTest::newRow("ssh, rank 0 here") << QStringList{
            "--hosts",
            "localhost:1,beta:1",
        };
        QTest::newRow("mpirun, 2") << QStringList{"--per-host", "2", "--with", "mpirun"};
        QTest::newRow("mpirun, 4") << QStringList{"--per-host", "4", "--with", "mpirun"};
    }
    // False: it has ended before, or does not get there.
    bool waited_for_save(QProcess& launch) const {
        const bool saved = QTest::qWaitFor(
            [&] { return has_saved(run_) || launch.state() == QProcess::NotRunning; },
            kRealPatienceMs);
        return saved && launch.state() == QProcess::Running;
    }
    // Empty: it can be started here.
    QString missing(const QStringList& how) const {
        if (how.contains("mpirun") && installed("mpirun").isEmpty()) {
            return "mpirun is not installed";
        }
        if (how.contains("--hosts") && interface_.empty()) {
            return "this machine has no network interface but the loopback";
        }
        return how.contains("--hosts") ? hosts_->problem() : QString();
    }

private slots:
    void initTestCase() {
        hosts_ = std::make_unique<SshHosts>(path("hosts"), QStringList{"alpha", "beta"});
        const auto interfaces = weft::launch::network_interfaces();
        interface_ = interfaces.empty() ? "" : interfaces.front().name;
    }
    void init() { run_ = path(("run" + std::to_string(++number_)).c_str()); }
    void cleanupTestCase() { hosts_.reset(); }

    void a_run_is_trained_to_its_end_data() { add_ways(); }
    void a_run_is_trained_to_its_end() {
        QFETCH(QStringList, how);
        if (const QString why = missing(how); !why.isEmpty()) {
            QSKIP(qPrintable(why));
        }
        const Finished run = run_weft(launch_words(how, 150), environment());
        QVERIFY2(run.code == 0, run.err.c_str());
        QCOMPARE(train::summarise_run(run_).state, std::string("finished"));
        QCOMPARE(count_of<train::StepEvent>(run_), 150);
        QVERIFY(count_of<train::RankEvent>(run_) > 0);
    }

    void a_killed_rank_is_started_again_from_the_last_commit_data() {
        QTest::addColumn<QStringList>("how");
        QTest::addColumn<int>("rank");
        for (const int rank : {0, 1}) {
            const QByteArray name = QByteArray::number(rank);
            QTest::newRow("processes, " + name) << QStringList{"--per-host", "2"} << rank;
            QTest::newRow("ssh, " + name) << QStringList{"--hosts", "alpha:1,beta:1"} << rank;
            QTest::newRow("mpirun, " + name)
                << QStringList{"--per-host", "2", "--with", "mpirun"} << rank;
        }
    }
    void a_killed_rank_is_started_again_from_the_last_commit() {
        QFETCH(QStringList, how);
        QFETCH(int, rank);
        if (const QString why = missing(how); !why.isEmpty()) {
            QSKIP(qPrintable(why));
        }
        QProcess launch;
        launch.setEnvironment(QProcess::systemEnvironment() + environment());
        launch.start(WEFT_PROGRAM, launch_words(how + QStringList{"--restarts", "2"}, 600));
        QVERIFY2(waited_for_save(launch), launch.readAllStandardError());
        const pid_t victim = process_of(run_text(), rank);
        QVERIFY(victim > 0);
        QCOMPARE(::kill(victim, SIGKILL), 0);
        QVERIFY(launch.waitForFinished(kRealPatienceMs));
        const QByteArray told = launch.readAllStandardError();
        QVERIFY2(launch.exitCode() == 0, told);
        QVERIFY2(told.contains("restart 1 of at most 2"), told);
        QCOMPARE(count_of<train::RestartEvent>(run_), 1);
        QCOMPARE(count_of<train::ResumedEvent>(run_), 1);
        QCOMPARE(train::summarise_run(run_).state, std::string("finished"));
        QCOMPARE(process_of(run_text(), rank), 0);
    }

    void the_users_signal_saves_and_stops_data() {
        QTest::addColumn<QStringList>("how");
        QTest::newRow("processes") << QStringList{"--per-host", "2"};
        QTest::newRow("ssh") << QStringList{"--hosts", "alpha:1,beta:1"};
        QTest::newRow("mpirun") << QStringList{"--per-host", "2", "--with", "mpirun"};
    }
    void the_users_signal_saves_and_stops() {
        QFETCH(QStringList, how);
        if (const QString why = missing(how); !why.isEmpty()) {
            QSKIP(qPrintable(why));
        }
        QProcess launch;
        launch.setEnvironment(QProcess::systemEnvironment() + environment());
        launch.start(WEFT_PROGRAM, launch_words(how + QStringList{"--restarts", "2"}, 1000000));
        QVERIFY2(waited_for_save(launch), launch.readAllStandardError());
        launch.terminate();
        QVERIFY(launch.waitForFinished(kRealPatienceMs));
        QCOMPARE(launch.exitCode(), kExitStopped);
        QCOMPARE(train::summarise_run(run_).state, std::string("stopped"));
        QCOMPARE(count_of<train::RestartEvent>(run_), 0);
        QCOMPARE(process_of(run_text(), 1), 0);
    }

    // Rank 1 goes on, out of sight: rank 0 is told to stop, and saves with it.
    void a_lost_connection_saves_and_starts_again() {
        if (const QString why = missing({"--hosts"}); !why.isEmpty()) {
            QSKIP(qPrintable(why));
        }
        QProcess launch;
        launch.setEnvironment(QProcess::systemEnvironment() + environment());
        launch.start(WEFT_PROGRAM,
                     launch_words({"--hosts", "alpha:1,beta:1", "--restarts", "2"}, 600));
        QVERIFY2(waited_for_save(launch), launch.readAllStandardError());
        const pid_t connection = ssh_to("beta", run_text());
        QVERIFY(connection > 0);
        QCOMPARE(::kill(connection, SIGKILL), 0);
        QVERIFY(launch.waitForFinished(kRealPatienceMs));
        const QByteArray told = launch.readAllStandardError();
        QVERIFY2(launch.exitCode() == 0, told);
        QCOMPARE(count_of<train::RestartEvent>(run_), 1);
        QCOMPARE(train::summarise_run(run_).state, std::string("finished"));
    }

    void ranks_whose_launcher_is_killed_save_and_end() {
        QProcess launch;
        launch.start(WEFT_PROGRAM, launch_words({"--per-host", "2"}, 1000000));
        QVERIFY2(waited_for_save(launch), launch.readAllStandardError());
        QVERIFY(train::is_live(run_));
        launch.kill();
        launch.waitForFinished();
        QTRY_VERIFY_WITH_TIMEOUT(process_of(run_text(), 0) == 0, kRealPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(process_of(run_text(), 1) == 0, kRealPatienceMs);
        QVERIFY(!train::is_live(run_));
        QCOMPARE(train::summarise_run(run_).state, std::string("stopped"));
    }

    void another_version_on_a_host_ends_it_before_anything_is_written() {
        if (const QString why = missing({"--hosts"}); !why.isEmpty()) {
            QSKIP(qPrintable(why));
        }
        const Finished run =
            run_weft(launch_words({"--hosts", "alpha:1,beta:1", "--program", "/bin/false"}, 150),
                     environment());
        QCOMPARE(run.code, 2);
        QVERIFY2(run.err.find("alpha cannot run /bin/false") != std::string::npos, run.err.c_str());
        QVERIFY(!fs::exists(run_));
    }

    // What Slurm does before the time limit (--signal=B:USR1@120), without the wait.
    void a_slurm_job_is_saved_and_queued_again() {
        const SlurmNode slurm(path("slurm"));
        if (!slurm.problem().isEmpty()) {
            QSKIP(qPrintable(slurm.problem()));
        }
        const Finished handed =
            run_weft(launch_words({"--per-host", "2", "--with", "slurm", "--time", "30"}, 1000),
                     {slurm.variable()});
        QVERIFY2(handed.code == 0, handed.err.c_str());
        const QString job = QString::fromStdString(handed.out)
                                .section("Submitted batch job ", 1, 1)
                                .section('\n', 0, 0);
        QVERIFY(!job.isEmpty());
        QTRY_VERIFY_WITH_TIMEOUT(has_saved(run_), kRealPatienceMs);
        QCOMPARE(said_by("scancel", {"--batch", "--signal=USR1", job}, {slurm.variable()}).code, 0);
        QTRY_COMPARE_WITH_TIMEOUT(slurm.field_of(job, "Restarts"), QString("1"), kRealPatienceMs);
        QCOMPARE(train::summarise_run(run_).state, std::string("stopped"));
        // Slurm lets a job that was queued again wait for two minutes, unless it is told not to.
        const bool over = QTest::qWaitFor(
            [&] {
                const QString state = slurm.field_of(job, "JobState");
                if (state == "PENDING") {
                    said_by("scontrol", {"update", "JobId=" + job, "StartTime=now"},
                            {slurm.variable()});
                }
                return state == "COMPLETED" || state == "FAILED";
            },
            2 * kRealPatienceMs);
        QVERIFY(over);
        QCOMPARE(slurm.field_of(job, "JobState"), QString("COMPLETED"));
        QCOMPARE(train::summarise_run(run_).state, std::string("finished"));
        QCOMPARE(count_of<train::ResumedEvent>(run_), 1);
    }

    // As tests/e2e/hosts has it with a script: the connection that is shared, the socket that is
    // forwarded and rsync are OpenSSH's and rsync's own here.
    void a_run_of_a_host_is_followed_and_commanded() {
        if (!hosts_->problem().isEmpty()) {
            QSKIP(qPrintable(hosts_->problem()));
        }
        const QString runs = QString::fromStdString(path("mirrors").string());
        const QStringList around = environment() + QStringList{"WEFT_RUNS=" + runs};
        const auto weft = [&](const QStringList& words) { return run_weft(words, around); };
        QCOMPARE(weft({"hosts", "add", "alpha", "--program", WEFT_PROGRAM, "--runs",
                       QString::fromStdString(path("there").string())})
                     .code,
                 0);
        const Finished begun =
            weft({"hosts", "start", "alpha",
                  QStringLiteral(WEFT_SOURCE_DIR "/resources/presets/waves-mlp.json"), "--set",
                  "training.length={\"steps\": 100000000}", "--set",
                  "evaluation.every={\"steps\": 100000000}"});
        QVERIFY2(begun.code == 0, begun.err.c_str());
        const fs::path there = QString::fromStdString(begun.out).trimmed().toStdString();
        const fs::path here = path("mirrors") / there.filename();
        QProcess follower;
        follower.setProgram(WEFT_PROGRAM);
        follower.setArguments(
            {"hosts", "follow", "alpha", QString::fromStdString(there.filename().string())});
        follower.setEnvironment(QProcess::systemEnvironment() + around);
        follower.start();
        QTRY_VERIFY_WITH_TIMEOUT(train::is_run_folder(here) && train::is_live(here), 30000);
        const Finished told = weft({"tell", QString::fromStdString(here.string()), "stop"});
        QVERIFY2(told.code == 0, told.err.c_str());
        QVERIFY(follower.waitForFinished(60000));
        QCOMPARE(follower.exitCode(), 0);
        QCOMPARE(events_of(here).size(), events_of(there).size());
        QCOMPARE(train::summarise_run(here).state, std::string("stopped"));
    }
};

WEFT_TEST(RealLaunchTest)
#include "real_launch_test.moc"
