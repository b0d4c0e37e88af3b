// SPDX-License-Identifier: Apache-2.0
// Training steps beside a busy core. Times are whatever they are: what is checked is what is
// measured, in which order, and that nothing stays behind.
#include "core/train/measure/busy_core.h"

#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"
#include "tests/unit/train/small_run.h"

#include <QTemporaryDir>

using namespace weft;
using namespace weft::train;
using weft::test::small_run;

class BusyCoreTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    BusyCoreOptions quick(std::vector<std::string>& said) const {
        BusyCoreOptions options;
        options.seconds_each = 0.02;
        options.folder = std::filesystem::path(folder_.path().toStdString()) / "bench";
        options.progress = [&said](const std::string& what) { said.push_back(what); };
        return options;
    }

private slots:
    void every_configuration_is_timed_alone_and_beside_it_after_the_limit() {
        std::vector<std::string> said;
        const BusyCoreOptions options = quick(said);
        const std::vector<compile::RunConfig> configs = {small_run("one", 32, 64),
                                                         small_run("two", 64, 128)};
        const BusyCoreReport report = measure_beside_busy_core(configs, options);
        QCOMPARE(said,
                 (std::vector<std::string>{"threads that do not wait for each other",
                                           "training steps of one", "training steps of two"}));
        QCOMPARE(report.limit.name, std::string("independent threads"));
        QVERIFY(report.limit.alone_ms > 0 && report.limit.busy_ms > 0);
        QCOMPARE(report.steps.size(), configs.size());
        for (std::size_t i = 0; i < configs.size(); ++i) {
            const BusyTiming& step = report.steps[i];
            QCOMPARE(step.name, configs[i].name);
            QVERIFY(step.alone_ms > 0 && step.busy_ms > 0);
            QCOMPARE(step.ratio() * step.alone_ms, step.busy_ms);
        }
        QVERIFY(!std::filesystem::exists(options.folder));
    }

    void a_measurement_that_is_stopped_says_so_and_leaves_nothing() {
        for (const std::size_t at : {std::size_t{1}, std::size_t{2}}) {
            std::vector<std::string> said;
            std::stop_source stop;
            BusyCoreOptions options = quick(said);
            options.stop = stop.get_token();
            options.progress = [&](const std::string& what) {
                said.push_back(what);
                if (said.size() == at) {
                    stop.request_stop();
                }
            };
            const std::vector<compile::RunConfig> configs = {small_run("one", 32, 64)};
            const auto error = test::error_of([&] { measure_beside_busy_core(configs, options); });
            QVERIFY(error.has_value());
            QCOMPARE(error->kind(), ErrorKind::runtime);
            QCOMPARE(error->text(), std::string("the measurement was stopped"));
            QCOMPARE(said.size(), at); // and nothing else was begun
            QVERIFY(!std::filesystem::exists(options.folder));
        }
    }
};

WEFT_TEST(BusyCoreTest)
#include "busy_core_test.moc"
