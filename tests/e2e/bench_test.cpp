// SPDX-License-Identifier: Apache-2.0
// weft bench without its measurements, which take a minute: suites are listed, wrong names refused.
#include "tests/e2e/weft_process.h"
#include "tests/support/weft_test.h"

using namespace weft::test;
using weft::config::Json;
using weft::config::json_of;

class BenchTest : public QObject {
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
};

WEFT_TEST(BenchTest)
#include "bench_test.moc"
