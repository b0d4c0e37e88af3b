// SPDX-License-Identifier: GPL-3.0-or-later
// A disk that fills up while the studio watches: the run waits, the studio says why, and what the
// user does next loses nothing.
#include "tests/support/full_disk.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/models/problem_model.h"

#include <QLabel>
#include <QTableView>

namespace {

using namespace weft;
using test::kPatienceMs;
using train::RunState;

// Less than a checkpoint of the run (270 thousand parameters, each with its two moments, in f32),
// more than the events of many thousand updates.
constexpr rlim_t kNoRoomForCheckpoints = 1 << 20;

std::string wide_config() {
    config::Json document = config::json_of(test::tiny_config());
    document["model"]["hidden"] = {512, 512};
    document["optimizer"] = {{"type", "adamw"}};
    document["training"]["length"] = {{"steps", 100000000}};
    document["checkpoint"]["every"] = {{"steps", 100000000}};
    document["evaluation"]["every"] = {{"steps", 100000000}};
    return document.dump();
}

pid_t worker_of_run(test::StudioFixture& fixture) {
    const auto lock = train::read_lock(fixture.studio().run().folder());
    return lock ? static_cast<pid_t>(lock->pid) : 0;
}

/// Whether a row of the Problems dock says all of these.
bool is_said(test::StudioFixture& fixture, const QStringList& words) {
    const QAbstractItemModel* rows =
        static_cast<QTableView*>(fixture.find("problemsTable"))->model();
    for (int row = 0; row < rows->rowCount(); ++row) {
        QString line;
        for (int column = 0; column < rows->columnCount(); ++column) {
            line += rows->index(row, column).data().toString() + ' ';
        }
        if (std::all_of(words.begin(), words.end(),
                        [&](const QString& word) { return line.contains(word); })) {
            return true;
        }
    }
    return false;
}

/// What the labels of a widget say together.
QString text_in(const QWidget& widget) {
    QStringList words;
    for (const QLabel* label : widget.findChildren<QLabel*>()) {
        words << label->text();
    }
    return words.join(' ');
}

} // namespace

class FullDiskTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void a_run_without_room_is_paused_with_the_reason_and_goes_on_when_there_is_some() {
        test::StudioFixture fixture(wide_config());
        start(fixture);
        ui::Studio& studio = fixture.studio();
        std::int64_t paused_at = 0;
        {
            const test::FullDisk disk(worker_of_run(fixture), kNoRoomForCheckpoints);
            studio.control().checkpointNow();
            QTRY_COMPARE_WITH_TIMEOUT(studio.run().state(), RunState::paused, kPatienceMs);
            QCOMPARE(studio.run().stateReason(), QString("a checkpoint could not be saved"));
            QVERIFY(studio.isTraining()); // its process waits
            QVERIFY(studio.run().checkpoints().empty());
            QTRY_VERIFY(is_said(fixture, {"was not saved", "Make room"}));
            QTRY_VERIFY(fixture.find("resumePaused")->isVisible());
            const QString banner = text_in(*fixture.find("runBanner"));
            QVERIFY2(banner.contains("Make room"), qPrintable(banner));
            QTRY_COMPARE(fixture.window().actions().get(ui::action::kPause)->text(),
                         QString("Resume"));
            paused_at = studio.run().step();
        }
        fixture.click("resumePaused");
        QTRY_COMPARE_WITH_TIMEOUT(studio.run().state(), RunState::running, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(studio.run().step() > paused_at, kPatienceMs);
        QVERIFY(!fixture.find("runBanner")->isVisible());
        // A pause that was asked for needs no reason.
        studio.control().pause();
        QTRY_COMPARE_WITH_TIMEOUT(studio.run().state(), RunState::paused, kPatienceMs);
        QVERIFY(!fixture.find("runBanner")->isVisible());
        studio.control().resume();
        studio.control().checkpointNow();
        QTRY_VERIFY_WITH_TIMEOUT(!studio.run().checkpoints().empty(), kPatienceMs);
        studio.control().stopAndSave();
        QTRY_VERIFY_WITH_TIMEOUT(!studio.isTraining(), kPatienceMs);
        QCOMPARE(studio.run().state(), RunState::stopped);
        const std::vector<double>& steps = studio.run().steps().step;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            QCOMPARE(steps[i], static_cast<double>(i + 1));
        }
    }

    // It must neither wait for ever nor go as if the checkpoint were there.
    void a_window_that_closes_stays_when_the_last_checkpoint_finds_no_room() {
        test::StudioFixture fixture(wide_config());
        start(fixture);
        fixture.window().askBeforeClose = [] { return ui::MainWindow::CloseChoice::StopAndSave; };
        {
            const test::FullDisk disk(worker_of_run(fixture), kNoRoomForCheckpoints);
            fixture.window().close();
            QVERIFY(fixture.find("runBanner")->isVisible()); // it waits for the run
            QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
        }
        QVERIFY(fixture.window().isVisible());
        QCOMPARE(fixture.window().currentPage(), QString("train"));
        QCOMPARE(fixture.studio().run().state(), RunState::failed);
        QVERIFY(!fixture.find("runBanner")->isVisible());
        QTRY_VERIFY(fixture.find("failureCard")->isVisible());
        QVERIFY(is_said(fixture, {"last checkpoint could not be saved"}));
        fixture.window().close(); // nothing trains any more
        QVERIFY(!fixture.window().isVisible());
    }

private:
    static void start(test::StudioFixture& fixture) {
        fixture.window().showPage("data");
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 3, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().control().controlProblem().isEmpty() &&
                                     worker_of_run(fixture) > 0,
                                 kPatienceMs);
    }
};

WEFT_TEST(FullDiskTest)
#include "full_disk_test.moc"
