// SPDX-License-Identifier: GPL-3.0-or-later
// Runs train in processes of their own: who controls one, what happens when it or the studio dies.
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/actions.h"
#include "ui/bridge/convert.h"
#include "widgets/controls/text_label.h"

#include <QDir>
#include <QDockWidget>
#include <QFile>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QStackedWidget>

#include <csignal>

namespace {

using namespace weft;
using test::kPatienceMs;
using train::RunState;
namespace fs = std::filesystem;

constexpr int kExitStopped = 75;

pid_t worker_of(const fs::path& run) {
    const auto lock = train::read_lock(run);
    return lock ? static_cast<pid_t>(lock->pid) : 0;
}

std::int64_t step_on_disk(const fs::path& run) {
    return train::summarise_run(run).step;
}

/// Steps 1, 2, 3, ... without a gap and without one that is there twice.
bool counts_up(const ui::RunModel& model) {
    const std::vector<double>& steps = model.steps().step;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i] != static_cast<double>(i + 1)) {
            return false;
        }
    }
    return !steps.empty();
}

/// `weft train` in a terminal's place.
class Terminal {
public:
    explicit Terminal(test::StudioFixture& fixture) : run(fixture.root() / "runs" / "by_hand") {
        process_.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        process_.setStandardOutputFile(QProcess::nullDevice());
        process_.start(WEFT_PROGRAM,
                       {"train", ui::pathText(fixture.preset()), "--run-dir", ui::pathText(run)});
    }
    ~Terminal() {
        process_.kill();
        process_.waitForFinished();
    }

    bool trains() const { return train::is_live(run) && step_on_disk(run) > 0; }
    void signal(int number) { ::kill(static_cast<pid_t>(process_.processId()), number); }
    int exitCode() {
        return process_.waitForFinished(kPatienceMs) &&
                       process_.exitStatus() == QProcess::NormalExit
                   ? process_.exitCode()
                   : -1;
    }

    const fs::path run;

private:
    QProcess process_;
};

QPushButton* cross_of(const test::StudioFixture& fixture) {
    return fixture.find("runBanner")->findChild<QPushButton*>("bannerClose");
}

} // namespace

class WorkerTest : public QObject {
    Q_OBJECT

private slots:
    void a_run_kept_in_the_background_is_shown_again_with_all_of_its_curve() {
        test::StudioFixture fixture;
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 10, kPatienceMs);
        const fs::path folder = fixture.studio().run().folder();
        const pid_t worker = worker_of(folder);
        fixture.window().askBeforeClose = [] { return ui::MainWindow::CloseChoice::KeepTraining; };
        fixture.window().close();
        QVERIFY(!fixture.window().isVisible());
        fixture.reopen();
        const std::int64_t left_at = step_on_disk(folder);
        QTRY_VERIFY_WITH_TIMEOUT(step_on_disk(folder) > left_at, kPatienceMs); // nobody looks
        fixture.studio().reattach();
        fixture.studio().index().refresh();
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().isTraining(), kPatienceMs);
        QCOMPARE(fixture.studio().run().folder(), folder);
        QCOMPARE(fixture.window().currentPage(), QString("train"));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > left_at, kPatienceMs);
        QVERIFY(counts_up(fixture.studio().run()));
        QCOMPARE(worker_of(folder), worker);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().control().controlProblem().isEmpty(),
                                 kPatienceMs);
        stop(fixture);
        QVERIFY(counts_up(fixture.studio().run()));
        QCOMPARE(fixture.studio().run().state(), RunState::stopped);
    }

    void a_killed_worker_is_seen_named_and_can_be_resumed() {
        test::StudioFixture fixture;
        startAndSave(fixture);
        const fs::path folder = fixture.studio().run().folder();
        QSignalSpy interrupted(&fixture.studio(), &ui::Studio::interrupted);
        QVERIFY(::kill(worker_of(folder), SIGKILL) == 0);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
        QCOMPARE(fixture.studio().run().state(), RunState::stopped);
        QVERIFY2(fixture.studio().run().stateReason().contains("SIGKILL"),
                 qPrintable(fixture.studio().run().stateReason()));
        QCOMPARE(interrupted.count(), 1);
        QVERIFY(counts_up(fixture.studio().run()));
        // What reached the disk is on screen, up to the last step.
        QCOMPARE(fixture.studio().run().step(), step_on_disk(folder));
        const auto* title = static_cast<widgets::ElidedLabel*>(fixture.find("summaryTitle"));
        QVERIFY2(title->text().contains("was interrupted"), qPrintable(title->text()));
        // One way on: the summary's, and the banner's when that is closed.
        const auto in_banner = [&] {
            return fixture.window().findChild<QPushButton*>("resumeInterrupted");
        };
        QTRY_VERIFY(fixture.find("runBanner")->isVisible());
        QVERIFY(fixture.find("summaryResume")->isVisible());
        QTRY_VERIFY(in_banner() == nullptr);
        fixture.click("summaryClose");
        QTRY_VERIFY(in_banner() != nullptr && in_banner()->isVisible()); // by its layout, in turn
        QVERIFY(cross_of(fixture)->isVisible());
        fixture.click("resumeInterrupted");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().state() == RunState::running, kPatienceMs);
        QCOMPARE(fixture.studio().run().folder(), folder);
        stop(fixture);
        QVERIFY(counts_up(fixture.studio().run()));
    }

    void what_is_said_of_a_killed_run_lies_over_no_dock() {
        test::StudioFixture fixture;
        startAndSave(fixture);
        fixture.window().showPage("train");
        fixture.window().actions().get(ui::action::kConsole)->trigger();
        auto* dock = fixture.window().findChild<QDockWidget*>("consoleDock");
        QTRY_VERIFY(dock->isVisible() && dock->height() > 100);
        const auto in_window = [&](const QWidget* one) {
            return QRect(one->mapTo(&fixture.window(), QPoint()), one->size());
        };
        QTest::mouseMove(fixture.window().windowHandle(), in_window(dock).center());
        QTRY_VERIFY(dock->underMouse());
        const QRect place = in_window(dock);
        QVERIFY(::kill(worker_of(fixture.studio().run().folder()), SIGKILL) == 0);
        const QWidget* banner = fixture.find("runBanner");
        QTRY_VERIFY_WITH_TIMEOUT(banner->isVisible(), kPatienceMs);
        QTRY_VERIFY(in_window(banner).height() > 0);
        QCOMPARE(in_window(dock), place); // nor does it move under the mouse
        QVERIFY(!in_window(banner).intersects(place));
    }

    void what_is_said_of_a_killed_run_can_be_closed() {
        test::StudioFixture fixture;
        startAndSave(fixture);
        fixture.window().showPage("train");
        QVERIFY(::kill(worker_of(fixture.studio().run().folder()), SIGKILL) == 0);
        const QWidget* banner = fixture.find("runBanner");
        QTRY_VERIFY_WITH_TIMEOUT(banner->isVisible(), kPatienceMs);
        QTest::mouseClick(cross_of(fixture), Qt::LeftButton);
        QTRY_VERIFY(!banner->isVisible());
        fixture.window().showPage("runs"); // nor does another page bring it back
        fixture.window().showPage("train");
        QTRY_VERIFY(!banner->isVisible());
    }

    void the_room_of_what_was_said_goes_to_the_next_page() {
        test::StudioFixture fixture;
        startAndSave(fixture);
        fixture.window().showPage("train");
        const auto move_to = [&](const QWidget* one) {
            QTest::mouseMove(fixture.window().windowHandle(),
                             one->mapTo(&fixture.window(), one->rect().center()));
        };
        const QWidget* banner = fixture.find("runBanner");
        const QWidget* shelf = banner->parentWidget();
        const auto* pages = shelf->findChild<QStackedWidget*>({}, Qt::FindDirectChildrenOnly);
        move_to(fixture.find("navRailList"));
        QVERIFY(::kill(worker_of(fixture.studio().run().folder()), SIGKILL) == 0);
        QTRY_VERIFY_WITH_TIMEOUT(banner->isVisible(), kPatienceMs);
        QTRY_COMPARE(pages->height(), shelf->height() - banner->height());
        move_to(pages);
        QTRY_VERIFY(pages->underMouse());
        fixture.window().showPage("home"); // which says it itself
        QVERIFY(banner->isHidden());
        QCOMPARE(pages->height(), shelf->height());
    }

    // What the run on screen says is newer than what its folder says of the sessions before.
    void a_resumed_run_trained_as_long_in_the_lists_as_on_screen() {
        test::StudioFixture fixture;
        ui::Studio& studio = fixture.studio();
        QVERIFY(studio.control().startFile(fixture.preset()).started);
        QTRY_VERIFY_WITH_TIMEOUT(studio.run().step() > 20, kPatienceMs);
        studio.control().stopAndSave();
        QTRY_VERIFY_WITH_TIMEOUT(!studio.isTraining(), kPatienceMs);
        QVERIFY(studio.control().resumeRun(studio.run().folder()).started);
        const std::int64_t from = studio.run().step();
        QTRY_VERIFY_WITH_TIMEOUT(studio.run().step() > from + 20, kPatienceMs);
        studio.control().pause();
        QTRY_COMPARE_WITH_TIMEOUT(studio.run().state(), train::RunState::paused, kPatienceMs);
        QSignalSpy moved(&studio.index(), &ui::RunIndex::runMoved);
        studio.index().refresh();
        QTRY_VERIFY_WITH_TIMEOUT(moved.count() > 0, kPatienceMs);
        QCOMPARE(studio.index().runs().front().seconds, studio.run().secondsTrained());
        studio.control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!studio.isTraining(), kPatienceMs);
    }

    // The system counts what it ends for want of memory, and says not which.
    void a_worker_killed_while_memory_ran_out_can_go_on_with_less() {
        test::StudioFixture fixture;
        fixture.setMemoryKills(3);
        startAndSave(fixture);
        const fs::path folder = fixture.studio().run().folder();
        fixture.setMemoryKills(4);
        QVERIFY(::kill(worker_of(folder), SIGKILL) == 0);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().failure().has_value(), kPatienceMs);
        const std::int64_t saved = train::summarise_run(folder).last_checkpoint_step;
        const train::ErrorEvent failure = *fixture.studio().run().failure();
        QCOMPARE(failure.kind, std::string("memory"));
        QVERIFY(QString::fromStdString(failure.message).contains("SIGKILL"));
        QVERIFY(QString::fromStdString(failure.message).contains("ran out of memory"));
        QVERIFY(!failure.ways_on.empty());
        QCOMPARE(failure.ways_on.front().from_step, saved);
        const auto way = [&] { return fixture.window().findChild<QPushButton*>("wayOn0"); };
        QTRY_VERIFY(way() != nullptr && way()->isVisible());
        fixture.click("wayOn0");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > saved &&
                                     fixture.studio().run().folder() != folder,
                                 kPatienceMs);
        QVERIFY(fixture.studio().run().config().document !=
                train::read_frozen_config(folder).config.document);
        stop(fixture);
    }

    void why_a_worker_was_killed_is_said_only_where_it_is_known() {
        for (const bool counted : {true, false}) {
            test::StudioFixture fixture;
            if (counted) {
                fixture.setMemoryKills(3);
            }
            startAndSave(fixture);
            QVERIFY(::kill(worker_of(fixture.studio().run().folder()), SIGKILL) == 0);
            QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
            QVERIFY2(fixture.studio().run().stateReason().contains(
                         counted ? "not by the system for want of memory" : "is not known"),
                     qPrintable(fixture.studio().run().stateReason()));
            QVERIFY(!fixture.studio().run().failure());
        }
    }

    void a_run_of_a_terminal_takes_commands_and_the_terminal_keeps_its_signals() {
        test::StudioFixture fixture;
        Terminal terminal(fixture);
        QTRY_VERIFY_WITH_TIMEOUT(terminal.trains(), kPatienceMs);
        fixture.studio().showRun(terminal.run);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().isTraining(), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().control().controlProblem().isEmpty(),
                                 kPatienceMs);
        fixture.studio().control().pause();
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().state(), RunState::paused, kPatienceMs);
        const std::int64_t paused_at = fixture.studio().run().step();
        fixture.studio().control().singleStep();
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().step(), paused_at + 1, kPatienceMs);
        QVERIFY(counts_up(fixture.studio().run()));
        fixture.studio().control().resume();
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().state(), RunState::running, kPatienceMs);
        terminal.signal(SIGINT);
        QCOMPARE(terminal.exitCode(), kExitStopped);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
        QCOMPARE(fixture.studio().run().state(), RunState::stopped);
    }

    void a_terminal_that_is_killed_is_seen() {
        test::StudioFixture fixture;
        Terminal terminal(fixture);
        QTRY_VERIFY_WITH_TIMEOUT(terminal.trains(), kPatienceMs);
        fixture.studio().showRun(terminal.run);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().isTraining(), kPatienceMs);
        terminal.signal(SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
        QCOMPARE(fixture.studio().run().state(), RunState::stopped);
        QVERIFY(fixture.studio().run().stateReason().contains("gone"));
        // It may have saved nothing yet: then there is nothing to resume from.
        fixture.window().showPage("model"); // which has no summary of the run
        QCOMPARE(fixture.window().findChild<QPushButton*>("resumeInterrupted") != nullptr,
                 !fixture.studio().run().checkpoints().empty());
    }

    void a_second_studio_is_read_only_until_the_first_leaves() {
        test::StudioFixture fixture;
        Terminal terminal(fixture);
        QTRY_VERIFY_WITH_TIMEOUT(terminal.trains(), kPatienceMs);
        auto first = std::make_unique<ui::Studio>(fixture.studio().paths());
        first->showRun(terminal.run);
        QTRY_VERIFY_WITH_TIMEOUT(first->isTraining() && first->control().controlProblem().isEmpty(),
                                 kPatienceMs);
        ui::Studio& second = fixture.studio();
        second.showRun(terminal.run);
        QTRY_VERIFY_WITH_TIMEOUT(second.control().controlProblem().contains("controls this run"),
                                 kPatienceMs);
        QVERIFY(!fixture.window().actions().get(ui::action::kPause)->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("takeOver")->isVisible(), kPatienceMs);
        QSignalSpy troubled(&second, &ui::Studio::troubled);
        second.control().pause();
        QTRY_COMPARE_WITH_TIMEOUT(troubled.count(), 1, kPatienceMs);
        QVERIFY(troubled.at(0).at(0).toString().contains("controls this run"));
        QVERIFY(second.control().pendingCommand().isEmpty());
        // It takes over; the first is read-only then.
        fixture.click("takeOver");
        QTRY_VERIFY_WITH_TIMEOUT(second.control().controlProblem().isEmpty(), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!first->control().controlProblem().isEmpty(), kPatienceMs);
        first->control().takeOver();
        QTRY_VERIFY_WITH_TIMEOUT(first->control().controlProblem().isEmpty(), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!second.control().controlProblem().isEmpty(), kPatienceMs);
        first.reset();
        QTRY_VERIFY_WITH_TIMEOUT(second.control().controlProblem().isEmpty(), kPatienceMs);
        second.control().stopAndSave();
        QCOMPARE(terminal.exitCode(), kExitStopped);
    }

    void another_run_can_be_shown_while_one_trains_and_starting_is_refused() {
        test::StudioFixture fixture;
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 0, kPatienceMs);
        const fs::path first = fixture.studio().run().folder();
        const fs::path other = fixture.root() / "runs" / "other";
        fs::create_directories(other);
        fs::copy_file(first / "config.json", other / "config.json");
        train::EventLog(other).write(train::StateEvent{RunState::finished, {}, {}, 0, 100});
        fixture.studio().showRun(other);
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().folder(), other, kPatienceMs);
        QVERIFY(!fixture.studio().isTraining());
        const ui::StartResult refused = fixture.studio().control().startFile(fixture.preset());
        QVERIFY(!refused.started);
        QVERIFY(refused.problem.contains("in the background"));
        fixture.studio().showRun(first);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().isTraining(), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().control().controlProblem().isEmpty(),
                                 kPatienceMs);
        stop(fixture);
        QVERIFY(counts_up(fixture.studio().run()));
    }

    // Some steps may be done before the worker hears of it; of this run none would be the last.
    void a_stop_right_after_the_start_ends_the_run_at_once() {
        test::StudioFixture fixture;
        fixture.studio().draft().open(fixture.preset());
        fixture.studio().draft().setField("training.length", config::Json{{"steps", 100000000}});
        QVERIFY(fixture.studio().control().startDraft().started);
        fixture.studio().control().stopAndSave();
        fixture.studio().control().stopAndSave();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
        QCOMPARE(fixture.studio().run().state(), RunState::stopped);
    }

    void a_run_is_extended_while_it_trains_and_after_its_end() {
        test::StudioFixture fixture;
        fixture.studio().draft().open(fixture.preset());
        fixture.studio().draft().setField("training.length", config::Json{{"steps", 40}});
        QVERIFY(fixture.studio().control().startDraft().started);
        fixture.studio().control().pause();
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().state(), RunState::paused, kPatienceMs);
        QVERIFY(fixture.studio().control().extendRun(10).started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().control().pendingCommand().isEmpty(),
                                 kPatienceMs);
        fixture.studio().control().resume();
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().state(), RunState::finished, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
        QCOMPARE(fixture.studio().run().step(), std::int64_t{50});
        const fs::path folder = fixture.studio().run().folder();
        QVERIFY(!fixture.studio().control().resumeRun(folder).started);
        QVERIFY(fixture.studio().control().extendRun(5).started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() == 55, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
        QVERIFY(counts_up(fixture.studio().run()));
    }

    void what_the_worker_prints_is_in_its_log_and_in_the_console() {
        test::StudioFixture fixture;
        startAndSave(fixture);
        const fs::path parent = fixture.studio().run().folder();
        stop(fixture);
        const auto saved = fixture.studio().run().checkpoints().back(); // the others may be pruned
        QSignalSpy logged(&fixture.studio().log(), &ui::RunLog::logged);
        QVERIFY(
            fixture.studio().control().forkRun(parent, parent / saved.path, {"seed=9"}).started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > saved.step, kPatienceMs);
        const fs::path folder = fixture.studio().run().folder();
        stop(fixture);
        QFile log(ui::pathText(folder / "logs" / "weft.log"));
        QVERIFY(log.open(QIODevice::ReadOnly));
        QVERIFY(log.readAll().contains("This is a fork"));
        QVERIFY(std::any_of(logged.begin(), logged.end(), [](const QList<QVariant>& line) {
            return line.at(1) == "weft" && line.at(2).toString().contains("This is a fork");
        }));
    }

    void what_cannot_be_started_says_why_and_leaves_nothing_behind() {
        test::StudioFixture fixture;
        ui::StudioPaths paths = fixture.studio().paths();
        paths.runs_root = "/proc/no/runs";
        const ui::StartResult unwritable = ui::Studio(paths).control().startFile(fixture.preset());
        QVERIFY(!unwritable.started);
        QVERIFY2(unwritable.problem.contains("/proc/no"), qPrintable(unwritable.problem));
        paths.runs_root = fixture.root() / "others";
        paths.worker = fixture.root() / "no_weft";
        const ui::StartResult missing = ui::Studio(paths).control().startFile(fixture.preset());
        QVERIFY(!missing.started);
        QVERIFY2(missing.problem.contains("no_weft"), qPrintable(missing.problem));
        QVERIFY(fs::is_empty(paths.runs_root));
        // A worker that ends at once.
        paths.worker = "/bin/false";
        ui::Studio studio(paths);
        QSignalSpy troubled(&studio, &ui::Studio::troubled);
        QVERIFY(studio.control().startFile(fixture.preset()).started);
        QTRY_VERIFY_WITH_TIMEOUT(!studio.isTraining(), kPatienceMs);
        QVERIFY(studio.run().problem().contains("exit code 1"));
        QCOMPARE(troubled.count(), 1);
    }

    void a_killed_studio_leaves_its_worker_training() {
        test::StudioFixture fixture;
        const fs::path runs = fixture.root() / "runs";
        QProcess studio;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("XDG_STATE_HOME", ui::pathText(fixture.root() / "other_state"));
        studio.setProcessEnvironment(environment);
        studio.setProcessChannelMode(QProcess::ForwardedChannels);
        studio.start(WEFT_STUDIO_PROGRAM, {"--new-window", "--runs", ui::pathText(runs), "--action",
                                           "run.start", ui::pathText(fixture.preset())});
        fs::path run;
        QTRY_VERIFY_WITH_TIMEOUT((run = only_run(runs)) != fs::path(), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(step_on_disk(run) > 0, kPatienceMs);
        ::kill(static_cast<pid_t>(studio.processId()), SIGKILL);
        QVERIFY(studio.waitForFinished(kPatienceMs));
        QCOMPARE(studio.exitStatus(), QProcess::CrashExit);
        const std::int64_t killed_at = step_on_disk(run);
        QTRY_VERIFY_WITH_TIMEOUT(step_on_disk(run) > killed_at, kPatienceMs);
        fixture.studio().showRun(run);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().isTraining() &&
                                     fixture.studio().control().controlProblem().isEmpty(),
                                 kPatienceMs);
        stop(fixture);
        QVERIFY(counts_up(fixture.studio().run()));
    }

private:
    static void startAndSave(test::StudioFixture& fixture) {
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 5, kPatienceMs);
        fixture.studio().control().checkpointNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().run().checkpoints().empty(), kPatienceMs);
    }

    static void stop(test::StudioFixture& fixture) {
        fixture.studio().control().stopAndSave();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
    }

    static fs::path only_run(const fs::path& runs) {
        const QStringList names =
            QDir(ui::pathText(runs)).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
        return names.size() == 1 ? runs / names.front().toStdString() : fs::path();
    }
};

WEFT_TEST(WorkerTest)
#include "worker_test.moc"
