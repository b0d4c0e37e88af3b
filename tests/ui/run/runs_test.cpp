// SPDX-License-Identifier: GPL-3.0-or-later
// The Runs page: the table of every run, driven by mouse and keys.
#include "core/train/record/run_summary.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/run/run_facts.h"
#include "ui/bridge/run/run_trash.h"
#include "ui/models/run_compare_model.h"
#include "ui/models/run_table_model.h"
#include "ui/pages/runs/runs_page.h"
#include "ui/pages/runs/runs_table.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"
#include "widgets/curves/series_store.h"
#include "widgets/look/painting.h"
#include "widgets/views/parallel_view.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QCompleter>
#include <QDialog>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>

#include <fstream>
#include <set>

namespace {

using namespace weft;
using test::kPatienceMs;
using test::write_file;
namespace fs = std::filesystem;

struct Made {
    std::string name;
    double learning_rate = 0.1;
    double loss = 1;
    std::string state = "finished";
    std::string parent{};
    std::string more{}; // of the configuration: ", \"seed\": 1"
};

fs::path make_run(const fs::path& runs, const Made& made) {
    const fs::path folder = runs / ("2026-01-01_" + made.name);
    write_file(folder / "config.json", R"({"optimizer": {"type": "adamw", "learning_rate": )" +
                                           std::to_string(made.learning_rate) +
                                           R"(}, "checkpoint": {"metric": "validation/loss"})" +
                                           made.more + "}");
    train::RunInfo info;
    info.id = folder.filename().string();
    info.name = made.name;
    info.state = made.state;
    info.parent = made.parent;
    train::write_run_info(folder, info);
    std::string lines;
    for (int i = 1; i <= 3; ++i) {
        train::StepEvent step;
        step.step = i;
        step.loss = made.loss * (4 - i);
        lines += train::to_line({2 * i, 100.0 + i, step}) + "\n";
        lines += train::to_line(
                     {2 * i + 1, 100.0 + i,
                      train::EvaluationEvent{i, {{"validation/loss", made.loss * (5 - i)}}}}) +
                 "\n";
    }
    write_file(folder / "events.jsonl", lines);
    return folder;
}

/// A studio with these runs on its Runs page.
struct ShownRuns {
    explicit ShownRuns(const std::vector<Made>& runs) {
        for (const Made& made : runs) {
            make_run(fixture.root() / "runs", made);
        }
        fixture.window().showPage("runs");
        fixture.studio().index().refresh();
        wait_for_rows(static_cast<int>(runs.size()));
    }
    ui::RunsTable& table() { return *static_cast<ui::RunsTable*>(fixture.find("runTable")); }
    ui::RunsPage& page() { return *static_cast<ui::RunsPage*>(fixture.window().page("runs")); }
    QLineEdit& filter() { return *static_cast<QLineEdit*>(fixture.find("runFilter")); }
    void wait_for_rows(int count) {
        if (!QTest::qWaitFor([&] { return table().model()->rowCount() == count; }, kPatienceMs)) {
            qFatal("%d rows instead of %d", table().model()->rowCount(), count);
        }
    }
    int column(const QString& title) {
        for (int i = 0; i < table().model()->columnCount(); ++i) {
            if (table().model()->headerData(i, Qt::Horizontal, Qt::DisplayRole) == title) {
                return i;
            }
        }
        qFatal("no column %s", qPrintable(title));
    }
    QString text(int row, const QString& title) {
        return table().model()->index(row, column(title)).data().toString();
    }
    widgets::SparklineData curve(const QString& run) {
        return table()
            .model()
            ->index(row_of(run), column("loss"))
            .data(ui::RunTableModel::CurveRole)
            .value<widgets::SparklineData>();
    }
    int row_of(const QString& name) {
        for (int row = 0; row < table().model()->rowCount(); ++row) {
            if (text(row, "run") == name) {
                return row;
            }
        }
        return -1;
    }
    void select(const QStringList& names) {
        table().clearSelection();
        for (const QString& name : names) {
            table().selectionModel()->select(table().model()->index(row_of(name), 0),
                                             QItemSelectionModel::Select |
                                                 QItemSelectionModel::Rows);
        }
    }
    fs::path folder(const std::string& name) {
        return fixture.root() / "runs" / ("2026-01-01_" + name);
    }

    test::StudioFixture fixture;
};

/// The button of the note that is there; null: there is none.
QPushButton* undo_button(ShownRuns& shown) {
    for (auto* button : shown.fixture.window().findChildren<QPushButton*>()) {
        if (button->isVisible() && button->text() == "Undo") {
            return button;
        }
    }
    return nullptr;
}

} // namespace

class RunsTest : public QObject {
    Q_OBJECT

    QTemporaryDir trash_;

    std::set<fs::path> in_trash() const {
        std::set<fs::path> out;
        for (const auto& entry : fs::recursive_directory_iterator(trash_.path().toStdString())) {
            if (!entry.is_directory()) {
                out.insert(entry.path());
            }
        }
        return out;
    }

private slots:
    void a_run_says_how_long_it_trained_also_when_it_was_killed() {
        ShownRuns shown({});
        const fs::path folder = shown.fixture.root() / "runs" / "2026-01-01_killed";
        train::RunInfo info;
        info.id = info.name = "killed";
        info.state = "running";
        info.seconds = 60; // of the session before
        std::string lines;
        std::int64_t seq = 0;
        const auto say = [&](double time, train::Payload payload) {
            lines += train::to_line({++seq, time, std::move(payload)}) + "\n";
        };
        const auto state = [](train::RunState now) {
            train::StateEvent event;
            event.state = now;
            return event;
        };
        const auto step = [](std::int64_t number) {
            train::StepEvent event;
            event.step = number;
            return event;
        };
        say(90, state(train::RunState::validating));
        say(100, state(train::RunState::running));
        say(105, train::EvaluationEvent{1, {{"validation/loss", 1.0}}});
        say(110, step(2));
        say(110, state(train::RunState::paused));
        say(150, state(train::RunState::running));
        say(177, step(3)); // 10 s and 27 s
        write_file(folder / "config.json", "{}");
        train::write_run_info(folder, info);
        write_file(folder / "events.jsonl", lines);
        shown.fixture.studio().index().refresh();
        shown.wait_for_rows(1);
        QCOMPARE(shown.text(0, "state"), QString("interrupted"));
        QCOMPARE(shown.text(0, "time"), widgets::formatDuration(60 + 10 + 27));
    }

    void a_run_that_trains_moves_on_in_the_lists() {
        ShownRuns shown({});
        shown.fixture.studio().draft().open(shown.fixture.preset());
        shown.fixture.press(Qt::Key_F5);
        QTRY_VERIFY_WITH_TIMEOUT(shown.fixture.studio().run().step() > 0, kPatienceMs);
        shown.fixture.press(Qt::Key_8, Qt::ControlModifier);
        shown.wait_for_rows(1);
        constexpr int kMoves = 3; // more than a page's own look when it is shown
        for (int i = 0; i < kMoves; ++i) {
            const QString before = shown.text(0, "step");
            QTRY_VERIFY_WITH_TIMEOUT(shown.text(0, "step") != before, kPatienceMs);
        }
        shown.fixture.press(Qt::Key_1, Qt::ControlModifier);
        const auto labels = [&] {
            QStringList texts;
            for (const auto* label :
                 shown.fixture.find("recentRuns")->findChildren<widgets::TextLabel*>()) {
                texts << label->text();
            }
            return texts;
        };
        QTRY_VERIFY_WITH_TIMEOUT(labels().join(' ').contains("tiny"), kPatienceMs);
        for (int i = 0; i < kMoves; ++i) {
            const QStringList before = labels();
            QTRY_VERIFY_WITH_TIMEOUT(labels() != before, kPatienceMs);
        }
        shown.fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!shown.fixture.studio().isTraining(), kPatienceMs);
    }

    void initTestCase() {
        // The desktop's trash of this test lies in its own folder.
        qputenv("XDG_DATA_HOME", trash_.filePath("not/made/yet").toUtf8());
    }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void small_curves_are_smoothed_as_the_large_ones() {
        ShownRuns shown({{"a", 0.1, 2}});
        const std::vector<double> losses{6, 4, 2}; // of make_run
        widgets::SeriesStore oracle;
        oracle.setSmoothing(widgets::SeriesStore::kUsualSmoothing);
        oracle.append(std::vector<double>{1, 2, 3}, losses);
        const std::vector<double> drawn = shown.curve("a").y;
        QCOMPARE(drawn.size(), losses.size());
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            QCOMPARE(drawn[i], oracle.at(i, widgets::SeriesStore::Column::Smoothed).y);
        }
    }

    void runs_are_sorted_by_any_column_and_those_without_a_value_stand_last() {
        ShownRuns shown({{"a", 0.1, 2}, {"b", 0.1, 1}, {"c", 0.1, 3}});
        write_file(shown.folder("empty") / "run.json", "{}");
        shown.fixture.studio().index().refresh();
        shown.wait_for_rows(4);
        const auto order = [&] {
            QStringList names;
            for (int row = 0; row < 4; ++row) {
                names << shown.text(row, "run");
            }
            return names;
        };
        shown.table().sortByColumn(shown.column("best validation loss"), Qt::AscendingOrder);
        QCOMPARE(order(), (QStringList{"b", "a", "c", "empty"}));
        shown.table().sortByColumn(shown.column("best validation loss"), Qt::DescendingOrder);
        QCOMPARE(order(), (QStringList{"c", "a", "b", "empty"}));
        shown.table().sortByColumn(shown.column("run"), Qt::AscendingOrder);
        QCOMPARE(order(), (QStringList{"a", "b", "c", "empty"}));
    }

    void the_best_of_a_run_is_said_with_its_metric() {
        ShownRuns shown({{"a", 0.1, 2}, {"b", 0.1, 1}});
        QCOMPARE(shown.text(shown.row_of("a"), "best validation loss"), QString("4.000"));
        // Where runs are not after the same, each says what it has.
        const fs::path other = make_run(shown.fixture.root() / "runs", {"c", 0.1, 3});
        std::string config = test::tiny_config();
        config.replace(config.find("\"on_improvement\""), 0,
                       R"("metric": "validation/accuracy", "mode": "max", )");
        write_file(other / "config.json", config);
        std::string line =
            train::to_line({1, 101.0, train::EvaluationEvent{1, {{"validation/accuracy", 0.97}}}});
        write_file(other / "events.jsonl", line + "\n");
        shown.fixture.studio().index().refresh();
        shown.wait_for_rows(3);
        QTRY_COMPARE(shown.text(shown.row_of("c"), "best validation"), QString("accuracy 0.970"));
        QCOMPARE(shown.text(shown.row_of("a"), "best validation"), QString("loss 4.000"));
    }

    void a_filter_hides_rows_and_says_what_it_does_not_understand() {
        ShownRuns shown({{"a", 0.1, 2}, {"b", 0.1, 1, "failed"}, {"c", 0.1, 3}});
        shown.filter().setText("best<5"); // best values are twice the loss: 4, 2, 6
        QCOMPARE(shown.table().model()->rowCount(), 2);
        shown.filter().setText("state:failed");
        QCOMPARE(shown.table().model()->rowCount(), 1);
        shown.filter().setText("best<x");
        QVERIFY(shown.filter().accessibleDescription().contains("number is expected"));
        shown.filter().setText("nothing like this");
        QVERIFY(!shown.table().isVisible());
        shown.fixture.click("clearRunFilter");
        QCOMPARE(shown.table().model()->rowCount(), 3);
        QVERIFY(shown.table().isVisible());
    }

    void a_setting_is_asked_for_by_its_short_name_and_a_wrong_one_is_said() {
        ShownRuns shown({{"a", 0.1, 2}, {"b", 0.0001, 1}});
        shown.filter().setFocus();
        QTest::keyClicks(&shown.filter(), "learning_rate > 1e-3");
        QCOMPARE(shown.table().model()->rowCount(), 1);
        QCOMPARE(shown.text(0, "run"), QString("a"));
        shown.filter().clear();
        QTest::keyClicks(&shown.filter(), "lerning_rate > 1e-3");
        const auto* said = static_cast<widgets::TextLabel*>(shown.fixture.find("runFilterProblem"));
        QVERIFY(said->isVisible());
        QVERIFY2(said->text().contains("did you mean optimizer.learning_rate"),
                 qPrintable(said->text()));
        QVERIFY(said->heightForWidth(said->width()) <= said->height()); // none of it is cut off
        shown.filter().clear();
        QVERIFY(!said->isVisible());
    }

    void the_filter_offers_names_and_texts_that_the_runs_have() {
        ShownRuns shown({{"a", 0.1, 2}, {"b", 0.1, 1, "failed"}});
        auto* popup = shown.filter().findChild<QCompleter*>()->popup();
        shown.filter().activateWindow();
        shown.filter().setFocus();
        QTest::keyClicks(&shown.filter(), "best<9 lear");
        QTRY_VERIFY_WITH_TIMEOUT(popup->isVisible(), kPatienceMs);
        QTest::keyClick(popup, Qt::Key_Return); // nothing is chosen
        QCOMPARE(shown.filter().text(), QString("best<9 lear"));
        QTest::keyClick(&shown.filter(), Qt::Key_Down);
        QTest::keyClick(popup, Qt::Key_Down);
        QTest::keyClick(popup, Qt::Key_Return);
        QCOMPARE(shown.filter().text(), QString("best<9 optimizer.learning_rate"));
        shown.filter().clear();
        QTest::keyClicks(&shown.filter(), "sta");
        QTRY_VERIFY_WITH_TIMEOUT(popup->isVisible(), kPatienceMs);
        QTest::keyClick(popup, Qt::Key_Down);
        QTest::keyClick(popup, Qt::Key_Return);
        QCOMPARE(shown.filter().text(), QString("state:"));
        QTRY_VERIFY_WITH_TIMEOUT(popup->isVisible(), kPatienceMs); // its texts
        QCOMPARE(popup->model()->rowCount(), 2);
        QTest::keyClick(popup, Qt::Key_Down);
        QTest::keyClick(popup, Qt::Key_Return);
        QCOMPARE(shown.filter().text(), QString("state:failed"));
        QCOMPARE(shown.table().model()->rowCount(), 1);
        shown.filter().clear();
        QVERIFY(!popup->isVisible());
        QTest::keyClick(&shown.filter(), Qt::Key_Down);
        QVERIFY(popup->isVisible());
    }

    void tags_and_notes_are_edited_in_place_and_live_in_the_run_folder() {
        ShownRuns shown({{"a"}, {"b"}});
        shown.select({"a"});
        const QModelIndex tags =
            shown.table().model()->index(shown.row_of("a"), shown.column("tags"));
        shown.table().setCurrentIndex(tags);
        QTest::keyClick(&shown.table(), Qt::Key_F2);
        auto* editor = shown.table().findChild<QLineEdit*>();
        QVERIFY(editor != nullptr);
        editor->selectAll();
        QTest::keyClicks(editor, "baseline, good");
        QTest::keyClick(editor, Qt::Key_Return);
        QTRY_COMPARE_WITH_TIMEOUT(shown.text(shown.row_of("a"), "tags"), QString("baseline, good"),
                                  kPatienceMs);
        QCOMPARE(train::read_annotations(shown.folder("a"), nullptr).tags,
                 (std::vector<std::string>{"baseline", "good"}));
        QCOMPARE(shown.page().selectedRuns().size(), std::size_t{1}); // still selected
        shown.filter().setText("tag:good");
        QCOMPARE(shown.table().model()->rowCount(), 1);
    }

    void archived_runs_are_hidden_until_asked_for() {
        ShownRuns shown({{"a"}, {"b"}});
        shown.select({"b"});
        shown.fixture.click("archiveRuns");
        shown.wait_for_rows(1);
        QVERIFY(train::read_annotations(shown.folder("b"), nullptr).archived);
        shown.fixture.click("showArchived");
        shown.wait_for_rows(2);
        QCOMPARE(shown.filter().text().trimmed(), QString("is:archived"));
        shown.select({"b"});
        shown.fixture.click("archiveRuns"); // Unarchive
        QTRY_VERIFY_WITH_TIMEOUT(!train::read_annotations(shown.folder("b"), nullptr).archived,
                                 kPatienceMs);
        shown.fixture.click("showArchived");
        shown.wait_for_rows(2);
    }

    void a_run_folder_that_cannot_be_written_is_said_and_nothing_is_lost() {
        ShownRuns shown({{"a"}});
        write_file(shown.folder("a") / "annotations.json" / "x", "a folder is in the way");
        shown.fixture.studio().index().annotate(shown.folder("a"), {{}, {{"t"}, "", false}});
        QSignalSpy failed(&shown.fixture.studio().index(), &ui::RunIndex::failed);
        QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, kPatienceMs);
        QCOMPARE(shown.text(0, "tags"), QString());
    }

    void a_chosen_run_has_the_colour_of_its_line_in_the_table() {
        ShownRuns shown({{"a", 0.1, 2}, {"b", 0.2, 1}, {"c", 0.2, 3}});
        const auto slot = [&shown](const char* run) { return shown.curve(run).slot; };
        QCOMPARE(slot("a"), slot("b")); // nothing is compared
        shown.select({"a", "c"});
        QVERIFY(slot("a") >= 0);
        QVERIFY(slot("c") >= 0);
        QVERIFY(slot("a") != slot("c"));
        QCOMPARE(slot("b"), -1);
        // A ninth run comes back to the first colour, but not to its dashes.
        QCOMPARE(ui::comparedLine(8).slot, ui::comparedLine(0).slot);
        QVERIFY(ui::comparedLine(8).dash != ui::comparedLine(0).dash);
    }

    void chosen_runs_are_drawn_over_one_another_and_their_differences_listed() {
        ShownRuns shown({{"a", 0.1, 2}, {"b", 0.2, 1}, {"c", 0.2, 3}});
        shown.select({"a", "b"});
        auto* chart = static_cast<widgets::LineChart*>(shown.fixture.find("compareChart"));
        QVERIFY(chart->isVisible());
        const auto points = [chart] {
            std::size_t count = 0; // of series taken off nothing; ids are not used again
            for (int id = 1; id <= 9; ++id) {
                count += chart->pointCount(id);
            }
            return count;
        };
        QTRY_COMPARE_WITH_TIMEOUT(points(), std::size_t{6}, kPatienceMs);
        chart->replotNow();
        // The higher loss stands above, at the end of its line.
        QCOMPARE(chart->nameLabels(), (QStringList{"a", "b"}));
        static_cast<widgets::SegmentedControl*>(shown.fixture.find("compareTab"))
            ->setCurrentIndex(1);
        auto* table = static_cast<QTableView*>(shown.fixture.find("compareTable"));
        QVERIFY(table->isVisible());
        QStringList settings;
        for (int row = 0; row < table->model()->rowCount(); ++row) {
            settings << table->model()->index(row, 0).data().toString();
        }
        QVERIFY(settings.contains("optimizer.learning_rate"));
        QVERIFY(!settings.contains("optimizer.type")); // the same in both
    }

    // The metric shown is one that all of them have, unless somebody chose another.
    void a_metric_that_one_run_has_is_shown_when_it_is_asked_for() {
        ShownRuns shown({{"a", 0.1, 2}, {"b", 0.2, 1}});
        const fs::path alone = shown.folder("c");
        write_file(alone / "config.json", "{}");
        train::RunInfo info;
        info.id = info.name = "c";
        info.state = "finished";
        train::write_run_info(alone, info);
        std::string lines;
        for (int i = 1; i <= 3; ++i) {
            const train::EvaluationEvent event{
                i, {{"validation/accuracy", 0.1 * i}, {"validation/loss", 1.0}}};
            lines += train::to_line({i, 100.0 + i, event}) + "\n";
        }
        write_file(alone / "events.jsonl", lines);
        shown.fixture.studio().index().refresh();
        shown.wait_for_rows(3);
        auto* metric = static_cast<QComboBox*>(shown.fixture.find("compareMetric"));
        shown.select({"c"});
        QTRY_COMPARE_WITH_TIMEOUT(metric->findText("validation/accuracy") >= 0, true, kPatienceMs);
        metric->setCurrentText("validation/accuracy"); // as it was left, by nobody's hand
        shown.select({"a", "b", "c"});
        QTRY_COMPARE(metric->currentText(), QString("validation/loss"));
        metric->setCurrentText("validation/accuracy");
        Q_EMIT metric->activated(metric->currentIndex());
        shown.select({"a", "c"});
        QCOMPARE(metric->currentText(), QString("validation/accuracy"));
    }

    void parallel_coordinates_show_only_what_varies_and_answer_to_keys() {
        ShownRuns shown({{"a", 0.001, 2}, {"b", 0.2, 1}, {"c", 0.2, 3}});
        static_cast<widgets::SegmentedControl*>(shown.fixture.find("compareTab"))
            ->setCurrentIndex(2);
        auto* view = static_cast<widgets::ParallelView*>(shown.fixture.find("parallelView"));
        QVERIFY(view->isVisible()); // nothing is selected: all listed runs
        QCOMPARE(view->itemCount(), 3);
        QCOMPARE(view->axisCount(), 2); // the rate and the result
        QVERIFY(view->isLogarithmic(0));
        QVERIFY(view->item(0).name.contains("learning_rate"));
        view->setFocus();
        QTest::keyClick(view, Qt::Key_Down);
        const int first = view->cursorItem();
        QVERIFY(first >= 0);
        QTest::keyClick(view, Qt::Key_Down);
        QVERIFY(view->cursorItem() != first);
        shown.select({"b", "c"});
        QVERIFY(!view->isVisible()); // their settings are the same
    }

    // A setting that one kind of run has, with one value, tells only the kind; settings of one name
    // are told apart by what they are of.
    void axes_have_two_values_and_names_of_their_own() {
        const std::string mlp = R"(, "model": {"type": "mlp"}, "data": {"type": "idx"})";
        const std::string graph =
            R"(, "model": {"type": "graph", "path": "m.weft"}, "data": {"type": "text"})";
        ShownRuns shown({{"a", 0.1, 2, "finished", {}, mlp}, {"b", 0.1, 1, "finished", {}, graph}});
        static_cast<widgets::SegmentedControl*>(shown.fixture.find("compareTab"))
            ->setCurrentIndex(2);
        auto* view = static_cast<widgets::ParallelView*>(shown.fixture.find("parallelView"));
        QVERIFY(view->isVisible());
        QCOMPARE(view->axisCount(), 3); // both types and the result
        const QString said = view->item(0).name;
        QVERIFY2(said.contains("model.type") && said.contains("data.type"), qPrintable(said));
        QVERIFY2(!said.contains("path"), qPrintable(said));
    }

    void a_run_goes_to_the_trash_whole_and_one_that_trains_stays() {
        ShownRuns shown({{"a"}, {"b"}, {"c", 0.1, 1, "running"}});
        const train::RunLock lock(shown.folder("c"));
        shown.fixture.studio().index().refresh();
        QTRY_COMPARE_WITH_TIMEOUT(shown.text(shown.row_of("c"), "state"), QString("running"),
                                  kPatienceMs);
        shown.select({"a", "c"});
        shown.table().setFocus(); // the key is the table's only while it has the focus
        QTest::keyClick(&shown.table(), Qt::Key_Delete);
        auto* dialog = shown.fixture.window().findChild<QDialog*>("trashDialog");
        QVERIFY(dialog != nullptr && dialog->isVisible());
        QVERIFY(dialog->windowTitle().contains("1 run"));
        QTest::mouseClick(dialog->findChild<QPushButton*>("confirmTrash"), Qt::LeftButton);
        shown.wait_for_rows(2);
        QVERIFY(!fs::exists(shown.folder("a")));
        QVERIFY(fs::exists(shown.folder("c") / "events.jsonl"));
        int found = 0; // whole, and to be brought back
        for (const auto& entry : fs::recursive_directory_iterator(trash_.path().toStdString())) {
            found += entry.path().filename() == "events.jsonl" ? 1 : 0;
        }
        QCOMPARE(found, 1);
        // And the last word is the lock's, whatever the list says.
        QVERIFY(!ui::trashRun(shown.folder("c")).problem.isEmpty());
        QVERIFY(fs::exists(shown.folder("c")));
    }

    void runs_come_back_from_the_trash() {
        const std::set<fs::path> before = in_trash();
        ShownRuns shown({{"a"}, {"b"}, {"c"}});
        shown.select({"a", "b"});
        shown.table().setFocus();
        QTest::keyClick(&shown.table(), Qt::Key_Delete);
        auto* dialog = shown.fixture.window().findChild<QDialog*>("trashDialog");
        QTest::mouseClick(dialog->findChild<QPushButton*>("confirmTrash"), Qt::LeftButton);
        shown.wait_for_rows(1);
        QVERIFY(!fs::exists(shown.folder("a")) && !fs::exists(shown.folder("b")));
        QTRY_VERIFY_WITH_TIMEOUT(undo_button(shown) != nullptr, kPatienceMs);
        undo_button(shown)->click();
        shown.wait_for_rows(3);
        QVERIFY(fs::exists(shown.folder("a") / "events.jsonl"));
        QVERIFY(fs::exists(shown.folder("b") / "events.jsonl"));
        QCOMPARE(in_trash(), before); // nor does it say where they were
    }

    void what_took_the_place_of_a_trashed_run_is_left_alone() {
        ShownRuns shown({{"a"}, {"b"}});
        const ui::Trashed gone = ui::trashRun(shown.folder("a"));
        QVERIFY(gone.problem.isEmpty());
        fs::create_directories(shown.folder("a"));
        const QString problem = ui::bringBack(std::vector{gone});
        QVERIFY2(problem.contains("something else"), qPrintable(problem));
        QVERIFY(fs::is_empty(shown.folder("a")));
        QVERIFY(fs::exists(gone.in_trash / "events.jsonl"));
        fs::remove_all(gone.in_trash); // others count what is there
    }

    void tags_notes_and_the_archive_can_be_taken_back() {
        ShownRuns shown({{"a"}, {"b"}});
        const auto annotations = [&](const char* name) {
            return train::read_annotations(shown.folder(name), config::Json::object());
        };
        shown.select({"a", "b"});
        shown.fixture.click("archiveRuns");
        QTRY_VERIFY_WITH_TIMEOUT(annotations("a").archived && annotations("b").archived,
                                 kPatienceMs);
        undo_button(shown)->click();
        QTRY_VERIFY_WITH_TIMEOUT(!annotations("a").archived && !annotations("b").archived,
                                 kPatienceMs);
        shown.wait_for_rows(2);
        QVERIFY(shown.table().model()->setData(
            shown.table().model()->index(shown.row_of("a"), shown.column("notes")), "a thought"));
        QTRY_VERIFY_WITH_TIMEOUT(annotations("a").notes == "a thought", kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(shown.text(shown.row_of("a"), "notes"), QString("a thought"),
                                  kPatienceMs);
        undo_button(shown)->click();
        QTRY_VERIFY_WITH_TIMEOUT(annotations("a").notes != "a thought", kPatienceMs);
    }

    // What the index keeps is only faster to read: folders, notes and opened folders are elsewhere.
    void nothing_is_lost_when_the_index_is_deleted() {
        test::StudioFixture fixture;
        make_run(fixture.root() / "runs", {"a", 0.1, 2});
        make_run(fixture.root() / "runs", {"b", 0.2, 1, "failed"});
        const fs::path opened = make_run(fixture.root() / "elsewhere", {"c", 0.3, 3});
        ui::StudioPaths paths = fixture.studio().paths();
        paths.cache = fixture.root() / "cache";
        const fs::path index = paths.cache / "runs.json";
        {
            ui::Studio first(paths);
            first.index().refresh();
            QTRY_COMPARE_WITH_TIMEOUT(first.index().runs().size(), std::size_t{2}, kPatienceMs);
            first.index().annotate(first.index().runs()[0].folder,
                                   {{}, {{"good"}, "A note.", false}});
            first.index().annotate(first.index().runs()[1].folder, {{}, {{}, "Another.", true}});
            first.index().addFolder(opened);
            QTRY_VERIFY_WITH_TIMEOUT(
                listed(first).size() == 3 && listed(first)[1].contains("Another."), kPatienceMs);
        }
        QVERIFY(fs::exists(index)); // or nothing is deleted below
        const auto studio_lists = [&paths] {
            ui::Studio studio(paths);
            studio.index().refresh();
            static_cast<void>(
                QTest::qWaitFor([&] { return studio.index().isLoaded(); }, kPatienceMs));
            return listed(studio);
        };
        const QStringList before = studio_lists();
        QCOMPARE(before.size(), qsizetype{3});
        fs::remove_all(paths.cache);
        QCOMPARE(studio_lists(), before);
        QVERIFY(fs::exists(index)); // made again
        std::ofstream(index) << "{ torn";
        QCOMPARE(studio_lists(), before);
    }

    void a_tag_that_was_taken_back_at_once_stays_away() {
        test::StudioFixture fixture;
        const fs::path run = make_run(fixture.root() / "runs", {"a", 0.1, 2});
        ui::RunIndex& index = fixture.studio().index();
        index.refresh();
        QTRY_COMPARE_WITH_TIMEOUT(index.runs().size(), std::size_t{1}, kPatienceMs);
        const train::AnnotationChange wrong{{}, {{"wrong"}, "", false}};
        // Two writes under way at once end in either order, now and then.
        for (int round = 0; round < 200; ++round) {
            int written = 0;
            const auto counted =
                connect(&index, &ui::RunIndex::runsChanged, this, [&written] { ++written; });
            index.annotate(run, wrong);
            index.annotate(run, wrong.reversed());
            QTRY_VERIFY_WITH_TIMEOUT(written >= 2, kPatienceMs);
            disconnect(counted);
            QCOMPARE(train::read_annotations(run, {}).tags, std::vector<std::string>());
        }
    }

    void columns_are_chosen_and_remembered() {
        ShownRuns shown({{"a", 0.1, 2}, {"b", 0.1, 1}});
        std::vector<ui::RunColumn> columns = shown.table().visualColumns();
        std::erase_if(columns, [](const ui::RunColumn& column) {
            return column.kind == ui::RunColumn::Kind::Parent;
        });
        columns.push_back(
            {ui::RunColumn::Kind::Metric, "validation/loss", ui::RunColumn::Value::Last, 0});
        columns.push_back(
            {ui::RunColumn::Kind::Metric, "train/loss", ui::RunColumn::Value::AtStep, 2});
        shown.table().changeColumns(columns);
        QCOMPARE(shown.text(shown.row_of("a"), "validation/loss, last"), QString("4.000"));
        // At step 2 the loss was twice the factor; it is read in the background.
        QTRY_COMPARE_WITH_TIMEOUT(shown.text(shown.row_of("a"), "train/loss at 2"),
                                  QString("4.000"), kPatienceMs);
        shown.table().sortByColumn(shown.column("train/loss at 2"), Qt::AscendingOrder);
        // The other run's curve may be read after that of a; the table sorts again then.
        QTRY_COMPARE_WITH_TIMEOUT(shown.text(0, "run"), QString("b"), kPatienceMs);
        shown.fixture.reopen();
        shown.fixture.window().showPage("runs");
        shown.wait_for_rows(2);
        QVERIFY(shown.table().visualColumns() == columns);
        QTRY_COMPARE_WITH_TIMEOUT(shown.text(0, "run"), QString("b"), kPatienceMs);
    }

    void columns_fit_into_the_table_until_one_is_sized_by_hand() {
        ShownRuns shown({{"a"}, {"b", 0.2}});
        const auto fits = [&] {
            return shown.table().horizontalHeader()->length() <= shown.table().viewport()->width();
        };
        for (const int width : {1440, 1100}) {
            shown.fixture.window().resize(width, 800);
            QTRY_VERIFY2(fits(), qPrintable(QString::number(width)));
        }
        // Neither has a parent: where room is short, that is the first to go, and it comes back.
        const int parent = shown.column("parent");
        QVERIFY(!shown.table().isColumnHidden(parent));
        const auto scale_text = [&](double scale) {
            ui::Preferences preferences = shown.fixture.studio().settings().values();
            preferences.font_scale = scale;
            QCOMPARE(shown.fixture.studio().settings().set(preferences), QString());
        };
        scale_text(widgets::kLargestText);
        shown.fixture.window().resize(1024, 680);
        QTRY_VERIFY(shown.table().isColumnHidden(parent));
        scale_text(1.0);
        shown.fixture.window().resize(1440, 800);
        QTRY_VERIFY(!shown.table().isColumnHidden(parent) && fits());
        shown.table().setColumnWidth(0, 333); // the edge of a title is dragged
        shown.fixture.window().resize(1440, 800);
        QTest::qWait(0); // the layout
        QCOMPARE(shown.table().columnWidth(0), 333);
        shown.fixture.reopen();
        shown.fixture.window().showPage("runs");
        QCOMPARE(shown.table().columnWidth(0), 333);
        shown.table().resetColumns();
        QTRY_VERIFY(fits());
    }

    void widths_are_shared_where_there_are_too_few() {
        const std::vector<ui::ColumnNeed> needs{{50, 50, 50}, {60, 100, 100}, {60, 100, 300}};
        QCOMPARE(ui::shareWidth(needs, 250), (std::vector<int>{50, 100, 100}));
        QCOMPARE(ui::shareWidth(needs, 450), (std::vector<int>{50, 100, 300})); // notes
        QCOMPARE(ui::shareWidth(needs, 210), (std::vector<int>{50, 80, 80}));
        QCOMPARE(ui::shareWidth(needs, 100), (std::vector<int>{50, 60, 60})); // it scrolls
    }

    void column_ids_come_back_as_they_were() {
        using ui::RunColumn;
        for (RunColumn column : ui::RunColumn::facts()) {
            QVERIFY(RunColumn::fromId(column.id()) == column);
        }
        const RunColumn at{RunColumn::Kind::Metric, "a b/c", RunColumn::Value::AtStep, 500};
        QVERIFY(RunColumn::fromId(at.id()) == at);
        for (const char* bad : {"", "metric", "metric best ", "metric at x y", "metric worst a"}) {
            QVERIFY(!RunColumn::fromId(bad));
        }
    }

    void the_item_models_keep_their_contract() {
        ShownRuns shown({{"a"}, {"b", 0.2}});
        ui::RunCurves curves;
        ui::RunTableModel model(shown.fixture.studio().index(), curves);
        const QAbstractItemModelTester tester(&model);
        ui::RunTableFilter filter(model);
        const QAbstractItemModelTester filter_tester(&filter);
        ui::RunCompareModel differences;
        const QAbstractItemModelTester difference_tester(&differences);
        const auto& runs = shown.fixture.studio().index().runs();
        const std::vector<const train::RunSummary*> both{&runs[0], &runs[1]};
        differences.setRuns(both);
        make_run(shown.fixture.root() / "runs", {"c"});
        fs::remove_all(shown.folder("a"));
        shown.fixture.studio().index().refresh();
        QTRY_VERIFY_WITH_TIMEOUT(model.rowOf(shown.folder("a")) < 0, kPatienceMs);
        QCOMPARE(model.rowCount(), 2);
    }

    void showing_a_run_leads_to_its_curves_and_leaves_the_draft_alone() {
        ShownRuns shown({{"a"}});
        shown.select({"a"});
        shown.fixture.click("openRun");
        QCOMPARE(shown.fixture.window().currentPage(), QString("train"));
        QVERIFY(shown.fixture.studio().draft().isEmpty());
    }

private:
    /// Every run of a studio with all that the page shows of it.
    static QStringList listed(ui::Studio& studio) {
        QStringList out;
        for (const train::RunSummary& run : studio.index().runs()) {
            config::Json all{{"folder", run.folder.string()},
                             {"name", run.info.name},
                             {"state", run.state},
                             {"problem", run.problem},
                             {"config", run.config},
                             {"tags", run.annotations.tags},
                             {"notes", run.annotations.notes},
                             {"archived", run.annotations.archived},
                             {"step", run.step},
                             {"last_loss", run.last_loss},
                             {"curve", run.loss_curve}};
            for (const auto& [name, metric] : run.metrics) {
                all["metrics"][name] = {metric.last, metric.last_step, metric.best.value_or(-1),
                                        metric.best_step};
            }
            out << QString::fromStdString(all.dump());
        }
        return out;
    }
};

WEFT_TEST(RunsTest)
#include "runs_test.moc"
