// SPDX-License-Identifier: GPL-3.0-or-later
// The chart wall beside the table of runs: many runs, one legend, one axis, by mouse and keys.
#include "core/train/record/run_summary.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/pages/runs/column_dialog.h"
#include "ui/pages/runs/runs_page.h"
#include "ui/pages/runs/runs_table.h"
#include "ui/pages/runs/wall/brush_panel.h"
#include "ui/pages/runs/wall/matter_panel.h"
#include "ui/pages/runs/wall/wall_group.h"
#include "ui/pages/runs/wall/wall_panel.h"
#include "widgets/curves/line_chart.h"
#include "widgets/curves/scatter_view.h"
#include "widgets/views/parallel_view.h"

#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QInputDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSlider>
#include <QTableView>
#include <qcustomplot.h>

#include <cmath>

namespace {

using namespace weft;
using test::kPatienceMs;
using test::write_file;
namespace fs = std::filesystem;

constexpr int kWallSteps = 40;
constexpr double kBegan = 1000;

const double kWallRates[] = {0.001, 0.01, 0.1};

/// A line that falls by a slope of its own.
double wall_loss(int run, int step) {
    return 4.0 + run - 0.05 * step;
}

/// Twelve runs: three rates of four seeds. At the last step the loss of run i is 2 + i.
void make_wall_runs(const fs::path& runs, int count = 12) {
    for (int i = 0; i < count; ++i) {
        const fs::path folder = runs / ("2026-01-01_w" + std::to_string(10 + i));
        write_file(folder / "config.json", R"({"optimizer": {"type": "adamw", "learning_rate": )" +
                                               std::to_string(kWallRates[i % 3]) +
                                               R"(}, "seed": )" + std::to_string(i / 3) +
                                               R"(, "checkpoint": {"metric": "validation/loss"}})");
        train::RunInfo info;
        info.id = info.name = "w" + std::to_string(10 + i);
        info.state = "finished";
        info.created = kBegan;
        train::write_run_info(folder, info);
        std::string lines;
        std::int64_t seq = 0;
        for (int at = 1; at <= kWallSteps; ++at) {
            train::StepEvent step;
            step.step = at;
            step.epoch = at / 10.0;
            step.loss = wall_loss(i, at);
            lines += train::to_line({++seq, kBegan + 2 * at, step}) + "\n";
            if (at % 10 == 0) {
                const train::EvaluationEvent evaluation{
                    at,
                    {{"validation/loss", wall_loss(i, at)}, {"validation/accuracy", 0.01 * at}}};
                lines += train::to_line({++seq, kBegan + 2 * at, evaluation}) + "\n";
            }
        }
        write_file(folder / "events.jsonl", lines);
    }
}

/// A studio whose Runs page shows charts.
struct ShownWall {
    explicit ShownWall(int runs = 12) {
        make_wall_runs(fixture.root() / "runs", runs);
        fixture.window().resize(1440, 900);
        fixture.window().showPage("runs");
        fixture.studio().index().refresh();
        if (!QTest::qWaitFor([&] { return table().model()->rowCount() == runs; }, kPatienceMs)) {
            qFatal("%d rows", table().model()->rowCount());
        }
        fixture.find("runsMode")->findChildren<QAbstractButton*>()[1]->click();
        smoothing().setValue(0);
        settle();
    }
    void settle() {
        if (!QTest::qWaitFor(
                [&] {
                    const auto cells = wall().visibleCells();
                    return wall().isSettled() && !cells.empty() &&
                           std::all_of(cells.begin(), cells.end(),
                                       [](ui::WallCell* cell) { return cell->chart()->isExact(); });
                },
                kPatienceMs)) {
            qFatal("the charts were not drawn");
        }
    }
    ui::RunsPage& page() { return *static_cast<ui::RunsPage*>(fixture.window().page("runs")); }
    ui::WallPanel& wall() { return *page().wall(); }
    ui::RunsTable& table() { return *static_cast<ui::RunsTable*>(fixture.find("runTable")); }
    QTableView& values() { return *static_cast<QTableView*>(fixture.find("wallValueTable")); }
    QSlider& smoothing() { return *static_cast<QSlider*>(fixture.find("wallSmoothing")); }
    QComboBox& box(const char* name) { return *static_cast<QComboBox*>(fixture.find(name)); }
    widgets::LineChart& chart(const std::string& metric) {
        for (ui::WallCell* cell : wall().cells()) {
            if (cell->metric() == metric) {
                return *cell->chart();
            }
        }
        qFatal("no chart of %s", metric.c_str());
    }
    /// By its text, and what the table of values says below it: name -> value.
    std::map<QString, QString> said(const QString& heading) {
        std::map<QString, QString> out;
        const QAbstractItemModel& model = *values().model();
        bool within = false;
        for (int row = 0; row < model.rowCount(); ++row) {
            const QModelIndex index = model.index(row, 0);
            if (index.data(ui::WallValueModel::HeadingRole).toBool()) {
                within = index.data().toString() == heading;
            } else if (within) {
                out[index.data().toString()] = model.index(row, 1).data().toString();
            }
        }
        return out;
    }
    void choose(const char* name, int index) {
        box(name).setCurrentIndex(index);
        Q_EMIT box(name).activated(index);
        settle();
    }
    void group_by_rate() {
        QVERIFY(QTest::qWaitFor(
            [&] { return box("groupRuns").findData("optimizer.learning_rate") > 0; }, kPatienceMs));
        choose("groupRuns", box("groupRuns").findData("optimizer.learning_rate"));
    }

    test::StudioFixture fixture;
};

/// Series of a chart have the numbers in which they were added.
int lines_of_chart(const widgets::LineChart& chart) {
    int count = 0;
    for (int id = 1; id <= 200; ++id) {
        count += chart.pointCount(id) > 0 && chart.isSeriesVisible(id) ? 1 : 0;
    }
    return count;
}

} // namespace

class WallTest : public QObject {
    Q_OBJECT
private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void every_metric_has_a_chart_among_those_whose_names_begin_alike() {
        ShownWall shown;
        QStringList groups;
        for (const auto* group : shown.wall().findChildren<ui::WallGroup*>()) {
            groups << group->name();
        }
        QVERIFY(groups.contains("validation") && groups.contains("train"));
        QCOMPARE(shown.wall().cells().front()->metric(), std::string("validation/loss"));
        QCOMPARE(lines_of_chart(shown.chart("validation/loss")), 12);
        QCOMPARE(shown.chart("validation/loss").pointCount(1), std::size_t{4});
        // Words of the search leave charts that have them all.
        auto* search = static_cast<QLineEdit*>(shown.fixture.find("wallSearch"));
        search->setFocus();
        QTest::keyClicks(search, "valid acc");
        shown.settle();
        QCOMPARE(shown.wall().cells().size(), std::size_t{1});
        QCOMPARE(shown.wall().cells().front()->metric(), std::string("validation/accuracy"));
    }

    void a_folded_group_draws_nothing() {
        ShownWall shown;
        auto* heading = static_cast<QPushButton*>(shown.fixture.find("wallGroup"));
        QTest::mouseClick(heading, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!shown.chart("validation/loss").isVisible(), kPatienceMs);
        QVERIFY(shown.wall().state().folded.contains("validation"));
        QTest::mouseClick(heading, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(shown.chart("validation/loss").isVisible(), kPatienceMs);
    }

    void an_eye_in_the_table_takes_a_run_from_every_chart() {
        ShownWall shown;
        const QModelIndex row = shown.table().model()->index(0, 0);
        const QRect cell = shown.table().visualRect(row);
        const QString name = row.data().toString();
        const QPoint eye(cell.left() + 10, cell.center().y());
        QTest::mouseClick(shown.table().viewport(), Qt::LeftButton, {}, eye);
        shown.settle();
        QCOMPARE(shown.page().looks().shownCount(), std::size_t{11});
        QCOMPARE(lines_of_chart(shown.chart("validation/loss")), 11);
        QVERIFY(!shown.said("validation loss").contains(name));
        QVERIFY(shown.page().selectedRuns().empty()); // the eye selects nothing
        // By keys: the row, then Space.
        shown.table().setFocus();
        shown.table().setCurrentIndex(row);
        QTest::keyClick(&shown.table(), Qt::Key_Space);
        shown.settle();
        QCOMPARE(lines_of_chart(shown.chart("validation/loss")), 12);
    }

    void the_table_of_values_says_what_every_run_has_at_the_crosshair() {
        ShownWall shown;
        // Without one: the newest. Numbers of a column are written alike.
        QCOMPARE(shown.said("validation loss").size(), std::size_t{12});
        for (int i = 0; i < 12; ++i) {
            const QString name = QString("w%1").arg(10 + i);
            QCOMPARE(shown.said("validation loss")[name].toDouble(), wall_loss(i, kWallSteps));
        }
        widgets::LineChart& chart = shown.chart("train/loss");
        QTest::mouseMove(chart.plot(), chart.plot()->rect().center());
        QTRY_VERIFY_WITH_TIMEOUT(chart.crosshair().has_value(), kPatienceMs);
        const int step = static_cast<int>(*chart.crosshair());
        QVERIFY(step > 10 && step < 30);
        for (int i = 0; i < 12; ++i) {
            QCOMPARE(shown.said("train loss")[QString("w%1").arg(10 + i)].toDouble(),
                     wall_loss(i, step));
        }
        // All charts have it at one place.
        QVERIFY(shown.chart("validation/loss").crosshair().has_value());
        QVERIFY(std::abs(*shown.chart("validation/loss").crosshair() - step) <= 5); // nearest point
    }

    void a_zoom_in_one_chart_is_that_of_all_and_is_drawn_exactly_when_it_rests() {
        ShownWall shown;
        widgets::LineChart& chart = shown.chart("train/loss");
        widgets::LineChart& other = shown.chart("validation/loss");
        const QPointF middle = chart.plot()->rect().center();
        for (int notch = 0; notch < 3; ++notch) {
            QWheelEvent wheel(middle, chart.plot()->mapToGlobal(middle), {}, {0, 120}, Qt::NoButton,
                              Qt::ShiftModifier, Qt::NoScrollPhase, false);
            QCoreApplication::sendEvent(chart.plot(), &wheel);
            QCoreApplication::processEvents();
        }
        QVERIFY(!chart.isExact()); // the last picture, moved
        const auto range = chart.xRange();
        QTRY_VERIFY_WITH_TIMEOUT(chart.isExact() && other.isExact(), kPatienceMs);
        QCOMPARE(chart.xRange().low, range.low);
        QCOMPARE(other.xRange().low, range.low);
        QCOMPARE(other.xRange().high, range.high);
        const QImage exact = chart.plot()->toPixmap().toImage();
        chart.replotNow();
        QCOMPARE(chart.plot()->toPixmap().toImage(), exact);
    }

    void groups_are_drawn_as_mean_and_band() {
        ShownWall shown;
        QVERIFY(!shown.box("wallLines").isVisible()); // there are no groups yet
        shown.group_by_rate();
        QVERIFY(shown.box("wallLines").isVisible());
        // Each run still has its line, in the colour of its group.
        const auto& runs = shown.page().looks().runs();
        for (const train::RunSummary& run : runs) {
            const ui::RunLook look = shown.page().looks().lookOf(run.folder);
            QVERIFY(look.group >= 0);
            QCOMPARE(look.slot,
                     shown.page().looks().groups()[static_cast<std::size_t>(look.group)].look.slot);
        }
        QCOMPARE(lines_of_chart(shown.chart("train/loss")), 12);
        shown.choose("wallLines", 1);
        QTRY_COMPARE_WITH_TIMEOUT(lines_of_chart(shown.chart("train/loss")), 3, kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(shown.said("train loss").size(), std::size_t{3}, kPatienceMs);
        // Of runs 0, 3, 6, 9: at the end 2 + the mean of 0, 3, 6, 9; their sd is sqrt(15).
        QCOMPARE(shown.said("train loss")["0.001"].toDouble(), 2 + 4.5);
        const QAbstractItemModel& model = *shown.values().model();
        QCOMPARE(model.columnCount(), 3);
        QString heading;
        for (int row = 0; row < model.rowCount(); ++row) {
            const QString text = model.index(row, 0).data().toString();
            if (model.index(row, 0).data(ui::WallValueModel::HeadingRole).toBool()) {
                heading = text;
            } else if (heading == "train loss" && text == "0.001") {
                QVERIFY(std::abs(model.index(row, 2).data().toDouble() - std::sqrt(15.0)) < 0.01);
            }
        }
        // The band reaches from 2 to 11 at the end: the view holds it.
        const auto y = shown.chart("train/loss").yRange();
        QVERIFY(y.low < 2 && y.high > 13 - 0.1);
    }

    void x_counts_steps_epochs_seconds_or_the_clock() {
        ShownWall shown;
        const auto end = [&](ui::XAxis axis) {
            shown.choose("wallAxis", shown.box("wallAxis").findData(static_cast<int>(axis)));
            widgets::LineChart& chart = shown.chart("train/loss");
            QTest::keyClick(&chart, Qt::Key_Right); // the crosshair at its last point
            return chart.crosshair().value_or(-1);
        };
        QCOMPARE(end(ui::XAxis::Seconds), 2.0 * kWallSteps);
        QCOMPARE(end(ui::XAxis::Epoch), kWallSteps / 10.0);
        QCOMPARE(end(ui::XAxis::Wall), kBegan + 2.0 * kWallSteps);
        QCOMPARE(end(ui::XAxis::Step), 1.0 * kWallSteps);
    }

    void the_run_under_the_mouse_stands_out_without_drawing_the_others_anew() {
        ShownWall shown;
        widgets::LineChart& chart = shown.chart("train/loss");
        const QImage before = chart.plot()->toPixmap().toImage();
        const QRect cell = shown.table().visualRect(shown.table().model()->index(2, 0));
        QTest::mouseMove(shown.table().viewport(), cell.center());
        QTRY_VERIFY_WITH_TIMEOUT(chart.plot()->toPixmap().toImage() != before, kPatienceMs);
        QVERIFY(chart.isExact());
    }

    void what_decided_stands_first_and_groups_the_runs() {
        ShownWall shown;
        auto* panel = static_cast<ui::MatterPanel*>(shown.fixture.find("matterPanel"));
        // The loss is 2 + the number of the run: its seed is i / 3, its rate i % 3.
        QTRY_COMPARE_WITH_TIMEOUT(panel->explained().size(), std::size_t{2}, kPatienceMs);
        QCOMPARE(panel->explained()[0].path, std::string("seed"));
        QCOMPARE(panel->explained()[0].best, std::string("0"));
        QVERIFY(panel->explained()[0].share->value > 0.9);
        auto* view = static_cast<widgets::PaintedView*>(shown.fixture.find("matterView"));
        QVERIFY(view->item(0).name.contains("12 runs"));
        QTest::mouseClick(view, Qt::LeftButton, {}, view->item(0).rect.center().toPoint());
        shown.settle();
        QCOMPARE(shown.page().looks().groupBy(), QString("seed"));
        QCOMPARE(shown.page().looks().groups().size(), std::size_t{4});
    }

    void runs_are_brushed_along_an_axis_and_only_they_are_drawn() {
        ShownWall shown;
        auto* view = static_cast<widgets::ParallelView*>(shown.fixture.find("brushParallel"));
        QTRY_VERIFY_WITH_TIMEOUT(view->isVisible() && view->axisCount() == 3, kPatienceMs);
        // The lower half of the last axis: losses of 2 to 7.5.
        const QLineF axis = view->axisLine(2);
        const QPoint foot = axis.p1().toPoint() + QPoint(0, 3);
        QTest::mousePress(view, Qt::LeftButton, {}, foot);
        QTest::mouseMove(view, axis.center().toPoint());
        QTest::mouseRelease(view, Qt::LeftButton, {}, axis.center().toPoint());
        QVERIFY(view->hasBrush());
        auto* panel = static_cast<ui::BrushPanel*>(shown.fixture.find("brushPanel"));
        QCOMPARE(panel->brushed().size(), std::size_t{6});
        shown.fixture.click("keepBrushed");
        shown.settle();
        QCOMPARE(shown.page().looks().shownCount(), std::size_t{6});
        QCOMPARE(lines_of_chart(shown.chart("validation/loss")), 6);
        shown.fixture.click("showAllRuns");
        shown.settle();
        QCOMPARE(shown.page().looks().shownCount(), std::size_t{12});
        view->setFocus();
        QTest::keyClick(view, Qt::Key_Escape);
        QVERIFY(!view->hasBrush());
    }

    void a_scatter_says_its_rank_correlation_and_is_brushed_by_a_box() {
        ShownWall shown;
        shown.fixture.find("brushForm")->findChildren<QAbstractButton*>()[1]->click();
        shown.choose("scatterSetting", shown.box("scatterSetting").findData("seed"));
        auto* view = static_cast<widgets::ScatterView*>(shown.fixture.find("brushScatter"));
        QTRY_VERIFY_WITH_TIMEOUT(view->isVisible() && view->itemCount() == 12, kPatienceMs);
        const QPointF first = *view->dotAt(0);
        QTest::mousePress(view, Qt::LeftButton, {}, (first - QPointF(14, 14)).toPoint());
        QTest::mouseMove(view, (first + QPointF(10, 10)).toPoint());
        QTest::mouseRelease(view, Qt::LeftButton, {}, (first + QPointF(10, 10)).toPoint());
        QVERIFY(view->hasBrush());
        QVERIFY(view->isBrushed(0));
        auto* panel = static_cast<ui::BrushPanel*>(shown.fixture.find("brushPanel"));
        QVERIFY(panel->brushed().size() < 12);
    }

    void a_view_comes_back_by_its_name() {
        ShownWall shown;
        shown.group_by_rate();
        shown.choose("wallLines", 2);
        shown.choose("wallAxis", 2);
        shown.fixture.click("wallLog");
        static_cast<QLineEdit*>(shown.fixture.find("runFilter"))->setText("learning_rate > 0.005");
        const ui::RunView wanted = shown.page().view();
        auto* menu = shown.fixture.window().findChild<QMenu*>("runViewsMenu");
        Q_EMIT menu->aboutToShow();
        menu->actions().front()->trigger(); // there is none yet: save this one
        auto* dialog = shown.fixture.window().findChild<QInputDialog*>("viewDialog");
        QVERIFY(dialog != nullptr);
        dialog->setTextValue("larger / rates");
        dialog->accept();
        shown.fixture.reopen();
        shown.fixture.window().showPage("runs");
        QTRY_COMPARE_WITH_TIMEOUT(shown.table().model()->rowCount(), 12, kPatienceMs);
        menu = shown.fixture.window().findChild<QMenu*>("runViewsMenu");
        Q_EMIT menu->aboutToShow();
        QCOMPARE(menu->actions().front()->text(), QString("larger / rates"));
        menu->actions().front()->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(shown.table().model()->rowCount(), 8, kPatienceMs);
        QCOMPARE(shown.page().view(), wanted);
        Q_EMIT menu->aboutToShow();
        QVERIFY(menu->actions().front()->isChecked());
    }

    void columns_are_found_by_name_and_hold_any_setting() {
        ShownWall shown;
        Q_EMIT shown.table().chooserRequested();
        auto* dialog = shown.fixture.window().findChild<QDialog*>("columnDialog");
        QVERIFY(dialog != nullptr && dialog->isVisible());
        QTest::keyClicks(dialog->findChild<QLineEdit*>("columnSearch"), "learning");
        auto* list = dialog->findChild<QListWidget*>("columnList");
        int found = 0;
        for (int row = 0; row < list->count(); ++row) {
            QListWidgetItem* item = list->item(row);
            if (!item->isHidden() && item->text() == "optimizer.learning_rate") {
                item->setCheckState(Qt::Checked);
                ++found;
            }
        }
        QCOMPARE(found, 1);
        dialog->reject();
        const auto columns = shown.table().visualColumns();
        QCOMPARE(columns.back().csvName(), QString("optimizer.learning_rate"));
        const int last = shown.table().model()->columnCount() - 1;
        shown.table().sortByColumn(last, Qt::DescendingOrder);
        QCOMPARE(shown.table().model()->index(0, last).data().toString(), QString("0.1"));
        QVERIFY(!shown.table().isColumnHidden(last)); // also beside charts
    }

    void the_table_is_csv_as_it_is_shown() {
        ShownWall shown(3);
        using Kind = ui::RunColumn::Kind;
        shown.table().changeColumns(
            {{},
             {Kind::Setting, "seed", {}, 0},
             {Kind::Metric, "validation/loss", ui::RunColumn::Value::Best, 0},
             {Kind::Notes, {}, {}, 0}});
        shown.table().sortByColumn(0, Qt::AscendingOrder);
        QCOMPARE(shown.table().csv(), std::string("name,seed,validation/loss:best,notes\r\n"
                                                  "w10,0,2,\r\nw11,0,3,\r\nw12,0,4,\r\n"));
    }

    void notes_have_as_many_lines_as_they_need() {
        ShownWall shown(2);
        shown.page().setMode(ui::RunsPage::TableMode);
        shown.table().selectRow(0);
        const fs::path folder = shown.page().selectedRuns()[0].folder;
        shown.fixture.click("noteRun");
        auto* dialog = shown.fixture.window().findChild<QDialog*>("notesDialog");
        QVERIFY(dialog != nullptr && dialog->isVisible());
        auto* text = dialog->findChild<QPlainTextEdit*>("notesText");
        QTest::keyClicks(text, "first");
        QTest::keyClick(text, Qt::Key_Return);
        QTest::keyClicks(text, "second");
        QTest::mouseClick(dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save),
                          Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(train::read_annotations(folder, nullptr).notes,
                                  std::string("first\nsecond"), kPatienceMs);
    }
};

WEFT_TEST(WallTest)

#include "wall_test.moc"
