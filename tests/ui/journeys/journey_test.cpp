// SPDX-License-Identifier: GPL-3.0-or-later
// What a user does, with mouse and keys, on the real engine.
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"

#include <QDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTimer>
#include <QTreeWidget>

namespace {

using namespace weft;
using test::kRunPatienceMs;
using train::RunState;

} // namespace

class JourneyTest : public QObject {
    Q_OBJECT

private slots:
    void start_pause_step_checkpoint_close_reopen_resume_and_fork() {
        test::StudioFixture fixture;
        // Home: choose the preset with the mouse, start it with the key.
        QTRY_VERIFY(fixture.window().findChild<QWidget*>("preset.tiny") != nullptr);
        fixture.click("preset.tiny");
        QVERIFY(fixture.studio().draft().isValid());
        fixture.press(Qt::Key_F5);
        QTRY_COMPARE_WITH_TIMEOUT(fixture.window().currentPage(), QString("train"), kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 5, kRunPatienceMs);

        // Pause stops the count; one step moves it by exactly one.
        fixture.press(Qt::Key_F6);
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().state(), RunState::paused, kRunPatienceMs);
        QTRY_VERIFY(fixture.studio().control().pendingCommand().isEmpty());
        const std::int64_t paused_at = fixture.studio().run().step();
        fixture.press(Qt::Key_F7);
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().step(), paused_at + 1, kRunPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().state(), RunState::paused, kRunPatienceMs);
        QTRY_VERIFY(fixture.studio().control().pendingCommand().isEmpty());

        // Checkpoint now: it is named by hand and is at the paused step.
        fixture.press(Qt::Key_F8);
        QTRY_VERIFY_WITH_TIMEOUT(has_checkpoint(fixture, paused_at + 1), kRunPatienceMs);

        // Closing asks; stop and save closes the window when the checkpoint is written.
        int asked = 0;
        fixture.window().askBeforeClose = [&asked] {
            ++asked;
            return ui::MainWindow::CloseChoice::StopAndSave;
        };
        fixture.window().close();
        QCOMPARE(asked, 1);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.window().isVisible(), kRunPatienceMs);
        const auto folder = fixture.studio().run().folder();

        // Reopen: the run is listed as stopped, and resumes in the same folder from the browser.
        fixture.reopen();
        fixture.window().showPage("checkpoints");
        const QAbstractItemModel& runs =
            *static_cast<QTreeWidget*>(fixture.find("runTree"))->model();
        QTRY_COMPARE(runs.rowCount(runs.index(0, 0)), 1); // in the folder of runs
        auto* table = static_cast<QTableView*>(fixture.find("checkpointTable"));
        QTRY_VERIFY(table->model()->rowCount() > 0);
        QTRY_VERIFY(fixture.find("resumeRun")->isEnabled());
        fixture.click("resumeRun");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > paused_at + 1, kRunPatienceMs);
        QCOMPARE(fixture.studio().run().folder(), folder);
        // Its past was read meanwhile: every step is there once.
        const std::vector<double>& steps = fixture.studio().run().steps().step;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            QCOMPARE(steps[i], static_cast<double>(i + 1));
        }
        fixture.press(Qt::Key_F5, Qt::ShiftModifier);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);

        // Fork with another learning rate: a new run with the parent's link.
        fixture.window().showPage("checkpoints");
        QTRY_VERIFY(table->model()->rowCount() > 0);
        QTRY_VERIFY(fixture.find("forkRun")->isEnabled());
        answer_fork_dialog("0.0005");
        fixture.click("forkRun");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().isTraining(), kRunPatienceMs);
        QVERIFY(fixture.studio().run().folder() != folder);
        QCOMPARE(
            fixture.studio().run().config().section("optimizer").at("learning_rate").get<double>(),
            0.0005);
        fixture.press(Qt::Key_F5, Qt::ShiftModifier);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        QCOMPARE(train::read_run_info(fixture.studio().run().folder()).parent.empty(), false);
    }

    // A run that is paused looks about every five seconds: it does not wait for that to tell.
    void a_checkpoint_of_a_paused_run_is_told_when_it_is_written() {
        test::StudioFixture fixture;
        fixture.studio().draft().open(fixture.preset());
        fixture.press(Qt::Key_F5);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 50, kRunPatienceMs);
        fixture.press(Qt::Key_F6);
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().state(), RunState::paused, kRunPatienceMs);
        auto* save = static_cast<QPushButton*>(fixture.find("run.checkpoint.button"));
        QTRY_VERIFY_WITH_TIMEOUT(save->isEnabled(), kRunPatienceMs);
        const std::int64_t step = fixture.studio().run().step();
        QTest::mouseClick(save, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(has_checkpoint(fixture, step), kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(save->isEnabled(), kRunPatienceMs);
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);

        train::EventReader events(fixture.studio().run().folder());
        double begun = 0;
        double late = -1;
        for (const train::Event& event : events.read()) {
            const auto* state = std::get_if<train::StateEvent>(&event.payload);
            const auto* saved = std::get_if<train::CheckpointEvent>(&event.payload);
            begun = state != nullptr && state->state == RunState::saving ? event.time : begun;
            if (saved != nullptr && saved->step == step) {
                late = event.time - begun - (saved->blocked_ms + saved->write_ms) * 1e-3;
            }
        }
        QVERIFY2(late >= -0.1 && late < 2.5, qPrintable(QString::number(late)));
    }

    void start_and_pause_within_one_turn_of_the_loop_ends_paused() {
        test::StudioFixture fixture;
        fixture.studio().draft().open(fixture.preset());
        QVERIFY(fixture.studio().control().startDraft().started);
        fixture.studio().control().pause();
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().state(), RunState::paused, kRunPatienceMs);
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
    }

    void stopping_twice_is_one_stop() {
        test::StudioFixture fixture;
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 0, kRunPatienceMs);
        fixture.studio().control().stopAndSave();
        fixture.studio().control().stopAndSave();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        QCOMPARE(fixture.studio().run().state(), RunState::stopped);
    }

    void editing_the_draft_never_touches_the_run() {
        test::StudioFixture fixture;
        fixture.studio().draft().open(fixture.preset());
        QVERIFY(fixture.studio().control().startDraft().started);
        const double before =
            fixture.studio().run().config().section("optimizer").at("learning_rate").get<double>();
        fixture.studio().draft().setField("optimizer.learning_rate", 0.5);
        QCOMPARE(
            fixture.studio().run().config().section("optimizer").at("learning_rate").get<double>(),
            before);
        QCOMPARE(fixture.studio().draft().differencesFrom(fixture.studio().run().config()).size(),
                 std::size_t{1});
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
    }

    void a_second_start_while_training_is_refused_with_the_reason() {
        test::StudioFixture fixture;
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        const ui::StartResult again = fixture.studio().control().startFile(fixture.preset());
        QVERIFY(!again.started);
        QVERIFY(again.problem.contains("still training"));
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
    }

    void home_leads_with_an_interrupted_run() {
        test::StudioFixture fixture;
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 20, kRunPatienceMs);
        fixture.studio().control().stopAndSave();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        // A process that was killed leaves run.json saying "running" and nobody holding the lock.
        const auto folder = fixture.studio().run().folder();
        train::RunInfo info = train::read_run_info(folder);
        info.state = "running";
        train::write_run_info(folder, info);
        train::EventLog(folder).write(train::StateEvent{RunState::running, {}, {}, 0, 100000});
        fixture.reopen();
        fixture.window().showPage("home"); // it opens where it was left
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("recoveryBanner")->isVisible(), kRunPatienceMs);
        QVERIFY(fixture.find("recoveryResume")->isEnabled());
    }

private:
    static bool has_checkpoint(test::StudioFixture& fixture, std::int64_t step) {
        const auto& saved = fixture.studio().run().checkpoints();
        return std::any_of(saved.begin(), saved.end(),
                           [step](const auto& event) { return event.step == step; });
    }

    /// Fills in the learning rate once the dialog is up and starts the fork.
    static void answer_fork_dialog(const QString& rate) {
        auto* timer = new QTimer(qApp);
        timer->setInterval(20);
        connect(timer, &QTimer::timeout, timer, [timer, rate] {
            QWidget* dialog = QApplication::activeModalWidget();
            if (dialog == nullptr || dialog->objectName() != "forkDialog") {
                return;
            }
            timer->deleteLater();
            auto* field = dialog->findChild<QAbstractSpinBox*>("field:/optimizer/learning_rate");
            field->selectAll();
            QTest::keyClicks(field, rate);
            QTest::mouseClick(dialog->findChild<QPushButton*>("startFork"), Qt::LeftButton);
        });
        timer->start();
    }
};

WEFT_TEST(JourneyTest)
#include "journey_test.moc"
