// SPDX-License-Identifier: Apache-2.0
// weft bench without its measurements, which take a minute (tests/e2e/presets has one): suites are
// listed, wrong names refused, and who waits no longer gets the prompt back.
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <csignal>

using namespace weft::test;
using weft::config::Json;
using weft::config::json_of;

class BenchTest : public QObject, private TestFolder {
    Q_OBJECT
private slots:
    void suites_are_listed() {
        const Finished listed = run_weft({"bench"});
        QCOMPARE(listed.code, 0);
        QVERIFY(listed.out.starts_with("machine "));
        const Finished json = run_weft({"bench", "--json"});
        QCOMPARE(json.code, 0);
        QCOMPARE(json_of(json.out)["suites"][0]["name"].get<std::string>(), std::string("machine"));
    }

    void an_unknown_suite_exits_2_with_the_nearest() {
        const Finished wrong = run_weft({"bench", "machin"});
        QCOMPARE(wrong.code, 2);
        QVERIFY2(wrong.err.find("Did you mean 'machine'") != std::string::npos, wrong.err.c_str());
    }

    void a_measurement_that_is_interrupted_says_so_and_leaves_nothing_data() {
        QTest::addColumn<QString>("suite");
        QTest::newRow("machine") << "machine";
        QTest::newRow("load") << "load";
    }

    void a_measurement_that_is_interrupted_says_so_and_leaves_nothing() {
        QFETCH(QString, suite);
        QProcess process;
        process.setProgram(QStringLiteral(WEFT_PROGRAM));
        process.setArguments({"bench", suite});
        process.setEnvironment(QProcess::systemEnvironment() +
                               QStringList{"XDG_CACHE_HOME=" + text(suite)});
        process.setReadChannel(QProcess::StandardError);
        process.start();
        while (!process.canReadLine()) {
            QVERIFY(process.waitForReadyRead());
        }
        const QByteArray begun = process.readLine();
        QVERIFY2(begun.startsWith("measuring "), begun.constData());
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished());
        const QByteArray said = process.readAllStandardError();
        QVERIFY2(said.contains("the measurement was stopped"), said.constData());
        QCOMPARE(process.exitCode(), 1);
        QCOMPARE(process.readAllStandardOutput(), QByteArray());
        QVERIFY(std::filesystem::is_empty(path(suite.toStdString().c_str()) / "weft"));
    }
};

WEFT_TEST(BenchTest)
#include "bench_test.moc"
