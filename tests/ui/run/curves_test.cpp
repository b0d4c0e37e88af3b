// SPDX-License-Identifier: GPL-3.0-or-later
// The charts of the Train page: which there are, what they draw of the run, of runs laid over it
// and of the runs that it came from.
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/painted_texts.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_log.h"
#include "tests/ui/studio_fixture.h"
#include "ui/models/overlay_model.h"
#include "ui/pages/live/chart_grid.h"
#include "ui/pages/live/curve_panel.h"
#include "ui/pages/runs/runs_page.h"
#include "ui/pages/runs/runs_table.h"
#include "ui/pages/runs/wall/wall_cell.h"
#include "ui/pages/runs/wall/wall_panel.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/delegates/run_row_delegate.h"
#include "widgets/controls/log_view.h"
#include "widgets/controls/number_strip.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QListView>
#include <QPushButton>
#include <QScrollArea>
#include <QTableView>
#include <qcustomplot.h>

namespace {

using namespace weft;
using test::kPatienceMs;
using ui::CurveRun;
using ui::XAxis;

std::string config_at_rate(const std::string& name, const std::string& rate) {
    std::string text = test::tiny_config();
    text.replace(text.find("\"tiny\""), 6, '"' + name + '"');
    text.replace(text.find("\"seed\": 3"), 9,
                 "\"seed\": 3, \"optimizer\": {\"type\": \"adamw\", \"learning_rate\": " + rate +
                     "}");
    return text;
}

std::string changed(std::string text, const std::string& what, const std::string& by) {
    return text.replace(text.find(what), what.size(), by);
}

} // namespace

class CurvesTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void all_of_a_chart_is_seen_in_a_small_window_with_large_text() {
        test::StudioFixture fixture;
        train::StepEvent step;
        step.step = 21;
        step.loss = 1;
        step.memory_bytes = 130 << 20;
        const test::RunLog log =
            test::RunLog(fixture.root() / "runs" / "2026-01-01_run_001", test::tiny_config())
                .steps(1, 20, 1.0)
                .add(step);
        fixture.window().showPage("train");
        fixture.studio().showRun(log.folder());
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().step(), std::int64_t{21}, kPatienceMs);
        fixture.window().resize(1024, 680);
        for (int i = 0; i < 5; ++i) {
            fixture.window().actions().get(ui::action::kTextLarger)->trigger();
        }
        QTRY_VERIFY(fixture.find("lossChart")->isVisible());
        const QWidget* at = fixture.find("lossChart");
        const QScrollArea* area = nullptr;
        for (; area == nullptr; at = at->parentWidget()) {
            area = qobject_cast<const QScrollArea*>(at);
        }
        QTRY_VERIFY2(area->widget()->width() <= area->viewport()->width(),
                     QByteArray::number(area->widget()->width()).constData());
    }

    void charts_keep_a_height_that_says_something_in_a_low_window() {
        test::StudioFixture fixture;
        show_parent(fixture);
        const auto at = [&fixture](const char* name) {
            const QWidget* chart = fixture.find(name);
            return QRect(chart->mapTo(&fixture.window(), QPoint()), chart->size());
        };
        fixture.window().resize(1440, 900); // below each other
        QTRY_VERIFY(at("lossChart").bottom() < at("learning_rateChart").top());
        QTRY_VERIFY(at("learning_rateChart").bottom() < at("grad_normChart").top());
        fixture.window().resize(1024, 680); // those below the first one share a row
        QTRY_VERIFY(at("learning_rateChart").top() == at("grad_normChart").top());
        fixture.window().resize(1440, 900);
        for (int i = 0; i < 5; ++i) {
            fixture.window().actions().get(ui::action::kTextLarger)->trigger();
        }
        fixture.window().resize(1024, 680); // the page scrolls
        // A title and the axis leave some 80 pixels to the curve.
        constexpr int kLeast = 140;
        for (const char* name : {"lossChart", "learning_rateChart", "grad_normChart"}) {
            QTRY_VERIFY2(at(name).height() >= kLeast, name);
        }
        const QWidget* grid = grid_of(fixture);
        const QWidget* view = grid->parentWidget()->parentWidget()->parentWidget();
        QTRY_VERIFY2(grid->width() <= view->width(), QByteArray::number(grid->width()).constData());
        // Whole facts below the numbers, or none.
        for (const QString& text : test::painted_texts(*fixture.find("numbers"))) {
            QVERIFY2(!text.contains(QChar(0x2026)), qPrintable(text));
        }
        fixture.window().resize(1440, 1300);
        QTRY_VERIFY(at("learning_rateChart").bottom() < at("grad_normChart").top());
    }

    void presets_choose_the_charts_and_any_can_be_added_changed_and_removed() {
        test::StudioFixture fixture;
        show_parent(fixture);
        ui::ChartGrid* grid = grid_of(fixture);
        QCOMPARE(grid->metrics(), (QStringList{"loss", "learning_rate", "grad_norm"}));
        auto* preset = fixture.window().findChild<QComboBox*>("chartPreset");
        preset->setFocus();
        QTest::keyClick(preset, Qt::Key_Up);
        QCOMPARE(grid->metrics(), QStringList{"loss"});
        QTest::keyClick(preset, Qt::Key_End);
        QCOMPARE(grid->cells().size(), std::size_t{6});
        QVERIFY(!fixture.find("addChart")->isEnabled()); // six are the most
        // One had the whole width before.
        const auto& cells = grid->cells();
        QTRY_VERIFY(std::abs(cells[0]->width() - cells[1]->width()) <= 1);
        QTRY_VERIFY(std::abs(cells[0]->height() - cells[4]->height()) <= 1);
        QTest::keyClick(preset, Qt::Key_Home);
        fixture.click("addChart");
        QCOMPARE(grid->cells().size(), std::size_t{2});
        QCOMPARE(preset->currentText(), QString("Own choice"));
        grid->cells()[1]->setMetric("accuracy");
        QCOMPARE(grid->metrics(), (QStringList{"loss", "accuracy"}));
        auto* chart = grid->cells()[1]->chart();
        QTRY_COMPARE(chart->pointCount(1) + chart->pointCount(3), std::size_t{100});
        QTest::mouseClick(grid->cells()[0]->findChild<QPushButton*>("chartRemove"), Qt::LeftButton);
        QTRY_COMPARE(grid->metrics(), QStringList{"accuracy"});
        // The last one stays.
        QVERIFY(!grid->cells()[0]->findChild<QPushButton*>("chartRemove")->isEnabled());
    }

    void one_chart_fills_the_screen_and_comes_back() {
        test::StudioFixture fixture;
        show_parent(fixture);
        ui::ChartGrid* grid = grid_of(fixture);
        ui::ChartCell* cell = grid->cells()[1];
        QTest::mouseClick(cell->findChild<QPushButton*>("chartFullScreen"), Qt::LeftButton);
        QVERIFY(cell->isFullScreen());
        QVERIFY(cell->chart()->window()->isFullScreen());
        QVERIFY(cell->chart()->window() != &fixture.window());
        cell->chart()->setCrosshair(50); // Escape is for the screen first
        QTest::keyClick(cell->chart(), Qt::Key_Escape);
        QVERIFY(!cell->isFullScreen());
        QCOMPARE(cell->chart()->window(), &fixture.window());
        QVERIFY(cell->chart()->isVisible());
        QCOMPARE(grid->metrics(), (QStringList{"loss", "learning_rate", "grad_norm"}));
    }

    void the_x_axis_counts_what_is_asked_for() {
        test::StudioFixture fixture;
        show_parent(fixture);
        auto* axis = fixture.window().findChild<QComboBox*>("xAxis");
        ui::ChartCell* cell = grid_of(fixture)->cells()[0];
        const auto newest = [&] {
            cell->chart()->replotNow();
            cell->chart()->setCrosshair(1e12);
            return cell->chart()->crosshair().value_or(-1);
        };
        QTRY_COMPARE(newest(), 100.0);
        axis->setCurrentIndex(static_cast<int>(XAxis::Epoch));
        QTRY_COMPARE(newest(), 10.0);
        axis->setCurrentIndex(static_cast<int>(XAxis::Wall));
        // The log begins at 1000 s; a line each for the state, 100 steps and 10 evaluations.
        QTRY_VERIFY(std::abs(newest() - (1000 + 0.01 * 111)) < 1e-6);
        axis->setCurrentIndex(static_cast<int>(XAxis::Seconds));
        QTRY_VERIFY(std::abs(newest() - 0.01 * 110) < 1e-6); // since the state said running
    }

    void a_line_of_the_console_leads_to_its_step_in_the_charts() {
        test::StudioFixture fixture;
        show_parent(fixture);
        widgets::LineChart* chart = grid_of(fixture)->cells()[0]->chart();
        QTRY_COMPARE(points_of(*chart), std::vector<std::size_t>{100});
        chart->setXRange({60, 90}); // its step lies outside
        fixture.studio().log().logged(1, "run", "no step", -1);
        fixture.studio().log().logged(2, "run", "something at step 40", 40);
        fixture.window().showPage("home");
        fixture.window().actions().get(ui::action::kConsole)->trigger();
        auto* log = fixture.window().findChild<widgets::LogView*>();
        log->flush();
        const int last = log->model()->rowCount() - 1;
        log->list()->activated(log->model()->index(last - 1, 0));
        QCOMPARE(fixture.window().currentPage(), QString("home")); // that one has none
        log->list()->activated(log->model()->index(last, 0));
        QCOMPARE(fixture.window().currentPage(), QString("train"));
        for (const ui::ChartCell* cell : grid_of(fixture)->cells()) {
            QCOMPARE(cell->chart()->crosshair().value_or(-1), 40.0);
        }
        QTRY_VERIFY(chart->xRange().low < 40 && chart->xRange().high > 40);
    }

    void charts_below_each_other_begin_and_end_at_one_place_on_every_axis() {
        test::StudioFixture fixture;
        fixture.window().resize(1440, 900);
        show_parent(fixture);
        auto* axis = fixture.window().findChild<QComboBox*>("xAxis");
        for (const XAxis kind : {XAxis::Step, XAxis::Epoch, XAxis::Seconds, XAxis::RelativeStep}) {
            axis->setCurrentIndex(static_cast<int>(kind));
            const auto ends = [&](std::size_t cell) {
                widgets::LineChart* chart = grid_of(fixture)->cells()[cell]->chart();
                chart->replotNow();
                return std::pair(chart->xRange().low, chart->xRange().high);
            };
            QTRY_COMPARE(ends(1), ends(0)); // the loss also has evaluations
            QTRY_COMPARE(ends(2), ends(0));
        }
    }

    void a_fork_shows_the_shared_steps_once_and_faint() {
        test::StudioFixture fixture;
        const auto parent = make_parent(fixture);
        const auto child = make_child(fixture, parent);
        fixture.window().showPage("train");
        fixture.studio().showRun(child);
        ui::CurveRuns* runs = fixture.window().findChild<ui::CurveRuns*>();
        QTRY_COMPARE_WITH_TIMEOUT(runs->runs().size(), std::size_t{2}, kPatienceMs);
        const CurveRun& prefix = *runs->runs()[1];
        QCOMPARE(prefix.kind, CurveRun::Kind::Prefix);
        QCOMPARE(prefix.until, 50.0);
        QTRY_COMPARE_WITH_TIMEOUT(prefix.model().steps().step.size(), std::size_t{100},
                                  kPatienceMs);
        widgets::LineChart* chart = grid_of(fixture)->cells()[0]->chart();
        // Of the parent's hundred steps the first fifty; the child has the rest.
        QTRY_COMPARE(points_of(*chart), (std::vector<std::size_t>{30, 50}));
        // On the axis of its own steps a fork begins at nothing.
        fixture.window().findChild<QComboBox*>("xAxis")->setCurrentIndex(
            static_cast<int>(XAxis::RelativeStep));
        QTRY_COMPARE(points_of(*chart), (std::vector<std::size_t>{30}));
        chart->replotNow();
        chart->setCrosshair(1e9);
        QCOMPARE(chart->crosshair().value_or(-1), 30.0);
        fixture.window().findChild<QComboBox*>("xAxis")->setCurrentIndex(0);
        // The parent itself laid over the fork has the shared steps: not twice.
        runs->setVisible(parent, true);
        QTRY_COMPARE_WITH_TIMEOUT(points_of(*chart), (std::vector<std::size_t>{30, 100}),
                                  kPatienceMs);
        runs->setVisible(parent, false);
        QTRY_COMPARE_WITH_TIMEOUT(points_of(*chart), (std::vector<std::size_t>{30, 50}),
                                  kPatienceMs);
    }

    void a_fork_whose_parent_is_gone_begins_where_it_was_forked() {
        test::StudioFixture fixture;
        const auto parent = make_parent(fixture);
        const auto child = make_child(fixture, parent);
        std::filesystem::remove_all(parent);
        fixture.window().showPage("train");
        fixture.studio().showRun(child);
        widgets::LineChart* chart = grid_of(fixture)->cells()[0]->chart();
        QTRY_COMPARE_WITH_TIMEOUT(points_of(*chart), (std::vector<std::size_t>{30}), kPatienceMs);
        QVERIFY(fixture.studio().run().origin().has_value());
    }

    void a_checkpoint_that_was_removed_is_a_hollow_flag() {
        test::StudioFixture fixture;
        test::RunLog log(fixture.root() / "runs" / "2026-01-03_pruned_001",
                         config_at_rate("pruned", "0.01"));
        log.steps(1, 100, 2.0);
        for (const std::int64_t step : {50, 100}) {
            train::CheckpointEvent saved;
            saved.step = step;
            log.add(saved);
        }
        std::filesystem::create_directories(log.folder() / "checkpoints" / "step-00000100");
        fixture.window().showPage("train");
        fixture.studio().showRun(log.folder());
        const auto& flags = [&]() -> const std::vector<widgets::ChartFlag>& {
            return grid_of(fixture)->cells()[0]->chart()->flags();
        };
        QTRY_COMPARE_WITH_TIMEOUT(flags().size(), std::size_t{2}, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!flags()[0].present, kPatienceMs);
        QVERIFY(flags()[1].present);
    }

    void runs_are_laid_over_with_an_eye_and_their_settings_told_apart() {
        test::StudioFixture fixture;
        const auto parent = make_parent(fixture);
        test::RunLog(fixture.root() / "runs" / "2026-01-03_other_003",
                     config_at_rate("other", "0.01"))
            .steps(1, 40, 2.0);
        fixture.window().showPage("train");
        fixture.studio().showRun(parent);
        fixture.studio().index().refresh();
        auto* list = fixture.window().findChild<QListView*>("overlayRuns");
        QTRY_COMPARE_WITH_TIMEOUT(list->model()->rowCount(), 2, kPatienceMs);
        const QAbstractItemModelTester tester(list->model());
        QCOMPARE(list->model()->index(0, 0).data(widgets::RunRowDelegate::Detail).toString(),
                 QString("this run"));
        const auto other_row = [list] { return list->model()->index(1, 0); };
        QCOMPARE(other_row().data(Qt::CheckStateRole).toInt(), static_cast<int>(Qt::Unchecked));
        // The list is as high as its runs.
        QTRY_VERIFY(list->viewport()->height() >= list->visualRect(other_row()).bottom());
        // The eye, by mouse.
        const QRect row = list->visualRect(other_row());
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                          QPoint(row.left() + 20, row.center().y()));
        QCOMPARE(other_row().data(Qt::CheckStateRole).toInt(), static_cast<int>(Qt::Checked));
        widgets::LineChart* chart = grid_of(fixture)->cells()[0]->chart();
        QTRY_COMPARE_WITH_TIMEOUT(points_of(*chart), (std::vector<std::size_t>{100, 40}),
                                  kPatienceMs);
        QTRY_COMPARE(other_row().data(widgets::RunRowDelegate::Detail).toString(),
                     QString("learning_rate 0.01"));
        QVERIFY(other_row().data(widgets::RunRowDelegate::Color).toInt() !=
                list->model()->index(0, 0).data(widgets::RunRowDelegate::Color).toInt());
        // Both in one table, by path.
        auto* table = fixture.window().findChild<QTableView*>("overlayCompare");
        const QAbstractItemModelTester table_tester(table->model());
        QCOMPARE(table->model()->rowCount(), 1);
        QCOMPARE(table->model()->index(0, 0).data().toString(), QString("optimizer.learning_rate"));
        QCOMPARE(table->model()->index(0, 1).data().toString(), QString("0.001"));
        QCOMPARE(table->model()->index(0, 2).data().toString(), QString("0.01"));
        // This run away by its eye: nothing of it stays over the other.
        const QString whole = chart->describe();
        QVERIFY(whole.contains("best"));
        const QRect own = list->visualRect(list->model()->index(0, 0));
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                          QPoint(own.left() + 20, own.center().y()));
        QTRY_COMPARE(points_of(*chart), (std::vector<std::size_t>{40}));
        QVERIFY2(!chart->describe().contains("best"), qPrintable(chart->describe()));
        QTRY_VERIFY2(chart->xRange().high < 60, // of 40 steps, not of 100
                     qPrintable(QString::number(chart->xRange().high)));
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                          QPoint(own.left() + 20, own.center().y()));
        QTRY_VERIFY(chart->describe().contains("best"));
        // And away again, by key.
        list->setFocus();
        list->setCurrentIndex(other_row());
        QTest::keyClick(list, Qt::Key_Space);
        QCOMPARE(other_row().data(Qt::CheckStateRole).toInt(), static_cast<int>(Qt::Unchecked));
        QTRY_COMPARE(points_of(*chart), (std::vector<std::size_t>{100}));
        QCOMPARE(table->model()->rowCount(), 0);
        // With no run left the charts say why they are blank, until one is shown again.
        list->setCurrentIndex(list->model()->index(0, 0));
        QTest::keyClick(list, Qt::Key_Space);
        QTRY_COMPARE(chart->describe(), QString("Every run is hidden"));
        list->setCurrentIndex(other_row());
        QTest::keyClick(list, Qt::Key_Space);
        QTRY_COMPARE(points_of(*chart), (std::vector<std::size_t>{40}));
        QVERIFY2(!chart->describe().contains("hidden"), qPrintable(chart->describe()));
    }

    // Item by item of the menu, by mouse: what the machine tells has a chart, what it does not is
    // named in one sentence, and the page Runs offers the same numbers.
    void charts_of_the_system_stand_beside_the_curves_and_missing_sensors_are_named() {
        test::StudioFixture fixture;
        const std::filesystem::path folder = fixture.root() / "runs" / "2026-01-01_run_001";
        test::RunLog log(folder, test::tiny_config());
        for (std::int64_t i = 1; i <= 40; ++i) {
            train::StepEvent step;
            step.step = i;
            step.loss = 1;
            step.metrics = {{"system/cpu_percent", 50.0 + double(i)},
                            {"system/process_memory_bytes", 3.0 * (1 << 20)},
                            {"system/data_wait_percent", 1.5},
                            {"system/disk_write_bytes_per_s", 0.0}};
            log.add(step);
        }
        fixture.window().showPage("train");
        fixture.studio().showRun(folder);
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().step(), std::int64_t{40}, kPatienceMs);
        const auto* missing = static_cast<widgets::TextLabel*>(fixture.find("missingSensors"));
        QVERIFY(!missing->isVisible()); // charts of the curves lack nothing
        test::Mouse mouse(fixture);
        auto* preset = fixture.window().findChild<QComboBox*>("chartPreset");
        preset->setCurrentText("System");
        Q_EMIT preset->activated(preset->currentIndex());
        QTRY_VERIFY(missing->isVisible());
        QVERIFY2(missing->text().contains("Processor temperature in °C") &&
                     missing->text().contains("Network received in MiB per second") &&
                     !missing->text().contains("Processor in %"),
                 qPrintable(missing->text()));
        QStringList shown;
        for (const ui::ChartCell* cell : grid_of(fixture)->cells()) {
            if (!cell->isHidden()) {
                shown << cell->metric().id;
            }
        }
        QCOMPARE(shown, QStringList({"system/cpu_percent", "system/process_memory_bytes",
                                     "system/data_wait_percent", "system/disk_write_bytes_per_s"}));
        widgets::LineChart* memory = grid_of(fixture)->cells()[1]->chart();
        QTRY_COMPARE(points_of(*memory), std::vector<std::size_t>{40});
        // In MiB.
        QVERIFY2(memory->describe().contains("3"), qPrintable(memory->describe()));

        // The same on Runs: a chart of each, and a column.
        QVERIFY(mouse.go("runs"));
        fixture.studio().index().refresh();
        auto* table = static_cast<ui::RunsTable*>(fixture.find("runTable"));
        QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 1, kPatienceMs);
        QVERIFY(mouse.choose("runsMode", 1));
        const auto* wall = static_cast<ui::RunsPage*>(fixture.window().page("runs"))->wall();
        const auto has = [&](const std::string& metric) {
            const auto cells = wall->cells();
            return std::any_of(cells.begin(), cells.end(),
                               [&](const ui::WallCell* cell) { return cell->metric() == metric; });
        };
        QTRY_VERIFY_WITH_TIMEOUT(has("system/cpu_percent"), kPatienceMs);
        QVERIFY(has("system/disk_write_bytes_per_s") && !has("system/cpu_temperature_c"));
        using Kind = ui::RunColumn::Kind;
        table->changeColumns(
            {{}, {Kind::Metric, "system/cpu_percent", ui::RunColumn::Value::Last, 0}});
        QTRY_VERIFY(table->csv().find("90") != std::string::npos);
    }

    void runs_over_other_data_are_not_laid_over_the_next_run() {
        test::StudioFixture fixture;
        const auto parent = make_parent(fixture);
        const auto like = test::RunLog(fixture.root() / "runs" / "2026-01-03_like_003",
                                       config_at_rate("like", "0.01"))
                              .steps(1, 40, 2.0)
                              .folder();
        const auto beside = test::RunLog(fixture.root() / "runs" / "2026-01-04_beside_004",
                                         config_at_rate("beside", "0.02"))
                                .steps(1, 40, 2.0)
                                .folder();
        const auto other = test::RunLog(fixture.root() / "runs" / "2026-01-05_other_005",
                                        changed(config_at_rate("other", "0.01"), "\"features\": 16",
                                                "\"features\": 8"))
                               .steps(1, 40, 2.0)
                               .folder();
        fixture.window().showPage("train");
        fixture.studio().showRun(parent);
        ui::CurveRuns* runs = fixture.window().findChild<ui::CurveRuns*>();
        QTRY_COMPARE(runs->runs()[0]->folder, parent);
        runs->setVisible(like, true);
        QTRY_VERIFY_WITH_TIMEOUT(runs->find(like)->model().step() == 40, kPatienceMs);
        fixture.studio().showRun(beside); // over the same data: it stays
        QTRY_COMPARE(runs->runs()[0]->folder, beside);
        QVERIFY(runs->find(like) != nullptr);
        fixture.studio().showRun(other);
        QTRY_COMPARE(runs->runs()[0]->folder, other);
        QVERIFY(runs->find(like) == nullptr);
    }

    void the_axis_ends_with_the_data_and_on_demand_with_the_plan() {
        test::StudioFixture fixture;
        fixture.window().resize(1440, 900); // charts below each other
        show_parent(fixture);               // 100 of 100,000 steps
        const auto ends = [&] {
            QList<double> all;
            for (const ui::ChartCell* cell : grid_of(fixture)->cells()) {
                cell->chart()->replotNow();
                all << cell->chart()->xRange().high;
            }
            return all;
        };
        QTRY_VERIFY(ends()[0] >= 100 && ends()[0] < 110);
        QCOMPARE(ends(), QList<double>(3, ends()[0])); // below each other at one place
        fixture.window().findChild<QAction*>("showWholeRun")->trigger();
        QTRY_VERIFY(ends()[0] >= 100000);
        QCOMPARE(ends(), QList<double>(3, ends()[0]));
        auto* axis = fixture.window().findChild<QComboBox*>("xAxis");
        axis->setCurrentIndex(static_cast<int>(XAxis::Epoch)); // ten steps each
        QTRY_VERIFY(ends()[0] >= 10000 && ends()[0] < 11000);
        fixture.reopen();
        QVERIFY(fixture.window().findChild<QAction*>("showWholeRun")->isChecked());
    }

    void a_run_that_predicts_numbers_has_no_accuracy_and_no_confusion() {
        test::StudioFixture fixture;
        std::string config =
            changed(config_at_rate("numbers", "0.01"), "\"classification\"", "\"regression\"");
        config = changed(config, ", \"classes\": 4", "");
        config = changed(config, "\"seed\": 3", "\"seed\": 3, \"loss\": {\"type\": \"mse\"}");
        test::RunLog log(fixture.root() / "runs" / "2026-01-03_numbers_003", config);
        train::StepEvent step;
        step.step = 1;
        step.loss = 1;
        log.add(step);
        show_parent(fixture);
        auto* preset = fixture.window().findChild<QComboBox*>("chartPreset");
        preset->setFocus();
        QTest::keyClick(preset, Qt::Key_End);
        QTRY_VERIFY(fixture.find("accuracyChart")->isVisible());
        auto* part = fixture.window().findChild<widgets::SegmentedControl*>("predictionTab");
        part->setCurrentIndex(1);
        fixture.studio().showRun(log.folder());
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.find("accuracyChart")->isVisible(), kPatienceMs);
        QVERIFY(fixture.find("learning_rateChart")->isVisible());
        // The loss has the room of both.
        QTRY_VERIFY(fixture.find("lossChart")->width() >
                    3 * fixture.find("learning_rateChart")->width() / 2);
        QCOMPARE(part->currentIndex(), 0);
        fixture.studio().showRun(fixture.root() / "runs" / "2026-01-01_parent_001");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("accuracyChart")->isVisible(), kPatienceMs);
    }

    void what_was_measured_before_training_is_not_praised() {
        test::StudioFixture fixture;
        test::RunLog log(fixture.root() / "runs" / "2026-01-03_begun_003",
                         config_at_rate("begun", "0.01"));
        log.add(train::EvaluationEvent{0, {{"validation/loss", 2.5}}});
        train::StepEvent step;
        step.step = 1;
        step.loss = 2;
        log.add(step);
        fixture.window().showPage("train");
        fixture.studio().showRun(log.folder());
        const auto* numbers = fixture.window().findChild<widgets::NumberStrip*>("numbers");
        QTRY_COMPARE_WITH_TIMEOUT(numbers->number(2).value, QString("2.500"), kPatienceMs);
        QCOMPARE(numbers->number(2).sub, QString("before training"));
        QVERIFY(numbers->number(2).lead.isEmpty());
        widgets::LineChart* chart = grid_of(fixture)->cells()[0]->chart();
        QVERIFY2(!chart->describe().contains("best"), qPrintable(chart->describe()));
        // Later it is, and of what it is the best is said.
        const auto later = make_parent(fixture);
        fixture.studio().showRun(later);
        QTRY_COMPARE_WITH_TIMEOUT(numbers->number(2).lead, QString("best so far"), kPatienceMs);
        QVERIFY2(chart->describe().contains("best"), qPrintable(chart->describe()));
        auto* list = fixture.window().findChild<QListView*>("overlayRuns");
        QCOMPARE(list->model()->index(0, 0).data(widgets::RunRowDelegate::Measure).toString(),
                 QString("best loss"));
    }

    void news_come_often_only_while_a_page_moves_with_the_steps() {
        test::StudioFixture fixture;
        fixture.window().showPage("train");
        QVERIFY(fixture.studio().link().isWatched());
        fixture.window().showPage("data");
        QVERIFY(!fixture.studio().link().isWatched());
        fixture.window().showPage("train");
        fixture.window().showMinimized();
        QTRY_VERIFY(!fixture.studio().link().isWatched());
        fixture.window().showNormal();
        QTRY_VERIFY(fixture.studio().link().isWatched());
    }

    void charts_of_another_page_are_drawn_when_it_is_shown() {
        test::StudioFixture fixture;
        const auto parent = make_parent(fixture);
        fixture.window().showPage("train");
        QTest::qWait(0);
        widgets::LineChart* chart = grid_of(fixture)->cells()[0]->chart();
        fixture.window().showPage("data");
        QSignalSpy replots(chart->plot(), &QCustomPlot::afterReplot);
        // Brought in without the page that it is shown on.
        ui::RunReader reader(fixture.studio().run());
        reader.open(parent);
        QTRY_VERIFY(!reader.isReading());
        QCoreApplication::processEvents();
        QCOMPARE(replots.count(), 0);
        fixture.window().showPage("train");
        QTRY_VERIFY(replots.count() > 0);
    }

    void a_run_takes_another_colour() {
        test::StudioFixture fixture;
        const auto parent = make_parent(fixture);
        fixture.window().showPage("train");
        fixture.studio().showRun(parent);
        ui::CurveRuns* runs = fixture.window().findChild<ui::CurveRuns*>();
        QTRY_COMPARE(runs->runs()[0]->folder, parent);
        runs->setColor(parent, 5);
        auto* list = fixture.window().findChild<QListView*>("overlayRuns");
        QCOMPARE(list->model()->index(0, 0).data(widgets::RunRowDelegate::Color).toInt(), 5);
        QCustomPlot* plot = grid_of(fixture)->cells()[0]->chart()->plot();
        QCOMPARE(plot->graph(1)->pen().color(), widgets::Theme::current().series(5));
    }

    void the_choice_of_charts_is_kept() {
        test::StudioFixture fixture;
        fixture.window().findChild<QComboBox*>("xAxis")->setCurrentIndex(1);
        grid_of(fixture)->setMetrics({"accuracy", "loss"});
        fixture.reopen();
        QCOMPARE(grid_of(fixture)->metrics(), (QStringList{"accuracy", "loss"}));
        QCOMPARE(fixture.window().findChild<QComboBox*>("xAxis")->currentIndex(), 1);
    }

    void logarithmic_axes_and_clipped_outliers_are_kept() {
        test::StudioFixture fixture;
        grid_of(fixture)->setMetrics({"accuracy", "loss"});
        grid_of(fixture)->cells()[1]->chart()->setLogScale(true);
        grid_of(fixture)->cells()[0]->chart()->setOutliersClipped(true);
        fixture.reopen();
        const auto& cells = grid_of(fixture)->cells();
        QCOMPARE(grid_of(fixture)->metrics(), (QStringList{"accuracy", "loss"}));
        QVERIFY(!cells[0]->chart()->isLogScale() && cells[1]->chart()->isLogScale());
        QVERIFY(cells[0]->chart()->areOutliersClipped());
        QVERIFY(!cells[1]->chart()->areOutliersClipped());
    }

private:
    static ui::ChartGrid* grid_of(test::StudioFixture& fixture) {
        return fixture.window().findChild<ui::ChartGrid*>();
    }

    static std::filesystem::path make_parent(test::StudioFixture& fixture) {
        return test::RunLog(fixture.root() / "runs" / "2026-01-01_parent_001",
                            config_at_rate("parent", "0.001"))
            .steps(1, 100, 1.0)
            .folder();
    }

    static std::filesystem::path make_child(test::StudioFixture& fixture,
                                            const std::filesystem::path& parent) {
        return test::RunLog(fixture.root() / "runs" / "2026-01-02_child_002",
                            config_at_rate("child", "0.001"))
            .add(train::ResumedEvent{(parent / "checkpoints" / "step-00000050").string(), 50})
            .add(train::StateEvent{train::RunState::running, {}, {}, 0, 100000})
            .steps(51, 80, 0.5)
            .folder();
    }

    static void show_parent(test::StudioFixture& fixture) {
        const auto parent = make_parent(fixture);
        fixture.window().showPage("train");
        fixture.studio().showRun(parent);
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().step(), 100, kPatienceMs);
    }

    /// Points of the lines that are drawn, in the order in which the runs came.
    static std::vector<std::size_t> points_of(widgets::LineChart& chart) {
        std::vector<std::size_t> counts;
        for (int id = 1; id < 400; ++id) {
            // The odd ones hold steps, those after them evaluations.
            if (chart.isSeriesVisible(id) && chart.pointCount(id) >= 30) {
                counts.push_back(chart.pointCount(id));
            }
        }
        return counts;
    }
};

WEFT_TEST(CurvesTest)
#include "curves_test.moc"
