// SPDX-License-Identifier: GPL-3.0-or-later
// The Checkpoints page: long lists, pins, the trash, exports, comparisons, weights of other
// programs.
#include "core/checkpoint/safetensors.h"
#include "core/train/record/run_summary.h"
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_log.h"
#include "tests/ui/studio_fixture.h"
#include "ui/models/array_compare_model.h"
#include "ui/models/checkpoint_model.h"
#include "ui/pages/checkpoints/checkpoint_actions.h"
#include "ui/pages/checkpoints/checkpoint_table.h"
#include "ui/pages/checkpoints/compare_dialog.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/painting.h"

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QCoreApplication>
#include <QHeaderView>
#include <QPushButton>
#include <QScrollBar>
#include <QSemaphore>
#include <QSignalSpy>
#include <QTableView>

#include <fstream>

namespace {

using namespace weft;
using test::kPatienceMs;
namespace fs = std::filesystem;

/// A run that stopped at its newest checkpoint; the weights of step n are all n.
fs::path make_saved_run(const fs::path& folder, const std::vector<std::int64_t>& steps) {
    fs::create_directories(folder / "checkpoints");
    std::ofstream(folder / "config.json") << test::tiny_config();
    train::RunInfo info;
    info.state = "stopped";
    train::write_run_info(folder, info);
    train::StateEvent stopped;
    stopped.state = train::RunState::stopped;
    stopped.total_steps = 100000;
    std::ofstream(folder / "events.jsonl") << train::to_line({1, 1.0, stopped}) << "\n";
    for (const std::int64_t step : steps) {
        const std::vector<float> weights(6, static_cast<float>(step));
        checkpoint::TensorView view{"layers.0.weight", "parameters", {ir::DType::f32, {2, 3}}};
        view.data = std::as_bytes(std::span(weights));
        checkpoint::Record record;
        record.step = record.metric_step = step;
        record.counters = {{"cursor", {{"epoch", 1}, {"position", 32 * step}}},
                           {"samples", 32 * step}};
        record.metrics = {{"validation/loss", 1.0 / static_cast<double>(step)}};
        record.config = config::json_of(test::tiny_config());
        record.config["seed"] = step;
        checkpoint::write_checkpoint(folder / "checkpoints", {&view, 1}, record);
    }
    return folder;
}

struct ShownCheckpoints {
    explicit ShownCheckpoints(const std::vector<std::int64_t>& steps) {
        run = make_saved_run(fixture.root() / "runs" / "2026-01-01_run_001", steps);
        fixture.window().showPage("checkpoints");
        fixture.studio().index().refresh();
        wait_for_rows(static_cast<int>(steps.size()));
    }
    QTableView& table() { return *static_cast<QTableView*>(fixture.find("checkpointTable")); }
    void wait_for_rows(int count) {
        if (!QTest::qWaitFor(
                [&] {
                    return table().model()->rowCount() == count &&
                           cell(count - 1, ui::CheckpointModel::KeptFor) != "reading …";
                },
                kPatienceMs)) {
            qFatal("%d rows instead of %d", table().model()->rowCount(), count);
        }
    }
    QString cell(int row, int column) {
        return table().model()->index(row, column).data().toString();
    }
    void select(const std::vector<int>& rows) {
        table().clearSelection();
        for (const int row : rows) {
            table().selectionModel()->select(table().model()->index(row, 0),
                                             QItemSelectionModel::Select |
                                                 QItemSelectionModel::Rows);
        }
        table().setFocus();
    }
    ui::CheckpointActions& actions() {
        return *fixture.window().findChild<ui::CheckpointActions*>();
    }
    void trigger(const char* name) {
        auto* action = fixture.window().findChild<QAction*>(name);
        if (action == nullptr || !action->isEnabled()) {
            qFatal("%s cannot be used", name);
        }
        action->trigger();
    }

    test::StudioFixture fixture;
    fs::path run;
};

} // namespace

class CheckpointsTest : public QObject {
    Q_OBJECT

    QTemporaryDir trash_;

private slots:
    void the_axis_ends_with_the_data_and_shows_the_whole_run_when_asked() {
        ShownCheckpoints page({10, 20}); // of 100,000 planned steps
        auto* chart = static_cast<widgets::LineChart*>(page.fixture.find("checkpointCurve"));
        const auto end = [chart] {
            chart->replotNow();
            return chart->xRange().high;
        };
        QVERIFY2(end() >= 20 && end() < 30, qPrintable(QString::number(end())));
        page.fixture.click("wholeRun");
        QVERIFY2(end() >= 100000, qPrintable(QString::number(end())));
        page.fixture.click("wholeRun");
        QVERIFY(end() < 30);
    }

    void a_long_job_has_threads_of_its_own_and_can_be_stopped() {
        ShownCheckpoints page({10});
        page.select({0});
        QSemaphore gate;
        const int jobs = ui::longJobPool()->maxThreadCount();
        for (int i = 0; i < jobs; ++i) {
            ui::longJobPool()->start([&gate] { gate.acquire(); });
        }
        page.fixture.click("verifyCheckpoint");
        auto* stop = static_cast<QPushButton*>(page.fixture.find("stopCheckpointJob"));
        QTRY_VERIFY(stop->isVisible());
        QSignalSpy read(&page.fixture.studio().index(), &ui::RunIndex::checkpointsRead);
        page.fixture.studio().index().readCheckpoints(page.run); // what takes a moment goes on
        QTRY_COMPARE_WITH_TIMEOUT(read.count(), 1, kPatienceMs);
        auto* actions = page.fixture.window().findChild<ui::CheckpointActions*>();
        QVERIFY(actions->isBusy());
        QSignalSpy said(actions, &ui::CheckpointActions::said);
        QTest::mouseClick(stop, Qt::LeftButton);
        gate.release(jobs);
        QTRY_COMPARE_WITH_TIMEOUT(said.count(), 1, kPatienceMs);
        QCOMPARE(said.at(0).at(1).toString(), QString("Stopped"));
        QVERIFY(!actions->isBusy() && !stop->isVisible());
    }

    void a_fork_is_of_the_run_that_its_dialog_was_opened_for() {
        ShownCheckpoints page({10});
        test::StudioFixture& fixture = page.fixture;
        const fs::path other =
            make_saved_run(fixture.root() / "runs" / "2026-01-02_run_002", {20, 30});
        std::string text = test::tiny_config();
        text.replace(text.find("\"seed\": 3"), 9, "\"seed\": 77");
        std::ofstream(other / "config.json") << text;
        test::Mouse mouse(fixture);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("forkRun")->isEnabled(), kPatienceMs);
        QVERIFY(mouse.inDialog([&] { return mouse.press("forkRun"); },
                               [&] {
                                   // Another start of the program may open another run meanwhile.
                                   fixture.studio().opener().open(other / "checkpoints" /
                                                                  "step-00000030");
                                   page.wait_for_rows(2);
                                   return mouse.press("startFork");
                               }));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().folder() != page.run &&
                                     fixture.studio().run().folder() != other &&
                                     !fixture.studio().run().isEmpty(),
                                 kPatienceMs);
        QCOMPARE(fixture.studio().run().config().seed, std::uint64_t{3}); // as the first run's
        if (fixture.studio().isTraining()) {
            fixture.studio().control().stopNow();
        }
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
    }

    // The badges say the most important of it, where it does not fit.
    void why_checkpoints_are_kept_is_readable_or_not_there() {
        ShownCheckpoints page({100, 200});
        page.select({0});
        page.trigger("pinCheckpoint");
        const auto reasons = [&] { return page.cell(0, ui::CheckpointModel::KeptFor); };
        QTRY_COMPARE_WITH_TIMEOUT(reasons(), QString("newest, best, by hand"), kPatienceMs);
        const double needed =
            widgets::textWidth(widgets::Theme::current().font(widgets::TextStyle::Body), reasons());
        bool shown = false;
        bool hidden = false;
        for (int width = 1024; width <= 1600; width += 32) {
            page.fixture.window().resize(width, 680);
            QTRY_VERIFY(page.table().isColumnHidden(ui::CheckpointModel::KeptFor) ||
                        page.table().columnWidth(ui::CheckpointModel::KeptFor) >= needed);
            (page.table().isColumnHidden(ui::CheckpointModel::KeptFor) ? hidden : shown) = true;
        }
        QVERIFY(shown && hidden);
    }

    void the_badge_of_the_best_names_its_metric_where_there_is_room() {
        ShownCheckpoints page({100, 200});
        QCOMPARE(page.cell(0, ui::CheckpointModel::Badge), QString("best validation loss, newest"));
        const QModelIndex badge = page.table().model()->index(0, ui::CheckpointModel::Badge);
        QVERIFY2(badge.data(Qt::ToolTipRole).toString().startsWith("best validation loss "),
                 qPrintable(badge.data(Qt::ToolTipRole).toString()));
        const auto& table = static_cast<ui::CheckpointTable&>(page.table());
        page.fixture.window().resize(1600, 680);
        QTRY_COMPARE(table.bestText(), QString("best validation loss"));
        const int named = table.columnWidth(ui::CheckpointModel::Badge);
        page.fixture.window().resize(1000, 680); // other columns need the room
        QTRY_COMPARE(table.bestText(), QString("best"));
        QTRY_VERIFY(table.columnWidth(ui::CheckpointModel::Badge) < named);
    }

    void initTestCase() { qputenv("XDG_DATA_HOME", trash_.path().toUtf8()); }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void the_curve_and_the_table_agree_on_the_best() {
        test::StudioFixture fixture;
        std::string text = test::tiny_config();
        text.replace(text.find("\"on_improvement\""), 0,
                     R"("metric": "validation/accuracy", "mode": "max", )");
        test::RunLog log(fixture.root() / "runs" / "2026-01-01_run_001", text);
        std::int64_t last = 0;
        // By the loss the last were the best; the first was kept by nobody.
        for (const auto& [step, accuracy] : {std::pair{10, 0.95}, {20, 0.9}, {30, 0.5}}) {
            log.steps(last + 1, step, 1.0 / step)
                .add(train::EvaluationEvent{step, {{"validation/accuracy", accuracy}}})
                .add(train::CheckpointEvent{step, {}, 0, 13, 400, {}, 2, 5, 6, 40});
            last = step;
            if (step == 10) {
                continue;
            }
            const std::vector<float> weights(6);
            checkpoint::TensorView view{"layers.0.weight", "parameters", {ir::DType::f32, {2, 3}}};
            view.data = std::as_bytes(std::span(weights));
            checkpoint::Record record;
            record.step = record.metric_step = step;
            record.metrics = {{"validation/accuracy", accuracy}};
            record.config = config::json_of(text);
            fs::create_directories(log.folder() / "checkpoints");
            checkpoint::write_checkpoint(log.folder() / "checkpoints", {&view, 1}, record);
        }
        fixture.window().showPage("checkpoints");
        fixture.studio().index().refresh();
        auto* table = static_cast<QTableView*>(fixture.find("checkpointTable"));
        const auto cell = [table](int row, int column) {
            return table->model()->index(row, column).data().toString();
        };
        QTRY_COMPARE_WITH_TIMEOUT(cell(1, ui::CheckpointModel::Badge),
                                  QString("best validation accuracy"), kPatienceMs);
        QCOMPARE(cell(1, ui::CheckpointModel::Step), QString("20"));
        const QString tip =
            table->model()->index(1, ui::CheckpointModel::Step).data(Qt::ToolTipRole).toString();
        QVERIFY2(tip.endsWith("written in 400 ms, training waited 13 ms (2.0 ms for the save "
                              "before), a step took 6.0 ms meanwhile and 5.0 ms before (the "
                              "longest 40 ms)"),
                 qPrintable(tip));
        const auto* chart = static_cast<widgets::LineChart*>(fixture.find("checkpointCurve"));
        const auto said = [chart] { return chart->describe().split("; best "); };
        QTRY_VERIFY2(said().value(1).endsWith("at step 20"), qPrintable(chart->describe()));
        QVERIFY2(said()[0].startsWith("accuracy "), qPrintable(said()[0]));
    }

    void every_column_ends_beside_the_scroll_bar_at_any_width() {
        std::vector<std::int64_t> steps;
        for (int i = 1; i <= 40; ++i) {
            steps.push_back(i * 5);
        }
        ShownCheckpoints page(steps);
        const auto& table = page.table();
        page.fixture.window().resize(1600, 680); // where badges have more words
        QTRY_COMPARE(static_cast<const ui::CheckpointTable&>(table).bestText(),
                     QString("best validation loss"));
        for (int width = 940; width <= 1440; width += 10) {
            page.fixture.window().resize(width, 680);
            QCoreApplication::processEvents();
            QTRY_VERIFY(table.verticalScrollBar()->isVisible());
            const auto fits = [&] {
                return table.horizontalHeader()->length() <= table.viewport()->width();
            };
            QTRY_VERIFY2_WITH_TIMEOUT(fits(), QByteArray::number(width).constData(), kPatienceMs);
        }
    }

    void the_table_is_sorted_by_any_column_and_actions_meet_the_row_that_is_seen() {
        ShownCheckpoints page({10, 9, 200});
        QCOMPARE(page.cell(0, ui::CheckpointModel::Step), QString("200"));
        page.table().sortByColumn(ui::CheckpointModel::Metric, Qt::DescendingOrder);
        QCOMPARE(page.cell(0, ui::CheckpointModel::Step), QString("9"));
        QCOMPARE(page.cell(1, ui::CheckpointModel::Step), QString("10"));
        page.select({0});
        page.trigger("pinCheckpoint");
        QTRY_VERIFY_WITH_TIMEOUT(page.cell(0, ui::CheckpointModel::Badge).contains("pinned"),
                                 kPatienceMs);
        const auto manifest =
            checkpoint::read_manifest(page.run / "checkpoints" / checkpoint::folder_name(9));
        QCOMPARE(manifest.record.kept_for, std::vector<std::string>{checkpoint::kByHand});
    }

    void a_moment_of_another_day_is_told_with_its_date() {
        const QDateTime today = QDateTime::currentDateTime();
        checkpoint::Entry entry;
        entry.step = 1;
        ui::RunModel run;
        ui::CheckpointModel model;
        const auto told = [&](const QDateTime& when) {
            entry.saved_time = static_cast<double>(when.toSecsSinceEpoch());
            model.setContent(run, {entry});
            return model.index(0, ui::CheckpointModel::Saved).data().toString();
        };
        QCOMPARE(told(today), today.toString("HH:mm:ss"));
        const QDateTime before = today.addYears(-1);
        QCOMPARE(told(before), QLocale().toString(before, "d MMM yyyy HH:mm"));
        const int other = today.date().month() == 6 ? 7 : 6; // of this year
        const QDateTime month(QDate(today.date().year(), other, 5), QTime(14, 2));
        QCOMPARE(told(month), QLocale().toString(month, "d MMM HH:mm"));
    }

    void a_long_list_shows_its_steps_before_every_manifest_is_read() {
        ShownCheckpoints page({1});
        const fs::path checkpoints = page.run / "checkpoints";
        for (int step = 2; step <= 700; ++step) {
            fs::copy(checkpoints / checkpoint::folder_name(1),
                     checkpoints / checkpoint::folder_name(step));
        }
        QSignalSpy found(&page.fixture.studio().index(), &ui::RunIndex::checkpointsFound);
        QSignalSpy read(&page.fixture.studio().index(), &ui::RunIndex::checkpointsRead);
        page.fixture.studio().index().readCheckpoints(page.run);
        QVERIFY(found.wait(kPatienceMs));
        QCOMPARE(read.count(), 0);
        QCOMPARE(page.table().model()->rowCount(), 700);
        QCOMPARE(page.cell(0, ui::CheckpointModel::Step), QString("700")); // the newest on top
        QTRY_COMPARE_WITH_TIMEOUT(read.count(), 1, kPatienceMs);
        QVERIFY(found.count() >= 3); // in parts
    }

    void a_pin_is_set_in_the_checkpoint_itself() {
        ShownCheckpoints page({10, 20});
        page.select({1});
        page.trigger("pinCheckpoint");
        QTRY_VERIFY_WITH_TIMEOUT(page.cell(1, ui::CheckpointModel::Badge).contains("pinned"),
                                 kPatienceMs);
        const auto manifest =
            checkpoint::read_manifest(page.run / "checkpoints" / checkpoint::folder_name(10));
        QCOMPARE(manifest.record.kept_for, std::vector<std::string>{checkpoint::kByHand});
    }

    void the_newest_goes_to_the_trash_only_when_that_is_ticked() {
        ShownCheckpoints page({10, 20, 30});
        page.select({0});
        QTest::keyClick(&page.table(), Qt::Key_Delete);
        auto* dialog = page.fixture.window().findChild<QDialog*>("checkpointTrashDialog");
        QVERIFY(dialog != nullptr && dialog->isVisible());
        auto* confirm = dialog->findChild<QPushButton*>("confirmTrash");
        QVERIFY(!confirm->isEnabled());
        dialog->findChild<QCheckBox*>("trashGuarded")->click();
        QVERIFY(confirm->isEnabled());
        confirm->click();
        QTRY_VERIFY_WITH_TIMEOUT(!fs::exists(page.run / "checkpoints" / "step-00000030"),
                                 kPatienceMs);
        page.wait_for_rows(2);
        QVERIFY(page.cell(0, ui::CheckpointModel::Badge).contains("newest")); // step 20 is now
    }

    void a_checkpoint_comes_back_from_the_trash() {
        ShownCheckpoints page({10, 20, 30});
        page.select({2});
        page.actions().remove();
        auto* dialog = page.fixture.window().findChild<QDialog*>("checkpointTrashDialog");
        dialog->findChild<QPushButton*>("confirmTrash")->click();
        page.wait_for_rows(2);
        QPushButton* undo = nullptr;
        for (auto* button : page.fixture.window().findChildren<QPushButton*>()) {
            undo = button->isVisible() && button->text() == "Undo" ? button : undo;
        }
        QVERIFY(undo != nullptr);
        undo->click();
        page.wait_for_rows(3);
        const auto manifest =
            checkpoint::read_manifest(page.run / "checkpoints" / checkpoint::folder_name(10));
        QVERIFY(checkpoint::verify(manifest).empty());
    }

    void nothing_is_removed_while_a_process_trains_the_run() {
        ShownCheckpoints page({10, 20, 30});
        const train::RunLock lock(page.run);
        page.select({2});
        QSignalSpy said(&page.actions(), &ui::CheckpointActions::said);
        page.actions().remove();
        auto* dialog = page.fixture.window().findChild<QDialog*>("checkpointTrashDialog");
        QVERIFY(dialog->findChild<QPushButton*>("confirmTrash")->isEnabled());
        dialog->findChild<QPushButton*>("confirmTrash")->click();
        QTRY_COMPARE_WITH_TIMEOUT(said.count(), 1, kPatienceMs);
        QVERIFY(fs::exists(page.run / "checkpoints" / "step-00000010"));
    }

    void two_are_compared_array_by_array() {
        ShownCheckpoints page({10, 30});
        QVERIFY(!page.fixture.find("compareCheckpoints")->isEnabled());
        page.select({0, 1});
        page.fixture.click("compareCheckpoints");
        auto* dialog = page.fixture.window().findChild<ui::CompareDialog*>("compareDialog");
        QVERIFY(dialog != nullptr);
        QTRY_VERIFY_WITH_TIMEOUT(dialog->isDone(), kPatienceMs);
        auto* table = dialog->findChild<QTableView*>("compareTable");
        QCOMPARE(table->model()->rowCount(), 1);
        // Six elements that differ by 20; A is the newer one.
        QCOMPARE(table->model()->index(0, ui::ArrayCompareModel::Largest).data().toString(),
                 QString("20.00"));
        QVERIFY(dialog->findChild<QLabel*>("compareSettings")->text().contains("seed"));
        QVERIFY(dialog->findChild<QLabel*>("compareCounters")->text().contains("step"));
        dialog->close();
    }

    void weights_are_exported_and_verified_with_an_answer() {
        ShownCheckpoints page({10});
        page.select({0});
        QSignalSpy said(&page.actions(), &ui::CheckpointActions::said);
        const fs::path file = page.fixture.root() / "out.safetensors";
        page.actions().exportTo(page.run / "checkpoints" / "step-00000010",
                                QString::fromStdString(file.string()));
        QTRY_COMPARE_WITH_TIMEOUT(said.count(), 1, kPatienceMs);
        QCOMPARE(checkpoint::read_safetensors(file).tensors.size(), std::size_t{1});
        QTRY_VERIFY(page.fixture.find("verifyCheckpoint")->isEnabled());
        page.fixture.click("verifyCheckpoint");
        QTRY_COMPARE_WITH_TIMEOUT(said.count(), 2, kPatienceMs);
        QVERIFY(said.at(1).at(1).toString().contains("every checksum"));
    }

    void a_draft_starts_from_weights_of_another_program() {
        ShownCheckpoints page({10});
        page.select({0});
        QSignalSpy said(&page.actions(), &ui::CheckpointActions::said);
        const fs::path file = page.fixture.root() / "elsewhere" / "peer.safetensors";
        fs::create_directories(file.parent_path());
        page.actions().exportTo(page.run / "checkpoints" / "step-00000010",
                                QString::fromStdString(file.string()));
        QTRY_COMPARE_WITH_TIMEOUT(said.count(), 1, kPatienceMs);
        QCOMPARE(page.fixture.studio().opener().open(page.fixture.preset()), QString());
        QCOMPARE(page.fixture.studio().opener().open(file), QString());
        QCOMPARE(page.fixture.window().currentPage(), QString("checkpoints"));
        QTRY_VERIFY_WITH_TIMEOUT(page.fixture.find("startFromWeights")->isEnabled(), kPatienceMs);
        page.fixture.click("startFromWeights");
        const ui::Draft& draft = page.fixture.studio().draft();
        QCOMPARE(draft.document().at("init").at("from").get<std::string>(), file.string());
        QVERIFY(draft.isValid());
        QVERIFY(draft.canUndo());
        QVERIFY(!page.fixture.studio().isTraining()); // nothing starts by itself
    }

    void a_file_that_is_no_safetensors_is_said() {
        ShownCheckpoints page({10});
        const fs::path file = page.fixture.root() / "bad.safetensors";
        std::ofstream(file) << "not weights at all";
        QCOMPARE(page.fixture.studio().opener().open(file), QString());
        QTRY_VERIFY_WITH_TIMEOUT(page.fixture.find("weightsView")->isVisible(), kPatienceMs);
        QTest::qWait(0);
        QVERIFY(!page.fixture.find("startFromWeights")->isEnabled());
    }

    void the_panel_says_which_fields_of_the_draft_could_come_along() {
        ShownCheckpoints page({10});
        QCOMPARE(page.fixture.studio().opener().open(page.fixture.preset()), QString());
        page.fixture.window().showPage("checkpoints");
        QVERIFY(!page.fixture.find("draftChanges")->isVisible()); // the draft is the run's own
        page.fixture.studio().draft().setField("optimizer.learning_rate", 0.5);
        QTRY_VERIFY(page.fixture.find("draftChanges")->isVisible());
        const auto fields = [&] {
            QStringList out;
            for (auto* one :
                 page.fixture.find("draftChanges")->findChildren<widgets::ElidedLabel*>()) {
                out << one->text();
            }
            out.removeAll(QString());
            return out;
        };
        QCOMPARE(fields().front(), QString("optimizer.learning_rate"));
        // Another model is said, not compared field by field.
        page.fixture.studio().draft().setField(
            "model", {{"type", "sequential"}, {"layers", {{{"type", "linear"}}}}});
        const auto words = [&] {
            QStringList out;
            for (auto* one : page.fixture.find("draftChanges")->findChildren<QLabel*>()) {
                out << one->text();
            }
            return out.join('\n');
        };
        QTRY_VERIFY2(words().contains("sequential") && words().contains("mlp"),
                     qPrintable(words()));
        QVERIFY(fields().isEmpty());
    }

    void the_array_model_keeps_its_contract() {
        ui::ArrayCompareModel model;
        const QAbstractItemModelTester tester(&model);
        checkpoint::TensorDifference difference;
        difference.name = "w";
        checkpoint::TensorDifference only;
        only.name = "x";
        only.problem = "only in A";
        model.setDifferences({difference, only});
        QCOMPARE(model.rowCount(), 2);
    }
};

WEFT_TEST(CheckpointsTest)
#include "checkpoints_test.moc"
