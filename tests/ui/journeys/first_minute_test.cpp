// SPDX-License-Identifier: GPL-3.0-or-later
// The first minute of somebody who has only a mouse: the demo, its curve while it falls, what the
// network says of a drawing, and the configuration to keep; also where the demo's data are not
// installed.
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "ui/plurals.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"
#include "widgets/views/probability_bars.h"
#include "widgets/views/sketch_pad.h"

#include <QFileDialog>
#include <QLineEdit>

#include <fstream>

namespace {

using namespace weft;
using test::kRunPatienceMs;
namespace fs = std::filesystem;

constexpr int kMostSeries = 32;

// Pictures of four classes that no file has to be there for; otherwise as the demo is.
constexpr const char* kDemo = R"({
  "schema_version": 1, "name": "fashion-mlp", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [12, 10, 1], "classes": 4,
                     "samples": 2000}, "validation": {"split": 0.25}},
  "model": {"type": "mlp", "hidden": [32]},
  "training": {"length": {"steps": 400}, "global_batch_size": 32, "precision": "f32"},
  "evaluation": {"every": {"steps": 100}, "samples": 8},
  "checkpoint": {"every": {"steps": 100}, "on_improvement": false}
})";

fs::path clothes(test::StudioFixture& fixture) {
    return fixture.preset().replace_filename("fashion-mlp.json");
}

void write_preset(const fs::path& path, std::string text, const std::string& what = {},
                  const std::string& instead = {}) {
    if (!what.empty()) {
        text.replace(text.find(what), what.size(), instead);
    }
    std::ofstream(path) << text;
}

/// Trains the demo to its end.
void run_demo(test::StudioFixture& fixture, test::Mouse& mouse) {
    fixture.window().activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&fixture.window()));
    QVERIFY(mouse.press("runDemo"));
    QTRY_COMPARE_WITH_TIMEOUT(fixture.window().currentPage(), QString("train"), kRunPatienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().state(), train::RunState::finished,
                              kRunPatienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
}

} // namespace

class FirstMinuteTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void the_demo_is_started_watched_and_tried_with_the_mouse() {
        test::StudioFixture fixture;
        write_preset(clothes(fixture), kDemo);
        fixture.window().activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&fixture.window()));
        test::Mouse mouse(fixture);
        QCOMPARE(fixture.window().currentPage(), QString("home"));
        QVERIFY(mouse.press("runDemo"));
        QTRY_COMPARE_WITH_TIMEOUT(fixture.window().currentPage(), QString("train"), kRunPatienceMs);
        const ui::RunModel& run = fixture.studio().run();
        const auto* chart = fixture.window().findChild<widgets::LineChart*>("lossChart");
        QTRY_VERIFY_WITH_TIMEOUT(run.steps().loss.size() > 10, kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(chart->isVisible(), kRunPatienceMs);
        // The curve falls.
        QTRY_COMPARE_WITH_TIMEOUT(run.state(), train::RunState::finished, kRunPatienceMs);
        const auto& loss = run.steps().loss;
        QVERIFY(loss.back() < loss.front());
        const auto drawn = [&] { // whichever number the chart gave it
            for (int series = 0; series < kMostSeries; ++series) {
                if (chart->pointCount(series) == loss.size()) {
                    return true;
                }
            }
            return false;
        };
        QTRY_VERIFY(drawn());
        // The last word has the user: something drawn, and what the network takes it for.
        QVERIFY(mouse.press("summaryTry"));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("sketchPad")->isVisible(), kRunPatienceMs);
        QWidget* pad = fixture.find("sketchPad");
        QTest::mousePress(pad, Qt::LeftButton, {}, pad->rect().center() - QPoint(40, 40));
        QTest::mouseMove(pad, pad->rect().center() + QPoint(40, 40));
        QTest::mouseRelease(pad, Qt::LeftButton, {}, pad->rect().center() + QPoint(40, 40));
        const auto* bars = fixture.window().findChild<widgets::ProbabilityBars*>("tryBars");
        QTRY_COMPARE_WITH_TIMEOUT(bars->bars().size(), std::size_t{4}, kRunPatienceMs);
        double all = 0.0;
        for (const auto& bar : bars->bars()) {
            all += bar.share;
        }
        QVERIFY(std::abs(all - 1.0) < 1e-3); // shares of one
    }

    // The pages that edit a draft have something to show; a draft that was there stays.
    void the_configuration_of_the_demo_is_the_draft_unless_there_is_one() {
        test::StudioFixture fixture;
        write_preset(clothes(fixture), kDemo, "\"steps\": 400", "\"steps\": 3");
        test::Mouse mouse(fixture);
        run_demo(fixture, mouse);
        QCOMPARE(fixture.studio().draft().path(), clothes(fixture));
        fixture.studio().draft().open(fixture.preset());
        QVERIFY(mouse.go("home"));
        run_demo(fixture, mouse);
        QCOMPARE(fixture.studio().draft().path(), fixture.preset());
    }

    void home_leads_to_the_try_it_panel_of_the_last_demo() {
        test::StudioFixture fixture;
        write_preset(clothes(fixture), kDemo, "\"steps\": 400", "\"steps\": 3");
        QVERIFY(!fixture.find("tryDemo")->isVisible()); // there is nothing to try
        test::Mouse mouse(fixture);
        run_demo(fixture, mouse);
        const fs::path run = fixture.studio().run().folder();
        QVERIFY(mouse.go("home"));
        QVERIFY(mouse.press("tryDemo"));
        QCOMPARE(fixture.window().currentPage(), QString("train"));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("sketchPad")->isVisible(), kRunPatienceMs);
        // Of an earlier day, too.
        fixture.reopen();
        QVERIFY(fixture.studio().run().isEmpty());
        fixture.window().showPage("home");
        QVERIFY(mouse.press("tryDemo"));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("sketchPad")->isVisible(), kRunPatienceMs);
        QCOMPARE(fixture.studio().run().folder(), run);
    }

    void a_stopped_demo_can_be_tried_as_well() {
        test::StudioFixture fixture;
        write_preset(clothes(fixture), kDemo, "\"steps\": 400", "\"steps\": 100000000");
        test::Mouse mouse(fixture);
        fixture.window().activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&fixture.window()));
        QVERIFY(mouse.press("runDemo"));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 0, kRunPatienceMs);
        QVERIFY(!fixture.find("summaryCard")->isVisible());
        fixture.studio().control().stopAndSave();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        QTRY_VERIFY(fixture.find("summaryCard")->isVisible());
        QVERIFY(mouse.press("summaryTry"));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("sketchPad")->isVisible(), kRunPatienceMs);
    }

    void the_demo_is_kept_as_a_project() {
        test::StudioFixture fixture;
        write_preset(clothes(fixture), kDemo, "\"steps\": 400", "\"steps\": 3");
        test::Mouse mouse(fixture);
        run_demo(fixture, mouse);
        fixture.studio().draft().open(fixture.preset()); // of another kind: it comes back by undo
        const fs::path mine = fixture.root() / "mine.json";
        QVERIFY(mouse.inDialog([&] { return mouse.press("summaryKeep"); },
                               [&] {
                                   auto* dialog = qobject_cast<QFileDialog*>(
                                       QApplication::activeModalWidget());
                                   auto* name = dialog->findChild<QLineEdit*>("fileNameEdit");
                                   name->setText(QString::fromStdString(mine.string()));
                                   QTest::keyClick(name, Qt::Key_Return);
                                   return true;
                               }));
        QTRY_VERIFY(fs::exists(mine));
        const ui::Draft& draft = fixture.studio().draft();
        QCOMPARE(draft.path(), mine);
        QVERIFY(draft.isValid() && draft.isSaved());
        QVERIFY(draft.differencesFrom(fixture.studio().run().config()).empty());
        fixture.studio().draft().undo();
        QCOMPARE(draft.path(), fixture.preset());
    }

    void where_its_pictures_are_not_installed_the_demo_says_so_and_learns_others() {
        test::StudioFixture fixture;
        std::string missing(kDemo);
        const auto source = missing.find("{\"type\"");
        missing.replace(source, missing.find("}", source) + 1 - source,
                        R"({"type": "idx", "path": "/no/such/folder"})");
        write_preset(clothes(fixture), missing);
        write_preset(fixture.preset().replace_filename("waves-mlp.json"), kDemo, "fashion-mlp",
                     "waves-mlp");
        fixture.reopen();
        const auto said = [&] {
            return static_cast<widgets::TextLabel*>(fixture.find("demoText"))->text();
        };
        QTRY_VERIFY_WITH_TIMEOUT(said().contains("dataset-fashion-mnist"), kRunPatienceMs);
        test::Mouse mouse(fixture);
        run_demo(fixture, mouse);
        QCOMPARE(fixture.studio().run().config().name, std::string("waves-mlp"));
        // Installed meanwhile, they are found again.
        write_preset(clothes(fixture), kDemo);
        QVERIFY(mouse.go("home"));
        QTRY_VERIFY_WITH_TIMEOUT(!said().contains("dataset-fashion-mnist"), kRunPatienceMs);
    }
};

WEFT_TEST(FirstMinuteTest)
#include "first_minute_test.moc"
