// SPDX-License-Identifier: GPL-3.0-or-later
// Closing the window while a run trains: what the dialog's buttons do, clicked as a user does.
#include "core/train/control/control_client.h"
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"

#include <QSignalSpy>

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
        if (!fixture.studio().control().startDraft().started ||
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
        QVERIFY(studio.control().pendingCommand().isEmpty());
        const std::int64_t before = studio.run().step();
        QTRY_VERIFY_WITH_TIMEOUT(studio.run().step() > before, kRunPatienceMs);
        studio.control().stopNow();
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
        QTRY_VERIFY_WITH_TIMEOUT(studio.isTraining() && studio.control().controlProblem().isEmpty(),
                                 kRunPatienceMs);
        QCOMPARE(studio.run().folder(), training.folder);
        QTRY_VERIFY_WITH_TIMEOUT(studio.run().step() > before, kRunPatienceMs);
        studio.control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!studio.isTraining(), kRunPatienceMs);
    }

    void a_refused_stop_keeps_the_window_open_also_when_the_run_ends_later() {
        Training training;
        ui::Studio& studio = training.fixture.studio();
        ui::MainWindow& window = training.fixture.window();
        QTRY_VERIFY_WITH_TIMEOUT(studio.control().controlProblem().isEmpty(), kRunPatienceMs);
        train::ControlClient other(train::read_lock(training.folder)->control);
        bool taken = false;
        window.askBeforeClose = [&] {
            // While the question stands, another studio takes control.
            other.send(R"({"command": "claim", "by": "other", "take_over": true})");
            while (!taken && other.transfer()) {
                for (const std::string& line : other.take_lines()) {
                    taken = taken || (line.find("\"claim\"") != std::string::npos);
                }
                other.wait(1);
            }
            return ui::MainWindow::CloseChoice::StopAndSave;
        };
        window.close();
        QVERIFY(taken);
        QTRY_VERIFY_WITH_TIMEOUT(!studio.control().controlProblem().isEmpty(), kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(studio.control().pendingCommand().isEmpty(), kRunPatienceMs);
        QVERIFY(window.isVisible() && studio.isTraining());
        QSignalSpy ended(&studio.link(), &ui::RunLink::ended);
        other.send(R"({"command": "stop_now", "by": "other"})");
        while (ended.isEmpty() && other.transfer()) {
            QTest::qWait(1);
        }
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), qsizetype{1}, kRunPatienceMs);
        QCoreApplication::processEvents();
        QVERIFY(window.isVisible());
    }

    void a_run_that_ends_while_the_question_stands_lets_the_window_close() {
        Training training;
        ui::Studio& studio = training.fixture.studio();
        training.fixture.window().askBeforeClose = [&] {
            studio.control().stopNow();
            if (!QTest::qWaitFor([&studio] { return !studio.isTraining(); }, kRunPatienceMs)) {
                qFatal("the run does not end");
            }
            return ui::MainWindow::CloseChoice::StopAndSave;
        };
        training.fixture.window().close();
        QTRY_VERIFY_WITH_TIMEOUT(!training.fixture.window().isVisible(), kRunPatienceMs);
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
