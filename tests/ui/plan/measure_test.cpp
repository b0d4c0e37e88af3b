// SPDX-License-Identifier: GPL-3.0-or-later
// Measuring this machine from the studio: what is said meanwhile, how it ends, how it is cancelled.
#include "core/train/measure/machine_cost.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/machine_measure.h"
#include "widgets/controls/text_label.h"

#include <QPushButton>
#include <QSignalSpy>

#include <fstream>

namespace {

using namespace weft;
using test::kPatienceMs;
namespace fs = std::filesystem;

/// A worker that says what it is told to, waits for a file "go" and ends; and what measures by it.
struct Fake {
    explicit Fake(const std::string& ending) {
        std::ofstream(worker()) << "#!/bin/sh\n"
                                << "[ \"$*\" = 'bench machine' ] || exit 9\n"
                                << "echo 'measuring ceilings' >&2\n"
                                << "echo 'measuring training steps of a' >&2\n"
                                << "while [ ! -e '" << go().string() << "' ]; do sleep 0.02; done\n"
                                << ending << "\n";
        fs::permissions(worker(), fs::perms::owner_all);
    }
    fs::path root() const { return dir.path().toStdString(); }
    fs::path worker() const { return root() / "weft"; }
    fs::path go() const { return root() / "go"; }

    QTemporaryDir dir;
    ui::MachineMeasure measure{worker(), root() / "calibration.json",
                               root() / "log" / "measure.log"};
};

} // namespace

class MeasureTest : public QObject {
    Q_OBJECT

private slots:
    void it_says_what_is_measured_and_what_is_known_at_the_end() {
        Fake fake("exit 0");
        QSignalSpy measured(&fake.measure, &ui::MachineMeasure::measured);
        fake.measure.refresh();
        QTRY_VERIFY(fake.measure.known().machine.threads > 0);
        QVERIFY(!fake.measure.known().ceilings.has_value());
        QCOMPARE(fake.measure.start(), QString());
        QVERIFY(fake.measure.isRunning());
        QTRY_COMPARE(fake.measure.doing(), QString("measuring training steps of a"));
        cost::Calibration taught{train::machine_key(0), cost::Ceilings{}, {}};
        taught.ceilings->limits = {1e9, 1e9, 1e9, 1e-6};
        taught.ceilings->measured_time = 1234567890;
        cost::write_calibration(fake.root() / "calibration.json", taught);
        std::ofstream(fake.go()) << "now";
        QTRY_COMPARE(measured.size(), 1);
        QVERIFY(!fake.measure.isRunning());
        QTRY_VERIFY(fake.measure.known().ceilings.has_value());
        QCOMPARE(fake.measure.known().ceilings->measured_time, 1234567890.0);
    }

    void a_worker_that_fails_is_quoted() {
        Fake fake("echo 'weft: error: no memory for this' >&2; exit 3");
        QSignalSpy measured(&fake.measure, &ui::MachineMeasure::measured);
        QSignalSpy failed(&fake.measure, &ui::MachineMeasure::failed);
        std::ofstream(fake.go()) << "now";
        QCOMPARE(fake.measure.start(), QString());
        QTRY_COMPARE(failed.size(), 1);
        QVERIFY(failed[0][0].toString().contains("no memory for this"));
        QCOMPARE(measured.size(), 0);
    }

    void a_worker_that_is_not_there_is_named() {
        QTemporaryDir dir;
        const fs::path root = dir.path().toStdString();
        ui::MachineMeasure measure(root / "nothing", root / "calibration.json", root / "log");
        QVERIFY(measure.start().contains("nothing"));
        QVERIFY(!measure.isRunning());
    }

    void settings_measure_this_machine_and_a_cancelled_measurement_leaves_nothing() {
        test::StudioFixture fixture;
        fixture.window().actions().get(ui::action::kMeasure)->trigger();
        const auto* state = qobject_cast<widgets::TextLabel*>(fixture.find("measureState"));
        auto* button = qobject_cast<QPushButton*>(fixture.find("measureMachine"));
        QVERIFY(state->isVisible() && button->isVisible());
        QCOMPARE(button->text(), QString("Measure this machine"));
        QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(button->text(), QString("Cancel"));
        QTRY_VERIFY_WITH_TIMEOUT(state->text().startsWith("measuring"), kPatienceMs);
        QTest::mouseClick(button, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().measure().isRunning(), kPatienceMs);
        QCOMPARE(button->text(), QString("Measure this machine"));
        QVERIFY2(state->text().startsWith("Not measured yet"), qPrintable(state->text()));
        QVERIFY(!fs::exists(test::StudioFixture::calibration()));
        for (const auto& left :
             fs::directory_iterator(test::StudioFixture::calibration().parent_path())) {
            QVERIFY2(!left.path().filename().string().starts_with("bench-"), left.path().c_str());
        }
    }
};

WEFT_TEST(MeasureTest)
#include "measure_test.moc"
