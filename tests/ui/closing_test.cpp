// SPDX-License-Identifier: GPL-3.0-or-later
// Closing the window while a run trains: what the dialog's buttons do, clicked as a user does.
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"

namespace {

using namespace weft;
using test::kRunPatienceMs;
namespace fs = std::filesystem;

/// A run that nobody sees the end of; the window asks before it closes.
struct Training {
    Training() {
        fixture.studio().draft().open(fixture.preset());
        fixture.studio().draft().setField("training.length", config::Json{{"steps", 100000000}});
        fixture.studio().draft().setField("checkpoint.every", nullptr);
        if (!fixture.studio().startDraft().started ||
            !QTest::qWaitFor([this] { return fixture.studio().run().step() > 0; },
                             kRunPatienceMs)) {
            qFatal("the run does not train");
        }
        folder = fixture.studio().run().folder();
        fixture.window().activateWindow();
    }
    /// Closes the window and answers with this button.
    bool close(const char* button) {
        test::Mouse mouse(fixture);
        return mouse.inDialog(
            [this] {
                fixture.window().close();
                return true;
            },
            [&] { return mouse.press(button); });
    }
    std::size_t checkpoints() const {
        return checkpoint::list_checkpoints(folder / "checkpoints").size();
    }

    test::StudioFixture fixture;
    fs::path folder;
};

} // namespace

class ClosingTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void cancel_changes_nothing() {
        Training training;
        ui::Studio& studio = training.fixture.studio();
        QVERIFY(training.close("keepOpen"));
        QVERIFY(training.fixture.window().isVisible());
        QVERIFY(studio.isTraining());
        QVERIFY(studio.pendingCommand().isEmpty());
        const std::int64_t before = studio.run().step();
        QTRY_VERIFY_WITH_TIMEOUT(studio.run().step() > before, kRunPatienceMs);
        studio.stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!studio.isTraining(), kRunPatienceMs);
    }

    void kept_in_the_background_it_trains_on_and_is_found_again() {
        Training training;
        const std::int64_t before = training.fixture.studio().run().step();
        QVERIFY(training.close("keepTraining"));
        QVERIFY(!training.fixture.window().isVisible());
        training.fixture.reopen();
        QVERIFY(train::is_live(training.folder));
        ui::Studio& studio = training.fixture.studio();
        studio.reattach();
        studio.index().refresh();
        QTRY_VERIFY_WITH_TIMEOUT(studio.isTraining() && studio.controlProblem().isEmpty(),
                                 kRunPatienceMs);
        QCOMPARE(studio.run().folder(), training.folder);
        QTRY_VERIFY_WITH_TIMEOUT(studio.run().step() > before, kRunPatienceMs);
        studio.stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!studio.isTraining(), kRunPatienceMs);
    }

    void stop_and_save_closes_when_the_checkpoint_is_written() {
        Training training;
        const std::size_t before = training.checkpoints();
        QVERIFY(training.close("stopAndSave"));
        QTRY_VERIFY_WITH_TIMEOUT(!training.fixture.window().isVisible(), kRunPatienceMs);
        QVERIFY(!training.fixture.studio().isTraining());
        QVERIFY(!train::is_live(training.folder));
        QCOMPARE(training.fixture.studio().run().state(), train::RunState::stopped);
        QCOMPARE(training.checkpoints(), before + 1);
        QCOMPARE(checkpoint::list_checkpoints(training.folder / "checkpoints").back().step,
                 training.fixture.studio().run().step());
    }
};

WEFT_TEST(ClosingTest)
#include "closing_test.moc"
