// SPDX-License-Identifier: GPL-3.0-or-later
// The view Inside, by mouse: what a run saw of its layers, at a step and over the steps; and a run
// that is told to look while it trains.
#include "core/train/inside/inside_file.h"
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/pages/live/inside/layer_model.h"
#include "ui/pages/live/inside/spread_columns.h"
#include "widgets/controls/text_label.h"
#include "widgets/spread/spread_map.h"
#include "widgets/views/step_dots.h"

#include <QTableView>

#include <cmath>
#include <fstream>
#include <numeric>
#include <random>

namespace {

using namespace weft;
using test::kRunPatienceMs;

constexpr int kInsideView = 1; // of "trainView"
enum Numbers { Weights, Gradients, Updates, Activations };

template <class Widget>
Widget* part_of(test::StudioFixture& fixture, const char* name) {
    return static_cast<Widget*>(fixture.find(name));
}

QString cell(const QTableView& table, int row, int column) {
    return table.model()->index(row, column).data().toString();
}

void start(test::StudioFixture& fixture, const std::string& config) {
    const auto file = fixture.root() / "run.json";
    std::ofstream(file) << config;
    fixture.window().showPage("train");
    const ui::StartResult started = fixture.studio().control().startFile(file);
    QVERIFY2(started.started, qPrintable(started.problem));
}

std::string short_run() {
    std::string config = test::tiny_config();
    config.replace(config.find("\"steps\": 100000}"), 16, "\"steps\": 30}");
    config.replace(config.find("\"seed\": 3"), 9, "\"seed\": 3, \"log\": {\"inside_every\": 10}");
    return config;
}

/// Of numbers, as a run writes it.
train::WrittenSpread written_spread(const std::vector<float>& values) {
    train::Spread spread;
    spread.add(ir::DType::f32, values.data(), std::ssize(values));
    train::WrittenSpread out;
    out.count = spread.count;
    out.low = spread.low;
    out.high = spread.high;
    out.bins.assign(spread.bins.begin(), spread.bins.end());
    return out;
}

} // namespace

class InsideTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void what_a_run_saw_is_shown_layer_by_layer() {
        test::StudioFixture fixture;
        start(fixture, short_run());
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        train::InsideReader reader(fixture.studio().run().folder());
        QVERIFY(reader.read_on());
        const train::InsideHistory& seen = reader.history();
        QCOMPARE(seen.steps, (std::vector<std::int64_t>{10, 20, 30}));

        test::Mouse mouse(fixture);
        QTRY_VERIFY(mouse.choose("trainView", kInsideView));
        auto* table = part_of<QTableView>(fixture, "insideTable");
        QTRY_COMPARE(table->model()->rowCount(), int(seen.parameters.size()));
        QCOMPARE(cell(*table, 0, ui::LayerModel::NameColumn), QString("layers.0.weight"));
        QCOMPARE(cell(*table, 0, ui::LayerModel::FirstFigure),
                 ui::formatMetric(seen.parameters[0].points[2].weights.norm));

        // Another kind of numbers, an earlier step.
        QVERIFY(mouse.choose("insideKind", Gradients));
        part_of<widgets::StepDots>(fixture, "insideSteps")->setChosen(0);
        QTRY_COMPARE(cell(*table, 0, ui::LayerModel::FirstFigure),
                     ui::formatMetric(seen.parameters[0].points[0].gradients.norm));
        QVERIFY(part_of<widgets::TextLabel>(fixture, "insideStep")->text().startsWith("Step 10"));
        QVERIFY(mouse.choose("insideKind", Updates));
        QCOMPARE(cell(*table, 2, ui::LayerModel::SecondFigure),
                 ui::formatMetric(seen.parameters[2].points[0].update_ratio));
        QVERIFY(mouse.choose("insideKind", Activations));
        QCOMPARE(cell(*table, 0, ui::LayerModel::FourthFigure),
                 QString("%1 of 32").arg(seen.activations[0].points[0].dead));

        // The map has the steps, and says what is under the mouse.
        auto* map = part_of<widgets::SpreadMap>(fixture, "insideMap");
        QCOMPARE(map->itemCount(), 3);
        QCOMPARE(map->chosen(), 0);
        const QRectF last = map->item(2).rect;
        QTest::mouseMove(map, last.center().toPoint());
        QTRY_VERIFY(
            part_of<widgets::TextLabel>(fixture, "insidePointed")->text().startsWith("step 30: "));
        QTest::mouseClick(map, Qt::LeftButton, {}, last.center().toPoint());
        QTRY_COMPARE(map->chosen(), 2);
        const auto linear = map->history().edges;
        QVERIFY(mouse.choose("insideAxis", 1));
        QVERIFY(map->history().edges != linear);
    }

    void a_run_that_trains_is_told_to_look() {
        test::StudioFixture fixture;
        start(fixture, test::tiny_config());
        ui::RunModel& run = fixture.studio().run();
        QTRY_VERIFY_WITH_TIMEOUT(run.step() > 5, kRunPatienceMs);
        test::Mouse mouse(fixture);
        QTRY_VERIFY(mouse.choose("trainView", kInsideView));
        QVERIFY(mouse.press("insideBegin"));
        QTRY_COMPARE_WITH_TIMEOUT(run.settings().size(), std::size_t{1}, kRunPatienceMs);
        QCOMPARE(run.settings()[0].value, config::Json(50));
        // What it sees comes in while it trains.
        auto* steps = part_of<widgets::StepDots>(fixture, "insideSteps");
        QTRY_VERIFY_WITH_TIMEOUT(steps->itemCount() >= 2, kRunPatienceMs);
        QVERIFY(fixture.studio().isTraining());
        QVERIFY(mouse.press("insideStop"));
        QTRY_COMPARE_WITH_TIMEOUT(run.settings().size(), std::size_t{2}, kRunPatienceMs);
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
    }

    void a_run_that_never_looked_says_how_it_would() {
        test::StudioFixture fixture;
        std::string config = test::tiny_config();
        config.replace(config.find("\"steps\": 100000}"), 16, "\"steps\": 5}");
        start(fixture, config);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        test::Mouse mouse(fixture);
        QTRY_VERIFY(mouse.choose("trainView", kInsideView));
        auto* empty = fixture.find("insideEmpty");
        QVERIFY(empty->isVisible());
        QTRY_VERIFY(!empty->findChildren<widgets::TextLabel*>().isEmpty());
        QVERIFY(!fixture.window().findChild<QWidget*>("insideBegin")->isVisible());
    }

    void columns_of_both_axes_hold_the_numbers() {
        std::mt19937 random(2);
        std::normal_distribution<float> normal(0.1F, 0.3F);
        std::vector<float> values;
        for (int i = 0; i < 20000; ++i) {
            values.push_back(normal(random));
        }
        const train::WrittenSpread spread = written_spread(values);
        const train::WrittenSpread none;
        const std::vector<const train::WrittenSpread*> spreads{&spread, &none};
        const std::vector<std::int64_t> steps{1, 2};
        for (const auto axis : {ui::SpreadAxis::Linear, ui::SpreadAxis::Logarithmic}) {
            const widgets::SpreadHistory made = ui::spreadHistory(steps, spreads, axis);
            QVERIFY(std::is_sorted(made.edges.begin(), made.edges.end()));
            QCOMPARE(made.shares[0].size() + 1, made.edges.size());
            QVERIFY(made.shares[1].empty());
            const float sum = std::accumulate(made.shares[0].begin(), made.shares[0].end(), 0.0F);
            // A thousandth of a linear axis is left out at each end, as whole bins.
            QVERIFY(sum > 0.99F && sum < 1.0001F);
            // As many below 0 as there are.
            double below = 0;
            for (std::size_t i = 0; i < made.shares[0].size(); ++i) {
                const double low = made.edges[i];
                const double high = made.edges[i + 1];
                const double part = high <= 0 ? 1 : low >= 0 ? 0 : -low / (high - low);
                below += part * double(made.shares[0][i]);
            }
            const auto counted = double(
                std::count_if(values.begin(), values.end(), [](float value) { return value < 0; }));
            QVERIFY(std::abs(below - counted / 20000) < 0.005);
        }
    }
};

WEFT_TEST(InsideTest)
#include "inside_test.moc"
