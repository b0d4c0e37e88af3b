// SPDX-License-Identifier: GPL-3.0-or-later
// How runs end: one that really diverges, with ways on that lead on; one that finishes, summed up.
#include "tests/support/weft_test.h"
#include "tests/ui/filled_buttons.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/pages/live/summary_card.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"

#include <QClipboard>
#include <QPushButton>

#include <algorithm>
#include <fstream>
#include <utility>

namespace {

using namespace weft;
using test::kRunPatienceMs;

/// AdamW with a weight decay of learning_rate * 0.01 = 10 a step multiplies every weight by -9: the
/// loss overflows f32 within some dozen steps on any machine.
std::string diverging_config(const std::string& checkpoint_every) {
    std::string text = test::tiny_config();
    text.replace(text.find("\"seed\": 3"), 9,
                 R"("seed": 3, "optimizer": {"type": "adamw", "learning_rate": 1e3,
                                             "weight_decay": 0.01})");
    text.replace(text.find("\"steps\": 1000}"), 14, checkpoint_every);
    return text;
}

QString text_of(test::StudioFixture& fixture, const char* name) {
    return static_cast<widgets::TextLabel*>(fixture.find(name))->text();
}

QStringList summary_words(test::StudioFixture& fixture) {
    QStringList words;
    for (const auto* label : fixture.find("summaryCard")->findChildren<widgets::TextLabel*>()) {
        words << label->text();
    }
    return words;
}

QString summary_title(test::StudioFixture& fixture) {
    return static_cast<widgets::ElidedLabel*>(fixture.find("summaryTitle"))->text();
}

} // namespace

class OutcomeTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void a_diverged_run_names_op_and_checkpoint_and_goes_on_from_it_changed() {
        test::StudioFixture fixture;
        start(fixture, "\"steps\": 5}");
        QVERIFY(fixture.find("failureCard")->isVisible());
        QVERIFY(text_of(fixture, "failureTitle").contains("failed after step"));
        const train::ErrorEvent& error = *fixture.studio().run().failure();
        QCOMPARE(error.kind, std::string("diverged"));
        QVERIFY(!error.where.empty());
        // Each fact once: the op, and what is kept.
        QCOMPARE(text_of(fixture, "failureWhere"), QString::fromStdString(error.where));
        QVERIFY2(!text_of(fixture, "failureMessage").contains(QString::fromStdString(error.where)),
                 qPrintable(text_of(fixture, "failureMessage")));
        const QString last =
            QString("step %1").arg(fixture.studio().run().checkpoints().back().step);
        QVERIFY(text_of(fixture, "failureKept").startsWith("Last good checkpoint: " + last));
        QVERIFY(!fixture.find("failureHint")->isVisibleTo(fixture.find("failureCard")));
        const auto saved = fixture.studio().run().checkpoints();
        QVERIFY(!saved.empty());
        QVERIFY(error.ways_on.size() >= 2 && error.ways_on.size() <= 3);
        QTRY_VERIFY(fixture.find("failureCheckpoint")->isVisible()); // by its layout, in turn

        // A triangle at the axis of the loss: nothing was to be drawn there.
        const auto* chart = static_cast<widgets::LineChart*>(fixture.find("lossChart"));
        const auto marked = [chart] {
            std::size_t count = 0;
            for (int series = 0; series < 100; ++series) {
                count += chart->nonFiniteCount(series);
            }
            return count;
        };
        QTRY_COMPARE(marked(), std::size_t{1});

        const auto parent = fixture.studio().run().folder();
        const auto* way = static_cast<QPushButton*>(fixture.find("wayOn0"));
        QVERIFY(way->text().contains("half the learning rate"));
        fixture.click("wayOn0");
        QTRY_VERIFY(fixture.studio().run().folder() != parent);
        QCOMPARE(
            fixture.studio().run().config().section("optimizer").at("learning_rate").get<double>(),
            500.0);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().origin() || !fixture.studio().isTraining(),
                                 kRunPatienceMs);
        QVERIFY(fixture.studio().run().origin().has_value());
        QCOMPARE(fixture.studio().run().origin()->run, parent);
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
    }

    void before_the_first_save_the_way_on_is_from_the_last_good_step() {
        test::StudioFixture fixture;
        start(fixture, "\"steps\": 100000}");
        QCOMPARE(fixture.studio().run().checkpoints().size(), std::size_t{1});
        const std::int64_t step = fixture.studio().run().checkpoints().front().step;
        QCOMPARE(step, fixture.studio().run().step());
        QVERIFY(static_cast<QPushButton*>(fixture.find("wayOn0"))
                    ->text()
                    .startsWith(QString("Resume from step %1").arg(step)));
        const auto parent = fixture.studio().run().folder();
        fixture.click("wayOn0");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().folder() != parent, kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().origin() || !fixture.studio().isTraining(),
                                 kRunPatienceMs);
        QVERIFY(fixture.studio().run().origin().has_value());
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
    }

    void a_finished_run_is_summed_up_and_the_summary_can_be_saved() {
        test::StudioFixture fixture;
        std::string config = test::tiny_config();
        config.replace(config.find("\"steps\": 100000}"), 16, "\"steps\": 30}");
        const auto file = fixture.root() / "short.json";
        std::ofstream(file) << config;
        fixture.window().showPage("train");
        QVERIFY(fixture.studio().control().startFile(file).started);
        QVERIFY(!fixture.find("summaryCard")->isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        QTRY_VERIFY(fixture.find("summaryCard")->isVisible());
        auto* card = fixture.window().findChild<ui::SummaryCard*>("summaryCard");
        QVERIFY(summary_title(fixture).contains("step 30"));
        const config::Json json = card->json();
        QCOMPARE(json.at("steps").get<int>(), 30);
        const double loss = *fixture.studio().run().lastMetric("validation/loss");
        QCOMPARE(json.at("last").at("validation/loss").get<double>(), loss);
        const QString path = QString::fromStdString((fixture.root() / "end.json").string());
        QVERIFY(card->save(path));
        QFile saved(path);
        QVERIFY(saved.open(QIODevice::ReadOnly));
        QCOMPARE(config::json_of(saved.readAll().toStdString()), json);
        QVERIFY(!card->save("/no/such/folder/end.json"));
        fixture.click("summaryCopy");
        QVERIFY(QGuiApplication::clipboard()->text().contains("loss: best"));
        fixture.click("summaryClose");
        QVERIFY(!fixture.find("summaryCard")->isVisible());
    }

    void the_end_of_a_run_moves_nothing_and_a_stopped_one_goes_on_by_its_first_button() {
        test::StudioFixture fixture;
        fixture.window().showPage("train");
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 0, kRunPatienceMs);
        QTRY_VERIFY(fixture.find("lossChart")->isVisible());
        const auto places = [&] {
            QList<QRect> all;
            for (const char* name : {"lossChart", "predictionTab", "numbers"}) {
                const QWidget* one = fixture.find(name);
                all << QRect(one->mapTo(&fixture.window(), QPoint()), one->size());
            }
            return all;
        };
        QList<QRect> before; // as they stay once the page has shown the run for a while
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 100, kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(std::exchange(before, places()) == before, kRunPatienceMs);
        fixture.studio().control().stopAndSave();
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("summaryCard")->isVisible(), kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        QCOMPARE(places(), before);
        const std::int64_t stopped = fixture.studio().run().step();
        int first = 1 << 20;
        for (const char* name : {"summaryTry", "summaryKeep", "summaryClose"}) {
            first = std::min(first, fixture.find(name)->x());
        }
        QVERIFY(fixture.find("summaryResume")->isVisible());
        QVERIFY(fixture.find("summaryResume")->x() < first);
        QVERIFY(!fixture.find("summaryLonger")->isVisible());
        QVERIFY(!summary_words(fixture).contains("Test")); // it was not measured
        QVERIFY(summary_words(fixture).contains("Last"));
        fixture.click("summaryResume");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > stopped, kRunPatienceMs);
        QVERIFY(!fixture.find("summaryCard")->isVisible());
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
    }

    void what_comes_next_is_the_one_filled_button() {
        test::StudioFixture fixture;
        const auto filled = [&] { return test::filled_buttons(fixture.window()); };
        fixture.window().showPage("train");
        QCOMPARE(filled(), QStringList{"goHome"});
        fixture.studio().draft().open(fixture.preset());
        QTRY_COMPARE(filled(), QStringList{"run.start.button"});
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 0, kRunPatienceMs);
        QCOMPARE(filled(), QStringList()); // it trains: nothing need be done
        fixture.click("run.pause.button");
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().state(), train::RunState::paused,
                                  kRunPatienceMs);
        QCOMPARE(filled(), QStringList{"run.pause.button"}); // it says Resume now
        fixture.studio().control().stopAndSave();
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("summaryCard")->isVisible(), kRunPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        QTRY_COMPARE(filled(), QStringList{"summaryResume"});
        fixture.click("summaryClose");
        QCOMPARE(filled(), QStringList{"run.start.button"});
        fixture.window().showPage("checkpoints");
        QTRY_COMPARE_WITH_TIMEOUT(filled(), QStringList{"resumeRun"}, kRunPatienceMs);
        QVERIFY(fixture.find("resumeRun")->isEnabled());
        fixture.window().showPage("training");
        QCOMPARE(filled(), QStringList{"run.start.button"});
    }

    void a_finished_run_is_trained_longer_from_its_summary() {
        test::StudioFixture fixture;
        std::string config = test::tiny_config();
        config.replace(config.find("\"steps\": 100000}"), 16, "\"steps\": 30}");
        test::write_file(fixture.root() / "short.json", config);
        fixture.window().showPage("train");
        QVERIFY(fixture.studio().control().startFile(fixture.root() / "short.json").started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("summaryCard")->isVisible(), kRunPatienceMs);
        QVERIFY(!fixture.find("summaryResume")->isVisible());
        test::Mouse mouse(fixture);
        QVERIFY(mouse.inDialog([&] { return mouse.press("summaryLonger"); },
                               [&] { return mouse.key(Qt::Key_Return); })); // a fifth: 6 steps
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().finished() &&
                                     fixture.studio().run().finished()->steps == 36,
                                 kRunPatienceMs);
    }

private:
    /// Starts and waits until the run has failed.
    static void start(test::StudioFixture& fixture, const std::string& checkpoint_every) {
        const auto file = fixture.root() / "diverging.json";
        std::ofstream(file) << diverging_config(checkpoint_every);
        fixture.window().showPage("train");
        const ui::StartResult started = fixture.studio().control().startFile(file);
        QVERIFY2(started.started, qPrintable(started.problem));
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        QTRY_COMPARE(fixture.studio().run().state(), train::RunState::failed);
    }
};

WEFT_TEST(OutcomeTest)
#include "outcome_test.moc"
