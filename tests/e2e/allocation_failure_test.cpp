// SPDX-License-Identifier: Apache-2.0
// Memory that is refused, at any place through compiling and the first step: a message, a true
// state, no crash, no hang. WEFT_ALLOCATION_RUNS sets how many places are tried (a heavy test tries
// many), WEFT_ALLOCATION_FROM which of them is the first.
#include "core/train/record/run_summary.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <QFile>

#include <set>

namespace {

using namespace weft;
using namespace weft::test;
namespace fs = std::filesystem;

constexpr long kRunsByDefault = 60;
constexpr long kRefusedInARow = 2000; // of a machine that gets memory back a while later

class AllocationFailureTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;
    int runs_ = 0;

    /// Trains one step in an own folder and checks how that ended; whether it went well.
    bool trains(const Finished& done, const fs::path& run, const std::string& what) {
        const std::string told = what + ": exit " + std::to_string(done.code) + ", " + done.err;
        // 0: the refusal was absorbed. The others are exits with a message.
        if (!(std::set<int>{0, 1, 2, 3, 4}).contains(done.code) ||
            (done.code != 0 && done.err.find("weft: ") == std::string::npos)) {
            qWarning("%s", told.c_str());
            return false;
        }
        if (fs::exists(run / "run.json")) {
            const train::RunSummary summary = train::summarise_run(run);
            const bool in_progress = summary.state == "running" || summary.state == "preparing";
            if (in_progress || !summary.problem.empty() ||
                (done.code == 0) != (summary.state == "finished" || summary.state == "stopped")) {
                qWarning("%s, but its state is %s %s", told.c_str(), summary.state.c_str(),
                         summary.problem.c_str());
                return false;
            }
        }
        fs::remove_all(run);
        return true;
    }

    QStringList arguments(const fs::path& run) const {
        return {"train",       config_, "--run-dir", QString::fromStdString(run.string()),
                "--max-steps", "1"};
    }

    fs::path next_run() { return path(("run-" + std::to_string(++runs_)).c_str()); }

private slots:
    void initTestCase() {
        config_ = write_config(path("configs"), config::json_of(R"({
            "data": {"train": {"samples": 64}, "validation": null},
            "checkpoint": {"metric": "train/loss"},
            "training": {"global_batch_size": 16, "early_stopping": null}})"));
    }

    void every_refusal_is_absorbed_or_said() {
#ifndef WEFT_FAILING_ALLOCATOR
        QSKIP("the programs have the allocator of the C library, or of a sanitizer");
#else
        const QStringList refusing = {"LD_PRELOAD=" WEFT_FAILING_ALLOCATOR, "GOMP_SPINCOUNT=600"};
        const QString count_file = text("count");
        const fs::path counted = next_run();
        const Finished whole =
            run_weft(arguments(counted), refusing + QStringList{"FAIL_COUNT_TO=" + count_file});
        QVERIFY2(trains(whole, counted, "counted"), whole.err.c_str());
        QCOMPARE(whole.code, 0);
        QFile file(count_file);
        QVERIFY(file.open(QFile::ReadOnly));
        const long count = file.readAll().trimmed().toLong();
        QVERIFY2(count > 10000, std::to_string(count).c_str());

        bool given = false;
        const long asked = qEnvironmentVariableIntValue("WEFT_ALLOCATION_RUNS", &given);
        const long runs = given ? asked : kRunsByDefault;
        int told = 0;
        bool good = true;
        for (long i = qEnvironmentVariableIntValue("WEFT_ALLOCATION_FROM"); i < runs; ++i) {
            const long first = 1 + count * i / runs;
            const long last = first + (i % 2 == 0 ? 1 : kRefusedInARow);
            const fs::path run = next_run();
            const Finished done = run_weft(
                arguments(run), refusing + QStringList{QString("FAIL_AT=%1").arg(first),
                                                       QString("FAIL_UNTIL=%1").arg(last)});
            good = trains(done, run,
                          "refused " + std::to_string(first) + " to " + std::to_string(last)) &&
                   good;
            told += done.code == 4 ? 1 : 0;
        }
        QVERIFY(good);
        QVERIFY2(told > 0, "nothing was refused");
#endif
    }

    void limits_of_addresses_are_told() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        QSKIP("a sanitizer takes terabytes of addresses for itself");
#endif
        int finished = 0;
        bool good = true;
        // Below, the libraries that the program is linked to leave nothing for its first object.
        for (int mib = 150; mib <= 1000; mib += 50) {
            const fs::path run = next_run();
            QProcess process;
            process.start("/bin/sh",
                          QStringList{"-c",
                                      QString("ulimit -v %1; exec \"$0\" \"$@\"").arg(mib << 10),
                                      QStringLiteral(WEFT_PROGRAM)} +
                              arguments(run));
            Finished done;
            if (process.waitForFinished(60000) && process.exitStatus() == QProcess::NormalExit) {
                done.code = process.exitCode();
            }
            done.err = process.readAllStandardError().toStdString();
            // 127: the system could not even load the program's libraries, which may say so too.
            const bool never_began =
                done.code == 127 || done.err.find("libgomp: ") != std::string::npos;
            good = (never_began || trains(done, run, std::to_string(mib) + " MiB")) && good;
            finished += done.code == 0 ? 1 : 0;
        }
        QVERIFY(good);
        QVERIFY(finished > 0 && finished < 17);
    }
};

} // namespace

WEFT_TEST(AllocationFailureTest)
#include "allocation_failure_test.moc"
