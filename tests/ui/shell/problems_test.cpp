// SPDX-License-Identifier: GPL-3.0-or-later
// What is wrong with a configuration is shown with place, message and hint, and leads to the field.
#include "core/config/locate.h"
#include "tests/support/weft_test.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/draft/place_text.h"
#include "ui/bridge/run/machine_look.h"
#include "ui/models/problem_model.h"
#include "ui/pages/checkpoints/fork_dialog.h"
#include "ui/pages/data/data_page.h"

#include "widgets/controls/text_label.h"
#include "widgets/curves/lr_curve.h"
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTableView>

#include <fstream>

namespace {

using namespace weft;

// One mistake per kind: unknown key, range, choice, two fields that disagree, not available, type,
// and a name of something that is not there.
constexpr auto kSevenMistakes = R"({
  "data": {"train": {"type": "idx", "path": "images"}, "shufle": true},
  "model": {"type": "mlp", "dropout": 1.5},
  "optimizer": {"type": "adamm"},
  "training": {"global_batch_size": 96, "micro_batch_size": 64, "recompute": "blocs",
               "max_grad_norm": "1"},
  "checkpoint": {"metric": "validation/f1"}
})";

/// Pointer and the text that must be selected for it.
constexpr std::pair<const char*, const char*> kFields[] = {
    {"/data/shufle", "\"shufle\": true"},
    {"/model/dropout", "\"dropout\": 1.5"},
    {"/optimizer/type", "\"type\": \"adamm\""},
    {"/training/micro_batch_size", "\"micro_batch_size\": 64"},
    {"/training/recompute", "\"recompute\": \"blocs\""},
    {"/training/max_grad_norm", "\"max_grad_norm\": \"1\""},
    {"/checkpoint/metric", "\"metric\": \"validation/f1\""},
};

} // namespace

class ProblemsTest : public QObject {
    Q_OBJECT

    static std::filesystem::path write(test::StudioFixture& fixture, const std::string& text) {
        const auto path = fixture.root() / "draft.json";
        std::ofstream(path) << text;
        return path;
    }

    static QTableView* table(test::StudioFixture& fixture) {
        return static_cast<QTableView*>(fixture.find("problemsTable"));
    }

    static QString cell(const QTableView* view, int row, int column) {
        return view->model()->index(row, column).data().toString();
    }

    static int row_of(const QTableView* view, const QString& pointer) {
        for (int row = 0; row < view->model()->rowCount(); ++row) {
            if (cell(view, row, ui::ProblemModel::WhereColumn) ==
                ui::placeText(pointer.toStdString())) {
                return row;
            }
        }
        return -1;
    }

private slots:
    void seven_mistakes_are_seven_rows_with_place_message_and_hint() {
        test::StudioFixture fixture;
        QCOMPARE(fixture.studio().opener().open(write(fixture, kSevenMistakes)), QString());
        const compile::CheckedRun checked =
            compile::read_run_config(std::string_view(kSevenMistakes), fixture.root());
        const QTableView* view = table(fixture);
        QVERIFY(view->isVisible());
        QCOMPARE(view->model()->rowCount(), 7);
        QCOMPARE(checked.diagnostics.size(), std::size_t{7});
        for (const config::Diagnostic& wanted : checked.diagnostics) {
            const int row = row_of(view, QString::fromStdString(wanted.pointer));
            QVERIFY2(row >= 0, wanted.pointer.c_str());
            QCOMPARE(cell(view, row, ui::ProblemModel::MessageColumn),
                     QString::fromStdString(wanted.message));
            QCOMPARE(cell(view, row, ui::ProblemModel::HintColumn),
                     QString::fromStdString(wanted.hint));
            QVERIFY(!wanted.hint.empty());
        }
        QVERIFY(!std::filesystem::exists(fixture.root() / "runs")); // nothing was created
    }

    void files_that_are_not_there_keep_a_draft_from_being_started() {
        test::StudioFixture fixture;
        const auto table_file = fixture.root() / "table.csv";
        std::string text = test::tiny_config();
        const auto begin = text.find("{\"type\": \"synthetic\"");
        text.replace(begin, text.find('}', begin) + 1 - begin,
                     R"({"type": "csv", "path": "table.csv", "targets": "kind"})");
        QCOMPARE(fixture.studio().opener().open(write(fixture, text)), QString());
        QVERIFY(fixture.studio().draft().isValid());
        const QAction* start = fixture.window().actions().get(ui::action::kStart);
        QTRY_VERIFY(start->toolTip().contains("table.csv is not there"));
        const QTableView* view = table(fixture);
        QCOMPARE(row_of(view, "/data/train/path"), 0);
        QVERIFY(!fixture.studio().control().startDraft().started);
        QVERIFY(!std::filesystem::exists(fixture.root() / "runs")); // nothing was created
        // Put back with another program: known when the user comes back from there.
        std::ofstream(table_file) << "a,kind\n1,x\n2,y\n";
        qGuiApp->applicationStateChanged(Qt::ApplicationActive);
        QTRY_VERIFY(start->isEnabled());
        QCOMPARE(view->model()->rowCount(), 0);
    }

    void data_that_cannot_be_read_as_asked_are_told_once_at_the_field() {
        test::StudioFixture fixture;
        std::ofstream(fixture.root() / "table.csv") << "a,kind\n1,x\n2,y\n";
        std::string text = test::tiny_config();
        const auto begin = text.find("{\"type\": \"synthetic\"");
        text.replace(begin, text.find('}', begin) + 1 - begin,
                     R"({"type": "csv", "path": "table.csv", "targets": "price"})");
        fixture.window().showPage("data"); // which opens them, too
        QCOMPARE(fixture.studio().opener().open(write(fixture, text)), QString());
        fixture.window().showPage("data");
        const QTableView* view = table(fixture);
        QTRY_COMPARE(row_of(view, "/data/train/targets"), 0);
        QTRY_VERIFY(!static_cast<ui::DataPage*>(fixture.window().page("data"))
                         ->preview()
                         .problem()
                         .isEmpty());
        QTRY_COMPARE(view->model()->rowCount(), 1);
        QCOMPARE(row_of(view, "/data/train/targets"), 0);
    }

    void a_model_that_does_not_take_the_data_is_a_problem_before_its_page_is_looked_at() {
        test::StudioFixture fixture;
        std::string text = test::tiny_config();
        const std::string mlp = R"("type": "mlp", "hidden": [32], "dropout": 0.1)";
        text.replace(text.find(mlp), mlp.size(),
                     R"("type": "sequential", "layers": [{"type": "conv2d", "channels": 2}])");
        QCOMPARE(fixture.studio().opener().open(write(fixture, text)), QString());
        QVERIFY(fixture.studio().draft().isValid());
        const QTableView* view = table(fixture);
        QTRY_COMPARE(row_of(view, "/model/layers/0"), 0);
        QVERIFY(!fixture.window().actions().get(ui::action::kStart)->isEnabled());
        const ui::Page* page = fixture.window().page("model");
        QVERIFY(page->navState() == widgets::NavState::Error);
        fixture.studio().draft().edit({{"/model/layers/0", config::Json{{"type", "linear"}}}});
        QTRY_COMPARE(view->model()->rowCount(), 0);
        QVERIFY(page->navState() == widgets::NavState::Valid);
        QVERIFY(fixture.window().actions().get(ui::action::kStart)->isEnabled());
    }

    void a_problem_chosen_in_the_text_selects_its_place() {
        test::StudioFixture fixture;
        fixture.studio().opener().open(write(fixture, kSevenMistakes));
        QTableView* view = table(fixture);
        fixture.window().actions().get(ui::action::kEditConfig)->trigger();
        auto* list = static_cast<QListWidget*>(fixture.find("configProblems"));
        QCOMPARE(list->count(), 7);
        auto* editor = static_cast<QPlainTextEdit*>(fixture.find("configText"));
        QVERIFY(editor->isVisible());
        for (const auto& [pointer, text] : kFields) {
            const int row = row_of(view, pointer);
            QVERIFY2(row >= 0, pointer);
            list->setCurrentRow(row);
            QTest::keyClick(list, Qt::Key_Return);
            QCOMPARE(editor->textCursor().selectedText(), QString(text));
            // The row names the same place.
            const QTextBlock block =
                editor->document()->findBlock(editor->textCursor().selectionStart());
            const int column = editor->textCursor().selectionStart() - block.position() + 1;
            QCOMPARE(cell(view, row, ui::ProblemModel::LineColumn),
                     QString("%1:%2").arg(block.blockNumber() + 1).arg(column));
        }
    }

    void enter_on_a_problem_leads_to_its_field_on_a_page() {
        test::StudioFixture fixture;
        fixture.studio().opener().open(write(fixture, kSevenMistakes));
        QTableView* view = table(fixture);
        for (const char* pointer :
             {"/optimizer/type", "/training/micro_batch_size", "/training/recompute",
              "/training/max_grad_norm", "/checkpoint/metric"}) {
            fixture.window().showPage("home");
            view->setCurrentIndex(view->model()->index(row_of(view, pointer), 0));
            QTest::keyClick(view, Qt::Key_Return);
            QCOMPARE(fixture.window().currentPage(), QString("training"));
        }
    }

    void an_edit_of_the_text_is_the_draft_and_is_checked() {
        test::StudioFixture fixture;
        std::string text = test::tiny_config();
        text.replace(text.find("\"seed\": 3"), 9, "\"sed\": 31");
        fixture.studio().opener().open(write(fixture, text));
        QVERIFY(!fixture.studio().draft().isValid());
        QTableView* view = table(fixture);
        view->setCurrentIndex(view->model()->index(0, 0));
        QTest::keyClick(view, Qt::Key_Return);
        auto* editor = static_cast<QPlainTextEdit*>(fixture.find("configText"));
        QCOMPARE(editor->textCursor().selectedText(), QString("\"sed\": 31"));
        QTest::keyClicks(editor, "\"seed\": 31");
        QTRY_VERIFY(fixture.studio().draft().isValid());
        QCOMPARE(fixture.studio().draft().config().seed, std::uint64_t{31});
        QCOMPARE(view->model()->rowCount(), 0);
        fixture.studio().draft().undo();
        QVERIFY(!fixture.studio().draft().isValid());
        QCOMPARE(editor->toPlainText(), QString::fromStdString(text));
    }

    void broken_json_leads_to_the_place_where_reading_stopped() {
        test::StudioFixture fixture;
        fixture.studio().opener().open(write(fixture, "{\n  \"seed\": 3,\n}"));
        QTableView* view = table(fixture);
        QCOMPARE(view->model()->rowCount(), 1);
        QCOMPARE(cell(view, 0, ui::ProblemModel::LineColumn), QString("3:1"));
        QVERIFY(!fixture.studio().draft().isEmpty());
        QVERIFY(fixture.window()
                    .actions()
                    .get(ui::action::kStart)
                    ->toolTip()
                    .contains(cell(view, 0, ui::ProblemModel::MessageColumn)));
    }

    void a_saved_draft_is_the_text_as_it_was_written() {
        test::StudioFixture fixture;
        const std::string text = "// mine\n" + test::tiny_config();
        fixture.studio().opener().open(write(fixture, text));
        QCOMPARE(fixture.studio().draft().save(fixture.root() / "copy.json"), QString());
        std::ifstream copy(fixture.root() / "copy.json");
        QCOMPARE(std::string(std::istreambuf_iterator<char>(copy), {}), text);
        QVERIFY(
            !fixture.studio().draft().save(fixture.root() / "no" / "such" / "x.json").isEmpty());
    }

    void the_fork_dialog_says_what_is_wrong_below_the_field() {
        test::StudioFixture fixture;
        const auto config =
            compile::read_run_config(std::string_view(test::tiny_config()), fixture.root());
        QVERIFY(config.ok());
        ui::MachineLook machine("/nowhere/weft"); // no GPU is known
        ui::ForkDialog dialog(config.config, 100, 1000, machine);
        dialog.show();
        dialog.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&dialog));
        const auto* start = dialog.findChild<QPushButton*>("startFork");
        QVERIFY(start->isEnabled());
        QCOMPARE(dialog.overrides(), std::vector<std::string>{R"(name="tiny-from-100")"});
        const int height = dialog.height();
        const auto problem = [&] {
            const auto lines = dialog.findChildren<QLabel*>("fieldProblem");
            const auto shown = std::find_if(lines.begin(), lines.end(),
                                            [](const QLabel* line) { return line->isVisible(); });
            return shown == lines.end() ? QString() : (*shown)->text();
        };
        for (const auto& [pointer, wrong] :
             {std::pair("/optimizer/learning_rate", "-1"), std::pair("/training/length", "0"),
              std::pair("/seed", "x")}) {
            auto* edit = dialog.findChild<QWidget*>(QString("field:") + pointer);
            QVERIFY2(edit != nullptr, pointer);
            edit->setFocus();
            QTest::keyClick(edit, Qt::Key_A, Qt::ControlModifier);
            QTest::keyClicks(edit, wrong);
            QVERIFY(!start->isEnabled());
            QTRY_VERIFY2(problem().contains(QString(pointer).section('/', -1)) ||
                             problem().contains("steps"),
                         qPrintable(problem()));
            QTest::keyClick(edit, Qt::Key_Z, Qt::ControlModifier);
            QTRY_VERIFY(start->isEnabled());
            QTRY_COMPARE(problem(), QString());
            QCOMPARE(dialog.overrides(), std::vector<std::string>{R"(name="tiny-from-100")"});
        }
        QCOMPARE(dialog.height(), height);
        // Enter starts the fork with what was typed, and nothing else is changed by it.
        auto* rate = dialog.findChild<QWidget*>("field:/optimizer/learning_rate");
        rate->setFocus();
        QTest::keyClick(rate, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(rate, "0.5");
        QTest::keyClick(rate, Qt::Key_Return);
        QCOMPARE(dialog.result(), static_cast<int>(QDialog::Accepted));
        QCOMPARE(dialog.overrides(), (std::vector<std::string>{R"(name="tiny-from-100")",
                                                               "optimizer.learning_rate=0.5"}));
    }

    void the_fork_dialog_shows_its_rates_and_what_differs() {
        test::StudioFixture fixture;
        config::Json document = config::json_of(test::tiny_config());
        document["training"]["length"] = {{"epochs", 2}};
        document["lr_schedule"] = {{"type", "constant"}};
        document["optimizer"]["learning_rate"] = 0.25;
        document["name"] = "b-from-7";
        const auto config = compile::read_run_config(document, fixture.root());
        QVERIFY(config.ok());
        ui::MachineLook machine("/nowhere/weft"); // no GPU is known
        ui::ForkDialog dialog(config.config, 100, 1000, machine);
        dialog.show();
        dialog.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&dialog));
        const auto* rate = dialog.findChild<widgets::LrCurve*>("forkRate");
        QCOMPARE(rate->valueAt(1000), 0.25);
        const auto says = [&](const QString& words) {
            const auto labels = dialog.findChildren<widgets::ElidedLabel*>();
            return std::any_of(labels.begin(), labels.end(), [&](const auto* label) {
                return label->isVisible() && label->text() == words;
            });
        };
        QCOMPARE(dialog.findChild<QLineEdit*>("field:/name")->text(), QString("b-from-100"));
        auto* edit = dialog.findChild<QWidget*>("field:/optimizer/learning_rate");
        edit->setFocus();
        QTest::keyClick(edit, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(edit, "0.5");
        QTRY_COMPARE(rate->valueAt(1000), 0.5);
        QTRY_VERIFY(says("0.25 → 0.5"));
    }
};

WEFT_TEST(ProblemsTest)
#include "problems_test.moc"
