// SPDX-License-Identifier: GPL-3.0-or-later
// The first minute of somebody who has only a mouse: the demo, its curve while it falls, and what
// the network says of a drawing.
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "ui/plurals.h"
#include "widgets/line_chart.h"
#include "widgets/probability_bars.h"
#include "widgets/sketch_pad.h"

#include <fstream>

namespace {

using namespace weft;

constexpr int kPatienceMs = 120000; // for a loaded machine
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

} // namespace

class FirstMinuteTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void the_demo_is_started_watched_and_tried_with_the_mouse() {
        test::StudioFixture fixture;
        std::ofstream(fixture.preset().replace_filename("fashion-mlp.json")) << kDemo;
        fixture.window().activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&fixture.window()));
        test::Mouse mouse(fixture);
        QCOMPARE(fixture.window().currentPage(), QString("home"));
        QVERIFY(mouse.press("runDemo"));
        QTRY_COMPARE_WITH_TIMEOUT(fixture.window().currentPage(), QString("train"), kPatienceMs);
        const ui::RunModel& run = fixture.studio().run();
        const auto* chart = fixture.window().findChild<widgets::LineChart*>("lossChart");
        QTRY_VERIFY_WITH_TIMEOUT(run.steps().loss.size() > 10, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(chart->isVisible(), kPatienceMs);
        // The curve falls.
        QTRY_COMPARE_WITH_TIMEOUT(run.state(), train::RunState::finished, kPatienceMs);
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
        QVERIFY(mouse.choose("predictionPart", 2));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("sketchPad")->isVisible(), kPatienceMs);
        QWidget* pad = fixture.find("sketchPad");
        QTest::mousePress(pad, Qt::LeftButton, {}, pad->rect().center() - QPoint(40, 40));
        QTest::mouseMove(pad, pad->rect().center() + QPoint(40, 40));
        QTest::mouseRelease(pad, Qt::LeftButton, {}, pad->rect().center() + QPoint(40, 40));
        const auto* bars = fixture.window().findChild<widgets::ProbabilityBars*>("tryBars");
        QTRY_COMPARE_WITH_TIMEOUT(bars->bars().size(), std::size_t{4}, kPatienceMs);
        double all = 0.0;
        for (const auto& bar : bars->bars()) {
            all += bar.share;
        }
        QVERIFY(std::abs(all - 1.0) < 1e-3); // shares of one
    }
};

WEFT_TEST(FirstMinuteTest)
#include "first_minute_test.moc"
