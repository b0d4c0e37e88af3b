// SPDX-License-Identifier: GPL-3.0-or-later
// The studio that is opened again is as it was left: the page, the run on screen, what was laid
// over it, and how the page was arranged.
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_log.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/curve_runs.h"
#include "widgets/controls/controls.h"

#include <QSettings>
#include <QSplitter>

namespace {

using namespace weft;
using test::kPatienceMs;

constexpr int kSizeSlack = 4; // px: sizes are shares of what there is, rounded

std::filesystem::path a_run(test::StudioFixture& fixture, const char* name) {
    test::RunLog log(fixture.root() / "runs" / name, test::tiny_config());
    log.add(train::StateEvent{train::RunState::running, "", "", 0, 100}).steps(1, 30, 1.0);
    log.add(train::StateEvent{train::RunState::stopped, "on request", "", 0, 0});
    return log.folder();
}

/// Puts it on screen, as far as it has gone.
void show(test::StudioFixture& fixture, const std::filesystem::path& run) {
    QCOMPARE(fixture.studio().opener().open(run), QString());
    QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().folder(), run, kPatienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().step(), 30, kPatienceMs);
}

template <class Widget>
Widget* named(test::StudioFixture& fixture, const char* name) {
    return fixture.window().findChild<Widget*>(name);
}

} // namespace

class ReopenTest : public QObject {
    Q_OBJECT

private slots:
    void the_page_and_the_run_on_screen_come_back() {
        test::StudioFixture fixture;
        const auto run = a_run(fixture, "mine");
        show(fixture, run);
        fixture.window().showPage("checkpoints");
        fixture.reopen();
        QCOMPARE(fixture.window().currentPage(), QString("checkpoints"));
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().step(), 30, kPatienceMs);
        QCOMPARE(fixture.studio().run().folder(), run);
        // There was no page before this one.
        QVERIFY(!fixture.window().actions().get(ui::action::kBack)->isEnabled());
    }

    void the_run_that_begins_is_kept_before_the_window_closes() {
        test::StudioFixture fixture;
        show(fixture, a_run(fixture, "mine"));
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        const auto run = fixture.studio().run().folder();
        const QSettings kept(ui::pathText(fixture.root() / "state" / "layout.ini"),
                             QSettings::IniFormat);
        QTRY_COMPARE_WITH_TIMEOUT(kept.value("run").toString(), ui::pathText(run), kPatienceMs);
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
    }

    void a_run_that_is_gone_is_not_asked_for() {
        test::StudioFixture fixture;
        const auto run = a_run(fixture, "mine");
        show(fixture, run);
        fixture.window().showPage("train");
        std::filesystem::remove_all(run);
        fixture.reopen();
        QCOMPARE(fixture.window().currentPage(), QString("train"));
        QVERIFY(fixture.studio().run().isEmpty());
    }

    void who_wants_home_gets_home_without_a_run() {
        test::StudioFixture fixture;
        show(fixture, a_run(fixture, "mine"));
        ui::Preferences preferences = fixture.studio().settings().values();
        preferences.open_last_page = false;
        fixture.studio().settings().set(preferences);
        fixture.window().showPage("train");
        fixture.reopen();
        QCOMPARE(fixture.window().currentPage(), QString("home"));
        QVERIFY(fixture.studio().run().isEmpty());
    }

    void a_run_that_trains_is_shown_before_one_that_was_looked_at() {
        test::StudioFixture fixture;
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 10, kPatienceMs);
        const auto training = fixture.studio().run().folder();
        show(fixture, a_run(fixture, "mine"));
        fixture.window().showPage("data");
        fixture.reopen();
        fixture.studio().reattach();
        fixture.studio().index().refresh();
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().folder(), training, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().isTraining(), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().control().controlProblem().isEmpty(),
                                 kPatienceMs);
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
    }

    void runs_laid_over_it_come_back_with_eye_and_colour() {
        test::StudioFixture fixture;
        const auto run = a_run(fixture, "mine");
        const auto seen = a_run(fixture, "seen");
        const auto hidden = a_run(fixture, "hidden");
        const auto gone = a_run(fixture, "gone");
        show(fixture, run);
        auto* curves = fixture.window().findChild<ui::CurveRuns*>();
        for (const auto& folder : {seen, hidden, gone}) {
            curves->setVisible(folder, true);
        }
        curves->setColor(seen, 6);
        curves->setVisible(hidden, false);
        std::filesystem::remove_all(gone);
        fixture.reopen();
        curves = fixture.window().findChild<ui::CurveRuns*>();
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().step(), 30, kPatienceMs);
        QCOMPARE(curves->runs().size(), std::size_t{3});
        QVERIFY(curves->find(seen)->visible);
        QCOMPARE(curves->find(seen)->color, 6);
        QVERIFY(!curves->find(hidden)->visible);
        QVERIFY(curves->find(gone) == nullptr);
    }

    void parts_and_sizes_of_a_page_come_back() {
        test::StudioFixture fixture;
        show(fixture, a_run(fixture, "mine"));
        fixture.window().showPage("train");
        named<widgets::SegmentedControl>(fixture, "predictionTab")->setCurrentIndex(2);
        auto* splitter = named<QSplitter>(fixture, "trainSplitter");
        QTRY_VERIFY(splitter->isVisible());
        // As the hand does: the handle is pressed and drawn to the left.
        QSplitterHandle* handle = splitter->handle(1);
        const int before = splitter->sizes().at(1);
        const QPoint from = handle->rect().center();
        QTest::mousePress(handle, Qt::LeftButton, {}, from);
        QTest::mouseMove(handle, from - QPoint(80, 0));
        QTest::mouseRelease(handle, Qt::LeftButton, {}, from - QPoint(80, 0));
        const int wanted = splitter->sizes().at(1);
        QVERIFY(wanted > before + 40);
        fixture.reopen();
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().step(), 30, kPatienceMs);
        QCOMPARE(named<widgets::SegmentedControl>(fixture, "predictionTab")->currentIndex(), 2);
        splitter = named<QSplitter>(fixture, "trainSplitter");
        QTRY_VERIFY(splitter->isVisible());
        QTRY_VERIFY2(std::abs(splitter->sizes().at(1) - wanted) <= kSizeSlack,
                     qPrintable(QString("%1, not %2").arg(splitter->sizes().at(1)).arg(wanted)));
    }
};

WEFT_TEST(ReopenTest)
#include "reopen_test.moc"
