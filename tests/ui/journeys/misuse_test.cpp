// SPDX-License-Identifier: GPL-3.0-or-later
// What impatient, forgetful and unlucky users do. Nothing may be lost, nothing may hang, and what
// happens must be what they were told.
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "widgets/controls/log_view.h"

#include <QListView>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>

#include <fstream>

namespace {

using namespace weft;
using test::kRunPatienceMs;
using train::RunState;

void wait_for_step(test::StudioFixture& fixture, std::int64_t step) {
    QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() >= step, kRunPatienceMs);
}

void stop(test::StudioFixture& fixture) {
    fixture.studio().control().stopNow();
    QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
}

// A run with two checkpoints, no longer training.
void train_with_checkpoints(test::StudioFixture& fixture) {
    QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
    wait_for_step(fixture, 3);
    fixture.studio().control().checkpointNow();
    QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().run().checkpoints().empty(), kRunPatienceMs);
    fixture.studio().control().stopAndSave();
    QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
    QVERIFY(fixture.studio().run().checkpoints().size() >= 2);
}

} // namespace

class MisuseTest : public QObject {
    Q_OBJECT

private slots:
    void a_draft_edited_during_a_run_is_there_after_quitting() {
        test::StudioFixture fixture;
        fixture.studio().draft().open(fixture.preset());
        fixture.press(Qt::Key_F5);
        wait_for_step(fixture, 1);
        fixture.studio().draft().setField("optimizer.learning_rate", 0.125);
        const auto folder = fixture.studio().run().folder();
        fixture.window().askBeforeClose = [] { return ui::MainWindow::CloseChoice::StopAndSave; };
        fixture.window().close();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.window().isVisible(), kRunPatienceMs);
        fixture.reopen();
        QCOMPARE(fixture.studio()
                     .draft()
                     .config()
                     .section("optimizer")
                     .at("learning_rate")
                     .get<double>(),
                 0.125);
        const auto frozen = train::read_frozen_config(folder);
        QVERIFY(frozen.ok());
        QVERIFY(frozen.config.section("optimizer").at("learning_rate").get<double>() != 0.125);
    }

    void a_selected_checkpoint_never_changes_what_start_does() {
        test::StudioFixture fixture;
        train_with_checkpoints(fixture);
        const auto first = fixture.studio().run().folder();
        fixture.studio().draft().open(fixture.preset());
        fixture.studio().draft().setField("seed", 99);
        fixture.window().showPage("checkpoints");
        auto* table = qobject_cast<QTableView*>(fixture.find("checkpointTable"));
        QTRY_VERIFY(table->model()->rowCount() >= 2);
        table->selectRow(table->model()->rowCount() - 1);
        table->setFocus();
        fixture.press(Qt::Key_F5);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().isTraining(), kRunPatienceMs);
        wait_for_step(fixture, 1);
        QVERIFY(fixture.studio().run().folder() != first);
        QCOMPARE(fixture.studio().run().config().seed, std::uint64_t{99});
        QVERIFY(train::read_run_info(fixture.studio().run().folder()).parent.empty());
        QCOMPARE(fixture.studio().run().steps().step.front(), 1.0); // from the start, not resumed
        stop(fixture);
    }

    void the_theme_may_change_while_a_run_trains() {
        QTest::failOnWarning(QRegularExpression("^(?!This plugin).*"));
        test::StudioFixture fixture;
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        wait_for_step(fixture, 1);
        for (int i = 0; i < 6; ++i) {
            const std::int64_t before = fixture.studio().run().step();
            fixture.window()
                .actions()
                .get(i % 2 == 0 ? ui::action::kThemeDark : ui::action::kThemeLight)
                ->trigger();
            QCOMPARE(widgets::Theme::current().isDark(), i % 2 == 0);
            // Most of the window is surface: had a part kept its old colours, it would not be.
            const QImage picture = fixture.window().grab().toImage();
            const QColor corner = picture.pixelColor(4, picture.height() - 4);
            QCOMPARE(corner.lightnessF() < 0.5, i % 2 == 0);
            wait_for_step(fixture, before + 1);
        }
        stop(fixture);
    }

    void fifty_thousand_lines_at_once_are_all_in_the_console() {
        test::StudioFixture fixture;
        constexpr int kLines = 50000;
        fixture.press(Qt::Key_QuoteLeft, Qt::ControlModifier);
        auto* log = fixture.window().findChild<widgets::LogView*>();
        QVERIFY(log != nullptr && log->isVisible());
        const int before = log->model()->totalCount();
        for (int i = 0; i < kLines; ++i) {
            fixture.studio().log().logged(i % 4, "flood", QString("line %1").arg(i), i);
        }
        QTRY_COMPARE(log->model()->totalCount(), before + kLines);
        QCOMPARE(log->model()->droppedCount(), 0);
        const int last = log->model()->rowCount() - 1;
        QCOMPARE(log->model()->line(last).text, QString("line %1").arg(kLines - 1));
        // The newest is in sight, and the window still answers.
        QTRY_VERIFY(log->list()
                        ->visualRect(log->model()->index(last, 0))
                        .intersects(log->list()->viewport()->rect()));
        fixture.press(Qt::Key_2, Qt::ControlModifier);
        QVERIFY(fixture.window().currentPage() != "home");
    }

    void a_configuration_from_a_newer_version_is_shown_and_kept_as_it_is() {
        test::StudioFixture fixture;
        const auto path = fixture.root() / "newer.json";
        const std::string text = R"({"schema_version": 7, "name": "newer",
  "data": {"train": {"type": "telepathy"}}, "model": {"type": "mlp"}})";
        std::ofstream(path) << text;
        fixture.studio().opener().open(path);
        QCOMPARE(fixture.studio().draft().text(), text);
        QVERIFY(!fixture.studio().draft().isValid());
        const auto& found = fixture.studio().draft().diagnostics();
        QVERIFY(std::any_of(found.begin(), found.end(), [](const config::Diagnostic& problem) {
            return problem.pointer == "/schema_version" &&
                   problem.message.find('7') != std::string::npos;
        }));
        QAction* start = fixture.window().actions().get(ui::action::kStart);
        QVERIFY(!start->isEnabled());
        QVERIFY(start->toolTip().contains(QString::fromStdString(found.front().message)));
        QVERIFY(fixture.find("problemsTable")->isVisible());
    }

    void a_run_folder_that_is_deleted_while_it_is_shown_is_not_resumed() {
        test::StudioFixture fixture;
        train_with_checkpoints(fixture);
        const auto folder = fixture.studio().run().folder();
        fixture.window().showPage("checkpoints");
        QTRY_VERIFY(fixture.find("resumeRun")->isEnabled());
        std::filesystem::remove_all(folder);
        const ui::StartResult result = fixture.studio().control().resumeRun(folder);
        QVERIFY(!result.started);
        QVERIFY2(result.problem.contains(ui::pathText(folder.filename())),
                 qPrintable(result.problem));
        // The curves that were read are still there to be looked at.
        QVERIFY(fixture.studio().run().steps().step.size() > 2);
        fixture.window().showPage("train");
        fixture.window().showPage("home");
        QVERIFY(!std::filesystem::exists(folder));
    }

    void closing_while_a_run_is_prepared_stops_it_and_closes() {
        test::StudioFixture fixture;
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        QVERIFY(fixture.studio().run().steps().step.empty());
        fixture.window().askBeforeClose = [] { return ui::MainWindow::CloseChoice::StopAndSave; };
        fixture.window().close();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.window().isVisible(), kRunPatienceMs);
        for (const auto& entry : std::filesystem::directory_iterator(fixture.root() / "runs")) {
            QVERIFY(!train::is_live(entry.path()));
        }
        fixture.reopen();
        QVERIFY(!fixture.studio().isTraining());
    }

    void resuming_twice_in_one_session_goes_on_twice() {
        test::StudioFixture fixture;
        train_with_checkpoints(fixture);
        const auto folder = fixture.studio().run().folder();
        for (int i = 0; i < 2; ++i) {
            const std::int64_t before = fixture.studio().run().step();
            const ui::StartResult result = fixture.studio().control().resumeRun(folder);
            QVERIFY2(result.started, qPrintable(result.problem));
            QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > before, kRunPatienceMs);
            fixture.studio().control().stopAndSave();
            QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        }
        const std::vector<double>& steps = fixture.studio().run().steps().step;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            QCOMPARE(steps[i], static_cast<double>(i + 1));
        }
    }
};

WEFT_TEST(MisuseTest)
#include "misuse_test.moc"
