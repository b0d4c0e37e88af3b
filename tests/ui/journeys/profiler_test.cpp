// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of a run are recorded while it trains, and looked at: verdict, table, one step, roofline,
// what changed, the trace.
#include "core/base/file.h"
#include "core/config/json.h"
#include "core/profile/time_table.h"
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_log.h"
#include "tests/ui/studio_fixture.h"
#include "tests/unit/profile/made_up_recording.h"
#include "ui/bridge/convert.h"
#include "ui/models/profile_model.h"
#include "ui/pages/profiler/profiler_page.h"
#include "widgets/controls/controls.h"
#include "widgets/views/event_timeline.h"

#include <QApplication>
#include <QComboBox>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>

namespace {

using namespace weft;
using test::kPatienceMs;
using test::kRunPatienceMs;

ui::ProfilerPage& profiler(test::StudioFixture& fixture) {
    return *static_cast<ui::ProfilerPage*>(fixture.window().page("profiler"));
}

QString textOf(test::StudioFixture& fixture, const char* label) {
    const auto* found = static_cast<QLabel*>(fixture.find(label));
    return found == nullptr ? QString() : found->text();
}

/// All words of the sheet that stands where no recording is shown.
QString message(test::StudioFixture& fixture) {
    QStringList words;
    for (const QLabel* label : fixture.find("profilerMessage")->findChildren<QLabel*>()) {
        words.append(label->text());
    }
    return words.join(QLatin1Char('\n'));
}

QString shownFilter(test::StudioFixture& fixture) {
    return static_cast<QLineEdit*>(fixture.find("profileFilter"))->text();
}

/// A run that was recorded with these calls.
std::filesystem::path written_run(test::StudioFixture& fixture, const profile::Recording& recording,
                                  const char* name = "recorded") {
    test::RunLog log(fixture.root() / "runs" / name, test::tiny_config());
    log.steps(1, 20, 0.5);
    profile::write_recording(log.folder(), recording);
    return log.folder();
}

} // namespace

class ProfilerTest : public QObject {
    Q_OBJECT

private slots:
    void steps_of_a_run_are_recorded_and_shown() {
        test::StudioFixture fixture;
        test::Mouse mouse(fixture);
        fixture.window().resize(1440, 900);
        QVERIFY(mouse.go("profiler"));
        QVERIFY2(message(fixture).contains("Start one on Home"), qPrintable(message(fixture)));
        QVERIFY(!fixture.find("recordSteps")->isEnabled());
        fixture.studio().draft().open(fixture.preset());
        fixture.press(Qt::Key_F5);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 20, kRunPatienceMs);
        QVERIFY(mouse.go("profiler"));
        QVERIFY(mouse.press("recordHere"));
        const auto& recordings = profiler(fixture).recordings();
        QTRY_VERIFY_WITH_TIMEOUT(recordings.shown() != nullptr, kRunPatienceMs);
        const auto first = recordings.shown();
        QCOMPARE(first->recording.steps.size(), 20U);
        QVERIFY(!textOf(fixture, "profileVerdict").isEmpty());
        QVERIFY2(textOf(fixture, "profileParts").contains("A step takes"),
                 qPrintable(textOf(fixture, "profileParts")));

        // The table has the rows of `weft profile`, the longest chosen; it follows the grouping.
        auto* table = static_cast<QTableView*>(fixture.find("profileTable"));
        const auto& by_op = first->table(profile::Grouping::op);
        QCOMPARE(table->model()->rowCount(), static_cast<int>(by_op.rows.size()));
        QCOMPARE(table->currentIndex().siblingAtColumn(0).data().toString(),
                 ui::toQString(by_op.rows.front().name));
        QVERIFY(mouse.choose("profileGrouping", 3));
        const auto& by_phase = first->table(profile::Grouping::phase);
        QCOMPARE(table->model()->rowCount(), static_cast<int>(by_phase.rows.size()));
        QVERIFY(mouse.choose("profileGrouping", 0));
        QVERIFY(mouse.fill("profileFilter", "backward"));
        const int backward = table->model()->rowCount();
        QVERIFY(backward > 0 && backward < static_cast<int>(by_op.rows.size()));
        static_cast<QLineEdit*>(fixture.find("profileFilter"))->clear();

        // A row marks its calls in the step, a call of the step chooses its row.
        auto* timeline = static_cast<widgets::EventTimeline*>(fixture.find("profileTimeline"));
        const QModelIndex second = table->model()->index(1, 0);
        QVERIFY(mouse.pick("profileTable", second));
        const std::string name = second.data().toString().toStdString();
        const auto& calls = first->recording.calls;
        for (std::size_t call = 0; call < calls.size(); ++call) {
            QCOMPARE(bool(timeline->marked()[call]),
                     profile::group_name(calls[call], profile::Grouping::op) == name);
        }
        // A filter that would hide it goes.
        QVERIFY(mouse.fill("profileFilter", "no such row"));
        QCOMPARE(table->model()->rowCount(), 0);
        timeline->itemActivated(0);
        QCOMPARE(shownFilter(fixture), QString());
        QCOMPARE(table->currentIndex().siblingAtColumn(0).data().toString(),
                 ui::toQString(
                     profile::group_name(calls[static_cast<std::size_t>(timeline->spanOf(0).label)],
                                         profile::Grouping::op)));

        // A second recording stands beside the first.
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("recordSteps")->isEnabled(), kRunPatienceMs);
        QVERIFY(mouse.press("recordSteps"));
        QTRY_VERIFY_WITH_TIMEOUT(recordings.shown() != nullptr && recordings.shown() != first,
                                 kRunPatienceMs);
        QCOMPARE(recordings.listed().size(), 2U);
        auto* before = static_cast<QComboBox*>(fixture.find("profileBefore"));
        before->setCurrentIndex(1);
        before->activated(1);
        QTRY_VERIFY_WITH_TIMEOUT(recordings.before() != nullptr, kPatienceMs);
        QCOMPARE(recordings.before()->file, first->file);
        QVERIFY(!table->isColumnHidden(ui::ProfileModel::BeforeColumn));
        QVERIFY2(textOf(fixture, "profileParts").contains("it took"),
                 qPrintable(textOf(fixture, "profileParts")));

        // The trace: its steps are those of the recording.
        const auto file = fixture.root() / "step.trace.json";
        QVERIFY(mouse.inDialog([&] { return mouse.press("profileTrace"); },
                               [&] {
                                   auto* dialog = qobject_cast<QFileDialog*>(
                                       QApplication::activeModalWidget());
                                   auto* field = dialog->findChild<QLineEdit*>("fileNameEdit");
                                   const bool named = field->text().endsWith(".trace.json");
                                   field->setText(ui::pathText(file));
                                   static_cast<QDialog*>(dialog)->accept();
                                   return named;
                               }));
        QTRY_VERIFY_WITH_TIMEOUT(std::filesystem::exists(file), kPatienceMs);
        const config::Json events = config::json_of(read_file(file)).at("traceEvents");
        QCOMPARE(std::count_if(events.begin(), events.end(),
                               [](const auto& event) { return event.value("cat", "") == "step"; }),
                 20);
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        QVERIFY(!fixture.find("recordSteps")->isEnabled());
    }

    // 40 of 100 microseconds wait for the batch.
    void a_cause_that_a_setting_helps_sets_it_in_the_draft() {
        test::StudioFixture fixture;
        fixture.studio().draft().open(fixture.preset());
        const auto run = written_run(
            fixture,
            test::MadeUpRecording().batch_after(40).call(test::product("layers.0", 50), 60).done());
        QCOMPARE(fixture.studio().opener().open(run), QString());
        fixture.window().showPage("profiler");
        QTRY_VERIFY_WITH_TIMEOUT(textOf(fixture, "profileVerdict").contains("40 %"), kPatienceMs);
        auto* fix = static_cast<QPushButton*>(fixture.find("profileFix"));
        if (fixture.studio().run().config().num_workers >= 2) {
            QSKIP("nothing is to be set: the run has as many workers as there are cores");
        }
        QVERIFY2(fix->text().contains("num_workers"), qPrintable(fix->text()));
        fix->click();
        QVERIFY(fixture.studio().draft().config().num_workers >
                fixture.studio().run().config().num_workers);
        QVERIFY(!fix->isVisible());
        fixture.studio().draft().undo();
        QVERIFY(fix->isVisible());
    }

    void a_recording_that_cannot_be_read_says_why() {
        test::StudioFixture fixture;
        const auto run = written_run(
            fixture, test::MadeUpRecording().call(test::product("layers.0", 50), 60).done());
        const auto file = profile::list_recordings(run).front();
        write_file_atomically(file, read_file(file).substr(0, 100));
        QCOMPARE(fixture.studio().opener().open(run), QString());
        fixture.window().showPage("profiler");
        QTRY_VERIFY_WITH_TIMEOUT(message(fixture).contains("no whole recording"), kPatienceMs);
        QVERIFY2(message(fixture).contains("step-00000100.json"), qPrintable(message(fixture)));
    }

    void a_run_without_recordings_says_what_to_do() {
        test::StudioFixture fixture;
        test::RunLog log(fixture.root() / "runs" / "plain", test::tiny_config());
        log.steps(1, 5, 0.5);
        QCOMPARE(fixture.studio().opener().open(log.folder()), QString());
        fixture.window().showPage("profiler");
        QTRY_VERIFY_WITH_TIMEOUT(message(fixture).contains("--profile 20"), kPatienceMs);
    }
};

WEFT_TEST(ProfilerTest)
#include "profiler_test.moc"
