// SPDX-License-Identifier: GPL-3.0-or-later
// Every page in its empty, loading, error and full states, light and dark, at both designed sizes.
#include "tests/support/weft_test.h"
#include "tests/ui/studio_fixture.h"
#include "ui/models/checkpoint_model.h"
#include "ui/models/problem_model.h"
#include "ui/pages/data/data_page.h"
#include "ui/pages/page_list.h"

#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QTableView>

namespace {

using namespace weft;

/// Share of pixels that differ from the first one: a page that painted nothing has none.
double painted_share(const QImage& image) {
    const QRgb first = image.pixel(0, 0);
    qint64 different = 0;
    for (int y = 0; y < image.height(); y += 3) {
        for (int x = 0; x < image.width(); x += 3) {
            different += image.pixel(x, y) != first ? 1 : 0;
        }
    }
    return static_cast<double>(different) / (image.width() * image.height() / 9.0);
}

train::Event event_at(double time, train::Payload payload) {
    return {0, time, std::move(payload)};
}

/// Some hundred steps with evaluations, as a finished run would have said them.
std::vector<train::Event> full_run() {
    std::vector<train::Event> events;
    train::StateEvent running;
    running.state = train::RunState::running;
    running.total_steps = 400;
    events.push_back(event_at(1, running));
    for (int i = 1; i <= 300; ++i) {
        train::StepEvent step;
        step.step = i;
        step.epoch = i / 100.0;
        step.loss = 2.3 / (1 + i / 40.0);
        step.learning_rate = 1e-3;
        step.grad_norm = 0.8;
        step.samples_per_s = 1200;
        events.push_back(event_at(1 + i * 0.1, step));
        if (i % 100 == 0) {
            events.push_back(event_at(
                1 + i * 0.1, train::EvaluationEvent{i,
                                                    {{"validation/loss", step.loss * 1.1},
                                                     {"validation/accuracy", 0.8 + i / 2000.0}}}));
            events.push_back(event_at(
                1 + i * 0.1, train::CheckpointEvent{i, "checkpoints", 1000, 1, 2, {"newest"}}));
        }
    }
    return events;
}

} // namespace

class PagesTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(".*")); }

    void every_page_paints_in_every_state_and_theme_data() {
        QTest::addColumn<QString>("page");
        QTest::addColumn<QString>("state");
        QTest::addColumn<bool>("dark");
        QTest::addColumn<QSize>("size");
        for (const ui::PageRecord* record : ui::allPages()) {
            for (const char* state : {"empty", "loading", "error", "full"}) {
                for (const bool dark : {false, true}) {
                    const QSize size = dark ? QSize(1024, 680) : QSize(1440, 900);
                    QTest::addRow("%s %s %s", record->id, state, dark ? "dark" : "light")
                        << QString(record->id) << QString(state) << dark << size;
                }
            }
        }
    }

    void every_page_paints_in_every_state_and_theme() {
        QFETCH(QString, page);
        QFETCH(QString, state);
        QFETCH(bool, dark);
        QFETCH(QSize, size);
        test::StudioFixture fixture;
        ui::MainWindow& window = fixture.window();
        window.actions().get(dark ? ui::action::kThemeDark : ui::action::kThemeLight)->trigger();
        window.resize(size);
        ui::RunModel& run = fixture.studio().run();
        const auto config =
            compile::read_run_config(std::string_view(test::tiny_config()), fixture.root());
        QVERIFY(config.ok());
        if (state != "empty") {
            run.begin(fixture.root() / "runs" / "shown", config.config);
            config::Json draft = config.config.document;
            if (state == "error") {
                draft["data"]["train"] = {{"type", "idx"}, {"path", "gone"}};
            }
            fixture.studio().draft().setDocument(draft, fixture.root());
        }
        if (state == "full" || state == "error") {
            run.apply(full_run());
        }
        if (state == "error") {
            train::ErrorEvent error{"diverged",
                                    "layers.0 linear",
                                    "the loss is NaN",
                                    "Lower the learning rate.",
                                    {{"Resume from 100 with half the rate", 100, {}}}};
            run.apply({event_at(99, error)});
        }
        window.showPage(page);
        QTRY_VERIFY(fixture.studio().index().isLoaded());
        if (page == "data" && (state == "full" || state == "error")) {
            using Preview = ui::DataPreview;
            const Preview& preview = static_cast<ui::DataPage*>(window.page(page))->preview();
            QTRY_COMPARE(preview.state(),
                         state == "full" ? Preview::State::Ready : Preview::State::Failed);
        }
        const QImage picture = window.grab().toImage();
        QVERIFY(!picture.isNull());
        QVERIFY(painted_share(picture) > 0.02);
        QVERIFY(window.page(page)->isVisible());
        QCOMPARE(window.size(), size); // nothing forces the window to grow
    }

    void the_failure_is_named_with_its_ways_on() {
        test::StudioFixture fixture;
        const auto config =
            compile::read_run_config(std::string_view(test::tiny_config()), fixture.root());
        ui::RunModel& run = fixture.studio().run();
        run.begin(fixture.root() / "runs" / "shown", config.config);
        run.apply(full_run());
        train::ErrorEvent error{"diverged",
                                "layers.0 linear",
                                "the loss is NaN",
                                "Lower it.",
                                {{"Half the rate", 100, {"optimizer.learning_rate=0.0005"}}}};
        train::StateEvent failed;
        failed.state = train::RunState::failed;
        run.apply({event_at(99, error), event_at(99, failed)});
        fixture.window().showPage("train");
        QVERIFY(fixture.find("failureCard")->isVisible());
        const auto buttons = fixture.find("failureCard")->findChildren<QPushButton*>();
        QVERIFY(std::any_of(buttons.begin(), buttons.end(), [](const QPushButton* button) {
            return button->text() == "Half the rate";
        }));
    }

    void the_item_models_keep_their_contract() {
        test::StudioFixture fixture;
        ui::ProblemModel problems(fixture.studio());
        const QAbstractItemModelTester problem_tester(&problems);
        fixture.studio().draft().setDocument({{"schema_version", 1}, {"modle", 3}}, ".");
        QVERIFY(problems.errors() >= 1);

        ui::CheckpointModel checkpoints;
        const QAbstractItemModelTester checkpoint_tester(&checkpoints);
        const auto config =
            compile::read_run_config(std::string_view(test::tiny_config()), fixture.root());
        ui::RunModel run;
        run.begin(fixture.root() / "runs" / "shown", config.config);
        run.apply(full_run());
        checkpoint::Entry newest;
        newest.step = 300;
        newest.record.step = newest.record.metric_step = 300;
        newest.record.metrics = {{"validation/loss", 0.3}};
        checkpoint::Entry best = newest;
        best.step = best.record.step = best.record.metric_step = 200;
        best.record.metrics = {{"validation/loss", 0.2}};
        checkpoint::Entry broken;
        broken.step = 100;
        broken.problem = "no commit marker";
        checkpoints.setContent(run, {broken, best, newest});
        QCOMPARE(checkpoints.rowCount(), 3);
        QVERIFY(checkpoints.row(0).newest && !checkpoints.row(0).best);
        QVERIFY(checkpoints.row(1).best && !checkpoints.row(1).newest);
        QVERIFY(!checkpoints.row(2).best && !checkpoints.row(2).problem.empty());
    }

    void a_bad_configuration_shows_every_problem_and_start_is_blocked() {
        test::StudioFixture fixture;
        QFile file(QString::fromStdString((fixture.root() / "bad.json").string()));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(R"({"schema_version": 1, "nme": "x", "data": {"train": {"type": "idx2"}},
                       "model": {"type": "mlp", "hidden": [0]}, "seed": "a",
                       "training": {"precision": "f61", "global_batch_size": -1}})");
        file.close();
        QCOMPARE(fixture.studio().opener().open(fixture.root() / "bad.json"), QString());
        auto* table = static_cast<QTableView*>(fixture.find("problemsTable"));
        QVERIFY(table->isVisible());
        QVERIFY(table->model()->rowCount() >= 6);
        const QAction* start = fixture.window().actions().get(ui::action::kStart);
        QVERIFY(!start->isEnabled());
        QVERIFY(start->toolTip().contains(
            table->model()->index(0, ui::ProblemModel::MessageColumn).data().toString()));
    }
};

WEFT_TEST(PagesTest)
#include "pages_test.moc"
