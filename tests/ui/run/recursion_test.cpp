// SPDX-License-Identifier: GPL-3.0-or-later
// The view Recursion: boards as the run keeps them, cycle by cycle; and a puzzle of one's own,
// typed and pasted, judged and solved as `weft predict` does.
#include "core/base/file.h"
#include "core/config/field.h"
#include "core/train/boards/board_text.h"
#include "core/train/engine.h"
#include "core/train/record/run_folder.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/trial_host.h"
#include "ui/pages/live/recursion/board_parts.h"
#include "ui/pages/live/recursion/try_board.h"
#include "widgets/boards/board_strip.h"
#include "widgets/boards/board_view.h"
#include "widgets/boards/cycle_slider.h"
#include "widgets/boards/halting_chart.h"
#include "widgets/boards/puzzle_list.h"
#include "widgets/boards/share_curves.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/views/step_dots.h"

#include <QAbstractButton>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QPushButton>

#include <fstream>

namespace {

using namespace weft;
using test::kRunPatienceMs;

constexpr int kRecursionView = 2; // of "trainView"

constexpr const char* kPuzzles = R"({
  "schema_version": 1, "name": "puzzles", "seed": 5,
  "data": {"train": {"type": "sudoku", "side": 4, "samples": 600, "augment": false},
           "validation": {"split": 0.1}},
  "model": {"type": "trm", "mixer": "mlp", "width": 16, "heads": 2, "layers": 1, "h_cycles": 2,
            "l_cycles": 2, "prefix": 1, "halt_max_steps": 3},
  "loss": {"type": "stablemax"}, "metrics": ["accuracy", "exact_accuracy", "halting_accuracy"],
  "optimizer": {"type": "adam_atan2", "learning_rate": 0.004},
  "lr_schedule": {"type": "constant"},
  "training": {"length": {"steps": 40}, "global_batch_size": 32, "precision": "f32"},
  "evaluation": {"every": {"steps": 20}, "samples": 4},
  "checkpoint": {"every": {"steps": 20}, "on_improvement": false}
})";

template <class Widget>
Widget* partOf(test::StudioFixture& fixture, const char* name) {
    auto* out = fixture.window().findChild<Widget*>(name);
    if (out == nullptr) {
        qFatal("no %s", name);
    }
    return out;
}

QString saidIn(test::StudioFixture& fixture, const char* name) {
    return partOf<widgets::TextLabel>(fixture, name)->text();
}

/// The board as text, blank cells as '.'.
QString written(const widgets::Board& board) {
    QString out;
    for (const widgets::BoardCell& cell : board.cells) {
        out += cell.text.isEmpty() ? QString(".") : cell.text;
    }
    return out;
}

} // namespace

class RecursionTest : public QObject {
    Q_OBJECT

    static void train_puzzles(test::StudioFixture& fixture) {
        const auto file = fixture.root() / "run.json";
        std::ofstream(file) << kPuzzles;
        fixture.window().showPage("train");
        const ui::StartResult started = fixture.studio().control().startFile(file);
        QVERIFY2(started.started, qPrintable(started.problem));
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        QCOMPARE(fixture.studio().run().state(), train::RunState::finished);
    }

    static void open(test::StudioFixture& fixture, const char* control, int index) {
        partOf<widgets::SegmentedControl>(fixture, control)->setCurrentIndex(index);
    }

    static config::Json kept(test::StudioFixture& fixture, std::size_t place) {
        const ui::RunModel& run = fixture.studio().run();
        const auto path = run.folder() / run.samples().at(place).path;
        return config::parse_json(read_file(path), path.string()).value;
    }

private slots:
    void boards_are_shown_as_the_run_keeps_them() {
        test::StudioFixture fixture;
        train_puzzles(fixture);
        open(fixture, "trainView", kRecursionView);
        auto* steps = partOf<widgets::StepDots>(fixture, "recursionStep");
        QTRY_COMPARE(steps->itemCount(), 3); // the start, 20 and 40
        auto* board = partOf<widgets::BoardView>(fixture, "recursionBoard");
        // The newest, read in the background, takes the place of the one before.
        QTRY_VERIFY_WITH_TIMEOUT(saidIn(fixture, "recursionWeights").endsWith(" 40"),
                                 kRunPatienceMs);
        QCOMPARE(board->board().cellCount(), 16);
        QVERIFY(board->isVisible());
        auto* slider = partOf<widgets::CycleSlider>(fixture, "cycleSlider");
        QCOMPARE(slider->count(), 6);
        auto* list = partOf<widgets::PuzzleList>(fixture, "puzzles");
        QCOMPARE(list->itemCount(), 4);
        QVERIFY(list->isVisible());
        for (const int puzzle : {0, 3}) {
            list->setFocus();
            list->setCursorItem(puzzle);
            const config::Json sample =
                kept(fixture, 2).at("samples").at(static_cast<std::size_t>(puzzle));
            const auto cycles = sample.at("cycles").get<std::vector<std::string>>();
            const auto answer = sample.at("answer").get<std::string>();
            for (int cycle = 0; cycle < 6; ++cycle) {
                slider->setChosen(cycle);
                const std::string& wanted =
                    cycles[std::min(static_cast<std::size_t>(cycle), cycles.size() - 1)];
                QCOMPARE(written(board->board()).toStdString(), wanted);
                int wrong = 0;
                for (std::size_t i = 0; i < wanted.size(); ++i) {
                    wrong += wanted[i] != answer[i] ? 1 : 0;
                }
                QCOMPARE(board->board().wrongCells(), wrong);
                QVERIFY(saidIn(fixture, "recursionState")
                            .startsWith(wrong == 0 ? QString("solved")
                                                   : QString("%1 wrong").arg(wrong)));
            }
        }
        // Another evaluation, other boards.
        const QString newest = written(board->board());
        const auto first = kept(fixture, 0).at("samples").at(3).at("cycles").back();
        steps->setChosen(0);
        QTRY_COMPARE_WITH_TIMEOUT(written(board->board()).toStdString(), first.get<std::string>(),
                                  kRunPatienceMs);
        QVERIFY(saidIn(fixture, "recursionPuzzle").contains("3"));
        QCOMPARE(partOf<widgets::HaltingChart>(fixture, "haltingChart")->itemCount(), 3);
        QCOMPARE(partOf<widgets::ShareCurves>(fixture, "solvedByStep")->itemCount(), 3);
    }

    void a_moment_is_chosen_in_the_strip_and_played_on() {
        test::StudioFixture fixture;
        train_puzzles(fixture);
        open(fixture, "trainView", kRecursionView);
        auto* strip = partOf<widgets::BoardStrip>(fixture, "boardStrip");
        QTRY_VERIFY_WITH_TIMEOUT(strip->itemCount() >= 3, kRunPatienceMs);
        auto* slider = partOf<widgets::CycleSlider>(fixture, "cycleSlider");
        QTest::mouseClick(strip, Qt::LeftButton, {}, strip->item(0).rect.center().toPoint());
        QCOMPARE(slider->chosen(), 0);
        QCOMPARE(strip->chosen(), 0);
        fixture.click("playCycles");
        QTRY_COMPARE_WITH_TIMEOUT(slider->chosen(), 5, kRunPatienceMs);
    }

    void rows_dropped_and_right_halting_are_those_of_the_run() {
        test::StudioFixture fixture;
        train_puzzles(fixture);
        QTRY_VERIFY(saidIn(fixture, "rowsDropped").endsWith(" %"));
        const ui::RunModel& run = fixture.studio().run();
        double dropped = 0; // of 40 steps: all count
        int steps = 0;
        for (const train::Event& event : train::EventReader(run.folder()).read()) {
            if (const auto* step = std::get_if<train::StepEvent>(&event.payload)) {
                ++steps;
                for (const auto& [name, value] : step->metrics) {
                    dropped += name == "train/rows_dropped" ? value : 0;
                }
            }
        }
        QCOMPARE(steps, 40);
        QTRY_COMPARE(saidIn(fixture, "rowsDropped"),
                     QString("%1 %").arg(dropped / steps * 100, 0, 'f', 1));
    }

    void a_puzzle_is_typed_and_solved_as_weft_predict_does() {
        test::StudioFixture fixture;
        train_puzzles(fixture);
        open(fixture, "predictionTab", 2);
        auto* board = partOf<widgets::BoardView>(fixture, "tryBoard");
        QTRY_VERIFY_WITH_TIMEOUT(board->isVisible() && board->board().cellCount() == 16,
                                 kRunPatienceMs);
        auto* solve = partOf<QPushButton>(fixture, "boardSolve");
        QVERIFY(!solve->isEnabled()); // an empty board
        board->setFocus();
        board->setChosen(0);
        QTest::keyClicks(board, "12.4..1..1..4..1");
        QCOMPARE(fixture.window().findChild<ui::TryBoard*>()->given(), QString("12.4..1..1..4..1"));
        QTRY_COMPARE(saidIn(fixture, "boardRules"), QString("One solution."));
        QVERIFY(solve->isEnabled());
        fixture.click("boardSolve");
        auto* slider = partOf<widgets::CycleSlider>(fixture, "tryCycles");
        QTRY_VERIFY_WITH_TIMEOUT(slider->isVisible(), kRunPatienceMs);
        // What the engine says of it.
        const auto* choice = fixture.window().findChild<QComboBox*>("tryCheckpoint");
        train::LoadedModel model =
            train::load_model(ui::toPath(choice->currentData().toString()), nullptr, 1);
        const data::BoardForm form = *model.data.train->info().board;
        const auto cells = train::parse_board(form, "12.4..1..1..4..1");
        train::trace(*model.executor, cells, [&](std::int64_t, const train::Trace& trace) {
            for (int cycle = 0; cycle < 6; ++cycle) {
                slider->setChosen(cycle);
                if (written(board->board()).toStdString() !=
                    train::board_text(form, trace.guesses(cycle))) {
                    qFatal("cycle %d is another board", cycle);
                }
            }
            return false;
        });
        QVERIFY(board->board().cells[1].given && !board->board().cells[2].given);
        // A change takes the answer away.
        board->setChosen(2);
        QTest::keyClick(board, Qt::Key_3);
        QVERIFY(!slider->isVisible());
        QCOMPARE(written(board->board()), QString("1234..1..1..4..1"));
    }

    void a_puzzle_that_contradicts_itself_is_refused_with_the_cells() {
        test::StudioFixture fixture;
        train_puzzles(fixture);
        open(fixture, "predictionTab", 2);
        auto* board = partOf<widgets::BoardView>(fixture, "tryBoard");
        QTRY_VERIFY_WITH_TIMEOUT(board->isVisible() && board->board().cellCount() == 16,
                                 kRunPatienceMs);
        QGuiApplication::clipboard()->setText("1 1 . .\n. . . .\n. . . .\n. . . .");
        fixture.click("boardPaste");
        QTRY_VERIFY(saidIn(fixture, "boardRules").contains("contradicts itself"));
        QVERIFY(saidIn(fixture, "boardRules").contains("row 1, column 1 and at row 1, column 2"));
        QTRY_VERIFY(board->board().cells[0].wrong && board->board().cells[1].wrong);
        QVERIFY(!partOf<QPushButton>(fixture, "boardSolve")->isEnabled());
        // No cells clash, and still nothing fits at row 1, column 4.
        QGuiApplication::clipboard()->setText("123....4........");
        fixture.click("boardPaste");
        QTRY_VERIFY(saidIn(fixture, "boardRules").contains("no solution"));
        // What is no board leaves the one that is there.
        QGuiApplication::clipboard()->setText("12x4");
        fixture.click("boardPaste");
        QVERIFY(saidIn(fixture, "boardRules").contains("'x'"));
        QCOMPARE(written(board->board()), QString("123....4........"));
        fixture.click("boardClear");
        QCOMPARE(written(board->board()), QString(16, '.'));
    }

    void a_run_of_another_model_has_no_such_view() {
        test::StudioFixture fixture;
        fixture.window().showPage("train");
        const ui::StartResult started = fixture.studio().control().startFile(fixture.preset());
        QVERIFY2(started.started, qPrintable(started.problem));
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        const auto views = fixture.find("trainView")->findChildren<QAbstractButton*>();
        QVERIFY(!views.at(kRecursionView)->isVisible());
        QVERIFY(!fixture.find("puzzles")->isVisible());
    }

    void cycles_beside_each_other_show_where_most_changes() {
        ui::SaidBoards boards;
        boards.look = {.rows = 1, .columns = 4, .symbols = "_.12", .blank = '.'};
        boards.steps = 4;
        boards.cycles = 2;
        ui::SaidBoard board;
        board.given = "....";
        board.answer = "1212";
        board.cycles = {"1111", "1111", "2222", "2221", "1212"};
        // The first, the last with a change, the one chosen; then by how many cells changed.
        QCOMPARE(ui::cyclesToShow(boards, board, 1, 3), (std::vector<int>{0, 1, 4}));
        QCOMPARE(ui::cyclesToShow(boards, board, 0, 3), (std::vector<int>{0, 2, 4}));
        QCOMPARE(ui::cyclesToShow(boards, board, 7, 8).size(), std::size_t{8});
        const widgets::PuzzleRow row = ui::puzzleRow(boards, board);
        QCOMPARE(row.right, (std::vector<bool>{false, false, true, true}));
        QVERIFY(row.outcome.startsWith("in 3 step")); // no language is chosen here
    }
};

WEFT_TEST(RecursionTest)
#include "recursion_test.moc"
