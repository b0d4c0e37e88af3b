// SPDX-License-Identifier: GPL-3.0-or-later
// By mouse: a run that diverged shows what it came from, and a way on opens the form of a fork with
// the change filled in. Settings that are changed while a run trains.
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/pages/live/divergence/divergence_panel.h"
#include "widgets/controls/text_label.h"
#include "widgets/spread/histogram_view.h"
#include "widgets/spread/norm_rows.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace {

using namespace weft;
using test::kRunPatienceMs;

enum View { CurvesView, InsideView, RecursionView, DivergenceView };

/// A table of which one row overflows f32 when its target is squared.
std::string overflowing_run(const std::filesystem::path& folder, const char* on_nonfinite) {
    std::ofstream table(folder / "houses.csv");
    table << "rooms,age,price\n";
    for (int i = 0; i < 64; ++i) {
        table << i % 7 << "," << (i * 7) % 13 << "," << (i == 20 ? 3e30 : 0.5 * i) << "\n";
    }
    const config::Json document = {{"name", "houses"},
                                   {"data",
                                    {{"train",
                                      {{"type", "csv"},
                                       {"path", (folder / "houses.csv").string()},
                                       {"targets", "price"},
                                       {"scale_targets", "none"}}},
                                     {"validation", nullptr},
                                     {"shuffle", false}}},
                                   {"model", {{"type", "mlp"}, {"hidden", {8, 8}}}},
                                   {"loss", {{"type", "mse"}}},
                                   {"training",
                                    {{"length", {{"steps", 12}}},
                                     {"global_batch_size", 8},
                                     {"precision", "f32"},
                                     {"on_nonfinite", on_nonfinite}}},
                                   {"checkpoint", {{"every", {{"steps", 1}}}, {"keep_latest", 9}}}};
    return document.dump();
}

QString said_by(test::StudioFixture& fixture, const char* name) {
    return static_cast<widgets::TextLabel*>(fixture.find(name))->text();
}

void train_to_its_end(test::StudioFixture& fixture, const std::string& config) {
    const auto file = fixture.root() / "run.json";
    std::ofstream(file) << config;
    fixture.window().showPage("train");
    const ui::StartResult started = fixture.studio().control().startFile(file);
    QVERIFY2(started.started, qPrintable(started.problem));
    QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
}

} // namespace

class DivergenceTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void what_a_divergence_came_from_is_shown_and_a_way_on_is_a_form_filled_in() {
        test::StudioFixture fixture;
        train_to_its_end(fixture, overflowing_run(fixture.root(), "stop"));
        QTRY_COMPARE(fixture.studio().run().state(), train::RunState::failed);
        test::Mouse mouse(fixture);
        // The card of the failure comes in above and pushes it down.
        QTRY_VERIFY(mouse.choose("trainView", DivergenceView));
        auto* panel = fixture.window().findChild<ui::DivergencePanel*>("divergencePanel");
        QTRY_COMPARE(panel->shownStep(), std::int64_t{3});
        QVERIFY(
            said_by(fixture, "divergenceMessage").startsWith("Step 3: the loss became infinite"));
        QVERIFY(said_by(fixture, "divergenceOp").endsWith("at loss"));
        QVERIFY(said_by(fixture, "divergenceLayer").contains("forward"));
        QVERIFY(!panel->findChildren<widgets::HistogramView*>().isEmpty());
        // The row of the table that did it is marked and named.
        const auto labels = panel->findChildren<widgets::TextLabel*>();
        QVERIFY(std::any_of(labels.begin(), labels.end(), [](const auto* label) {
            return label->role() == widgets::Role::Error && label->text().contains("row 21") &&
                   label->text().contains("target 3");
        }));
        const auto* norms = panel->findChild<widgets::NormRows*>("divergenceNorms");
        QCOMPARE(norms->rows().size(), std::size_t{3});
        QCOMPARE(norms->rows()[0].name, QString("layers.0"));
        QCOMPARE(norms->rows()[0].values.size(), std::size_t{2}); // since the oldest checkpoint

        // The third way leaves the batch out.
        const auto parent = fixture.studio().run().folder();
        const auto* way = static_cast<QPushButton*>(fixture.find("divergenceWay2"));
        QVERIFY2(way->text().contains("without the batch of step 3"), qPrintable(way->text()));
        QVERIFY(mouse.inDialog([&] { return mouse.press("divergenceWay2"); },
                               [&] { return mouse.press("startFork"); }));
        QTRY_VERIFY(fixture.studio().run().folder() != parent);
        QCOMPARE(fixture.studio().run().config().pass_over, (std::vector<std::int64_t>{3}));
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
    }

    void a_run_that_rewound_says_so_and_goes_on() {
        test::StudioFixture fixture;
        train_to_its_end(fixture, overflowing_run(fixture.root(), "rewind"));
        QTRY_COMPARE(fixture.studio().run().state(), train::RunState::finished);
        test::Mouse mouse(fixture);
        QTRY_VERIFY(mouse.choose("trainView", DivergenceView));
        auto* panel = fixture.window().findChild<ui::DivergencePanel*>("divergencePanel");
        QTRY_COMPARE(panel->shownStep(), std::int64_t{11}); // of the second epoch
        QCOMPARE(said_by(fixture, "divergenceOutcome"),
                 QString("The run went back to step 10 and left step 11 out."));
        QVERIFY(panel->findChild<QPushButton*>("divergenceWay0") ==
                nullptr); // nothing is to be done
        auto* steps = static_cast<QComboBox*>(fixture.find("divergenceStep"));
        QCOMPARE(steps->count(), 2);
    }

    void a_run_that_stayed_finite_has_no_such_view() {
        test::StudioFixture fixture;
        std::string config = test::tiny_config();
        config.replace(config.find("\"steps\": 100000}"), 16, "\"steps\": 30}");
        train_to_its_end(fixture, config);
        const auto views = fixture.find("trainView")->findChildren<QAbstractButton*>();
        QVERIFY(views.at(InsideView)->isVisible());
        QVERIFY(!views.at(DivergenceView)->isVisible());
    }

    void settings_are_changed_while_it_trains() {
        test::StudioFixture fixture;
        std::string config = test::tiny_config();
        config.replace(config.find("\"precision\": \"f32\""), 18,
                       "\"precision\": \"f32\", \"freezable\": true");
        const auto file = fixture.root() / "live.json";
        std::ofstream(file) << config;
        fixture.window().showPage("train");
        QVERIFY(fixture.studio().control().startFile(file).started);
        ui::RunModel& run = fixture.studio().run();
        QTRY_VERIFY_WITH_TIMEOUT(run.step() > 5, kRunPatienceMs);
        test::Mouse mouse(fixture);
        QVERIFY(mouse.command("run.settings"));
        QTRY_VERIFY(fixture.window().findChild<QDialog*>("liveSettings") != nullptr);
        auto* dialog = fixture.window().findChild<QDialog*>("liveSettings");
        QCOMPARE(dialog->findChild<QLineEdit*>("liveRate")->text(), QString("0.001"));
        QVERIFY(mouse.press("liveHalve"));
        auto* layers = dialog->findChild<QListWidget*>("liveLayers");
        QTRY_COMPARE(layers->count(), 2); // once the plan is read
        layers->item(0)->setCheckState(Qt::Checked);
        QVERIFY(mouse.press("liveApply"));
        QTRY_COMPARE_WITH_TIMEOUT(run.settings().size(), std::size_t{2}, kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(std::abs(run.lastStep().learning_rate) > 0, kRunPatienceMs);
        for (const train::SettingsEvent& changed : run.settings()) {
            QVERIFY(changed.step > 5);
            QVERIFY(changed.path == "learning_rate_multiplier" ? changed.value == config::Json(0.5)
                                                               : changed.path == "frozen");
        }
        // What is no number is said, and nothing is sent.
        dialog->findChild<QLineEdit*>("liveRate")->setText("fast");
        QVERIFY(mouse.press("liveApply"));
        QVERIFY(static_cast<widgets::TextLabel*>(fixture.find("liveOutcome"))
                    ->text()
                    .contains("number above 0"));
        QCOMPARE(run.settings().size(), std::size_t{2});
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        QTRY_VERIFY(fixture.window().findChild<QDialog*>("liveSettings") == nullptr);
    }
};

WEFT_TEST(DivergenceTest)
#include "divergence_test.moc"
