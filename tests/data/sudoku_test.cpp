// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/data/puzzles/judge_board.h"
#include "core/data/puzzles/sudoku.h"
#include "core/data/puzzles/write_puzzles.h"
#include "tests/data/data_support.h"

#include <QProcess>
#include <QStandardPaths>

#include <set>

using namespace weft;
using namespace weft::data;
using namespace weft::data::test;
using config::Json;

namespace {

// The puzzle of Wikipedia's article on Sudoku and its solution.
const char* const kQuestion =
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const char* const kAnswer =
    "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

SudokuShape shape_of(int side) {
    return sudoku_shape(side).value();
}

SudokuGrid grid_of(const SudokuShape& shape, const std::string& text) {
    return parse_sudoku(shape, text).value();
}

/// Solutions by trying every digit in every blank: no propagation, and no order but that of cells.
int count_solutions(const SudokuShape& shape, SudokuGrid grid, int most) {
    const int side = shape.side();
    const auto blank = std::find(grid.begin(), grid.end(), 0);
    if (blank == grid.end()) {
        return 1;
    }
    const int cell = static_cast<int>(blank - grid.begin());
    int found = 0;
    for (int digit = 1; digit <= side && found < most; ++digit) {
        bool free = true;
        for (int other = 0; other < shape.cells(); ++other) {
            const bool row = other / side == cell / side;
            const bool column = other % side == cell % side;
            const bool box = other / side / shape.box_rows == cell / side / shape.box_rows &&
                             other % side / shape.box_columns == cell % side / shape.box_columns;
            free =
                free && !((row || column || box) && grid[static_cast<std::size_t>(other)] == digit);
        }
        if (free) {
            SudokuGrid next = grid;
            next[static_cast<std::size_t>(cell)] = static_cast<std::uint8_t>(digit);
            found += count_solutions(shape, std::move(next), most - found);
        }
    }
    return found;
}

Json sudoku_section(const std::string& path, bool augment = false) {
    return {{"train", {{"type", "sudoku"}, {"path", path}, {"augment", augment}}},
            {"validation", nullptr}};
}

const std::string kHeader = "source,question,answer,rating\n";
const std::string kSmall = "x,1..4..1..1..4..1,1234341221434321,0\n";

std::string csv_of(const std::string& rows) {
    return kHeader + rows;
}

std::vector<std::int32_t> stored(const std::string& text) {
    std::vector<std::int32_t> out;
    for (const char c : text) {
        out.push_back(c == '.' ? 1 : c - '0' + 1);
    }
    return out;
}

/// What an error says; empty without one.
QString text_of(const std::function<void()>& action) {
    const auto error = error_of(action);
    return error ? QString::fromStdString(error->what()) : QString();
}

} // namespace

class SudokuTest : public QObject {
    Q_OBJECT

private slots:
    void a_known_puzzle_is_solved() {
        const SudokuShape shape = shape_of(9);
        const SudokuSearch found = search_sudoku(shape, grid_of(shape, kQuestion), 2);
        QCOMPARE(found.solutions, 1);
        QCOMPARE(sudoku_text(found.solution), std::string(kAnswer));
        QVERIFY(is_solved(shape, found.solution));
        QCOMPARE(found.guesses, 0); // it is known to need none
    }

    void boards_that_break_the_rules_have_no_solution() {
        const SudokuShape shape = shape_of(4);
        QCOMPARE(search_sudoku(shape, grid_of(shape, "11.............."), 2).solutions, 0);
        QCOMPARE(search_sudoku(shape, grid_of(shape, "123....4........"), 2).solutions, 0);
        SudokuGrid answer = grid_of(shape, "1234341221434321");
        QVERIFY(is_solved(shape, answer));
        std::swap(answer[0], answer[1]);
        QVERIFY(!is_solved(shape, answer));
    }

    // Russell and Jarvis 2005 count 288 for 4 x 4.
    void all_boards_of_four_are_found() {
        const SudokuShape shape = shape_of(4);
        QCOMPARE(search_sudoku(shape, SudokuGrid(16, 0), 1000).solutions, 288);
    }

    void puzzles_have_one_solution_and_no_given_to_spare_data() {
        QTest::addColumn<int>("side");
        QTest::addColumn<int>("count");
        QTest::newRow("4") << 4 << 100;
        QTest::newRow("6") << 6 << 30;
        QTest::newRow("9") << 9 << 10;
    }
    void puzzles_have_one_solution_and_no_given_to_spare() {
        QFETCH(int, side);
        QFETCH(int, count);
        const SudokuShape shape = shape_of(side);
        for (int number = 0; number < count; ++number) {
            const SudokuPuzzle puzzle = make_sudoku(shape, 7, static_cast<std::uint64_t>(number));
            QVERIFY(is_solved(shape, puzzle.answer));
            for (std::size_t cell = 0; cell < puzzle.question.size(); ++cell) {
                QVERIFY(puzzle.question[cell] == 0 || puzzle.question[cell] == puzzle.answer[cell]);
            }
            if (side < 9) { // plain search takes long for larger ones
                QCOMPARE(count_solutions(shape, puzzle.question, 2), 1);
            }
            for (std::size_t cell = 0; cell < puzzle.question.size(); ++cell) {
                SudokuGrid fewer = puzzle.question;
                if (fewer[cell] != 0) {
                    fewer[cell] = 0;
                    QVERIFY(search_sudoku(shape, fewer, 2).solutions == 2);
                }
            }
        }
    }

    // Another program, Debian's qqwing, solves what is made here and counts solutions.
    void qqwing_finds_the_same_solution_and_no_other() {
        const QString program =
            QStandardPaths::findExecutable("qqwing", {"/usr/games", "/usr/bin"});
        if (program.isEmpty()) {
            QSKIP(
                "qqwing is not installed (apt-get install qqwing): nobody else solves our puzzles");
        }
        const SudokuShape shape = shape_of(9);
        QByteArray questions;
        QList<QByteArray> answers;
        for (std::uint64_t number = 0; number < 50; ++number) {
            const SudokuPuzzle puzzle = make_sudoku(shape, 11, number);
            questions += QByteArray::fromStdString(sudoku_text(puzzle.question)) + "\n";
            answers << QByteArray::fromStdString(sudoku_text(puzzle.answer));
        }
        QProcess solver;
        solver.start(program, {"--solve", "--count-solutions", "--csv"});
        solver.write(questions);
        solver.closeWriteChannel();
        QVERIFY2(solver.waitForFinished(60000), qPrintable(solver.errorString()));
        const QList<QByteArray> lines = solver.readAllStandardOutput().trimmed().split('\n');
        QCOMPARE(lines.size(), answers.size() + 1); // the first one names the columns
        for (qsizetype i = 0; i < answers.size(); ++i) {
            QCOMPARE(lines[i + 1].trimmed(), answers[i] + ",1,");
        }
    }

    void a_puzzle_is_a_function_of_its_number() {
        const SudokuShape shape = shape_of(9);
        const SudokuPuzzle a = make_sudoku(shape, 1, 5);
        QCOMPARE(make_sudoku(shape, 1, 5).question, a.question);
        QVERIFY(make_sudoku(shape, 1, 6).question != a.question);
        QVERIFY(make_sudoku(shape, 2, 5).question != a.question);
    }

    // The same map for question and answer keeps a puzzle one.
    void changed_boards_keep_the_rules_data() {
        puzzles_have_one_solution_and_no_given_to_spare_data();
    }
    void changed_boards_keep_the_rules() {
        QFETCH(int, side);
        const SudokuShape shape = shape_of(side);
        const SudokuPuzzle puzzle = make_sudoku(shape, 3, 1);
        std::set<SudokuGrid> different;
        bool transposed = false;
        for (std::uint64_t i = 0; i < 200; ++i) {
            SudokuDraws draws(RandomStream(1, "test"), 0, i * 64);
            const SudokuChange change = change_sudoku(shape, draws);
            const SudokuGrid question = change.of(puzzle.question);
            const SudokuGrid answer = change.of(puzzle.answer);
            QVERIFY(is_solved(shape, answer));
            const SudokuSearch found = search_sudoku(shape, question, 2);
            QCOMPARE(found.solutions, 1);
            QCOMPARE(found.solution, answer);
            different.insert(question);
            // A row's cells come from one row, or from one column.
            transposed = transposed || change.from[0] / side != change.from[1] / side;
        }
        QVERIFY(different.size() > 190);
        QCOMPARE(transposed, shape.box_rows == shape.box_columns);
    }

    void tables_and_published_folders_hold_the_same() {
        const Folder folder;
        PuzzleOrder order{.side = 4, .train = 12, .test = 5, .seed = 3};
        write_puzzles(order, {}, folder.path() / "csv");
        order.layout = PuzzleOrder::Layout::npy;
        write_puzzles(order, {}, folder.path() / "npy");
        const DataSet a = open(sudoku_section((folder.path() / "csv").string()));
        const DataSet b = open(sudoku_section((folder.path() / "npy").string()));
        QCOMPARE(a.train->samples(), 12);
        QCOMPARE(a.test->samples(), 5);
        QCOMPARE(ir::to_text(a.train->info().input), std::string("i32[16]"));
        QCOMPARE(a.train->info().classes, 6);
        std::set<std::vector<std::int32_t>> questions;
        for (const auto part : {&DataSet::train, &DataSet::test}) {
            QCOMPARE((b.*part)->samples(), (a.*part)->samples());
            for (std::int64_t i = 0; i < (a.*part)->samples(); ++i) {
                const auto question = input_integers(*(a.*part), i);
                QCOMPARE(input_integers(*(b.*part), i), question);
                QCOMPARE(target_integers(*(b.*part), i), target_integers(*(a.*part), i));
                QVERIFY(questions.insert(question).second); // none of the test part is of training
            }
        }
    }

    void puzzles_that_are_made_need_no_file() {
        Json section = sudoku_section("");
        section["train"]["path"] = nullptr;
        section["train"]["side"] = 4;
        section["train"]["samples"] = 50;
        const DataSet set = open(section);
        QCOMPARE(set.train->samples(), 50);
        QCOMPARE(set.test->samples(), 10);
        const DataOutline outline = outline_data(normalised(section), {});
        QCOMPARE(outline.samples, 50);
        QCOMPARE(outline.sample.description, set.train->info().description);
        QCOMPARE(outline.cache_bytes, set.training_cache_bytes);
        QCOMPARE(outline.sample.classes, set.train->info().classes);
    }

    void training_sees_changed_boards_and_others_do_not() {
        const Folder folder;
        const auto path = folder.write("p.csv", csv_of(kSmall));
        const DataSet set = open(sudoku_section(path.string(), true));
        const SudokuShape shape = shape_of(4);
        std::set<std::vector<std::int32_t>> seen;
        for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
            std::vector<std::int32_t> question(16);
            std::vector<std::int32_t> answer(16);
            set.train->read_in_epoch(0, epoch, std::as_writable_bytes(std::span(question)),
                                     std::as_writable_bytes(std::span(answer)));
            SudokuGrid grid;
            for (std::size_t i = 0; i < answer.size(); ++i) {
                grid.push_back(static_cast<std::uint8_t>(answer[i] - 1));
                QVERIFY(question[i] == 1 || question[i] == answer[i]);
            }
            QVERIFY(is_solved(shape, grid));
            seen.insert(question);
        }
        QVERIFY(seen.size() > 15);
        QCOMPARE(input_integers(*set.train, 0), stored("1..4..1..1..4..1"));
        QCOMPARE(target_integers(*set.train, 0), stored("1234341221434321"));
    }

    // As the published program writes them: 64 bits, several forms of a puzzle, ignored labels.
    void published_arrays_of_64_bits_and_groups_are_read() {
        const Folder folder;
        std::filesystem::create_directories(folder.path() / "train");
        const auto array = [&](const std::string& name, const std::string& type,
                               const std::string& shape, const auto& values) {
            std::string header =
                "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
            header += std::string(64 - (10 + header.size() + 1) % 64, ' ') + "\n";
            std::string out("\x93NUMPY\x01\x00", 8);
            out += static_cast<char>(header.size());
            out += '\0';
            out += header;
            for (const auto value : values) {
                out.append(reinterpret_cast<const char*>(&value), sizeof value);
            }
            folder.write("train/all__" + name + ".npy", out);
        };
        using Wide = std::vector<std::int64_t>;
        array("inputs", "<i8", "(3, 2)", Wide{1, 2, 3, 1, 4, 1});
        array("labels", "<i8", "(3, 2)", Wide{5, 2, 3, 0, 4, 6});
        array("puzzle_indices", "<i4", "(4,)", std::vector<std::int32_t>{0, 1, 2, 3});
        array("group_indices", "<i4", "(3,)", std::vector<std::int32_t>{0, 2, 3});
        folder.write("train/dataset.json", R"({"pad_id": 0, "ignore_label_id": 0, "vocab_size": 11,
            "seq_len": 2, "num_puzzle_identifiers": 1, "sets": ["all"]})");
        const DataSet set = open(sudoku_section(folder.path().string()));
        QCOMPARE(set.train->samples(), 2);
        QCOMPARE(input_integers(*set.train, 1), (std::vector<std::int32_t>{4, 1}));
        std::set<std::vector<std::int32_t>> seen;
        for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
            std::vector<std::int32_t> question(2);
            std::vector<std::int32_t> answer(2);
            set.train->read_in_epoch(0, epoch, std::as_writable_bytes(std::span(question)),
                                     std::as_writable_bytes(std::span(answer)));
            seen.insert(answer);
        }
        QCOMPARE(seen, (std::set<std::vector<std::int32_t>>{{5, 2}, {3, -1}}));
        // Numbers that are no cells of the vocabulary, and offsets that do not fit.
        array("inputs", "<i8", "(3, 2)", Wide{1, 2, 3, 1, 4, 11});
        QVERIFY(text_of([&] {
                    open(sudoku_section(folder.path().string()));
                }).contains("a cell is 11, but vocab_size is 11"));
        array("inputs", "<i8", "(3, 2)", Wide{1, 2, 3, 1, 4, 1});
        array("puzzle_indices", "<i4", "(4,)", std::vector<std::int32_t>{0, 1, 2, 4});
        QVERIFY(text_of([&] {
                    open(sudoku_section(folder.path().string()));
                }).contains("do not rise from 0 to 3"));
    }

    void damaged_tables_are_refused_with_their_line_data() {
        QTest::addColumn<QString>("rows");
        QTest::addColumn<QString>("text");
        QTest::newRow("none") << ""
                              << "there is no puzzle behind the header";
        QTest::newRow("columns") << "x,1...\n"
                                 << "line 2: it has 2 columns";
        QTest::newRow("size") << "x,12,12,0\n"
                              << "line 2: a question of 2 cells";
        QTest::newRow("letter") << QString::fromStdString(kSmall) +
                                       "x,a..4..1..1..4..1,1234341221434321,0\n"
                                << "line 3: question 'a..4..1..1..4..1' is no board of 4 digits";
        QTest::newRow("cut") << "x,1..4..1..1..4..1,12343412214343,0\n"
                             << "line 2: answer '12343412214343' is no board";
        QTest::newRow("unsolved") << "x,1..4..1..1..4..1,1234341221434322,0\n"
                                  << "line 2: the answer repeats a digit";
        QTest::newRow("another") << "x,2..4..1..1..4..1,1234341221434321,0\n"
                                 << "line 2: the answer does not have the digit of cell 1";
    }
    void damaged_tables_are_refused_with_their_line() {
        QFETCH(QString, rows);
        QFETCH(QString, text);
        const Folder folder;
        const auto path = folder.write("p.csv", csv_of(rows.toStdString()));
        const QString error = text_of([&] { open(sudoku_section(path.string())); });
        QVERIFY2(error.contains(text), qPrintable(error));
    }

    void a_folder_without_puzzles_says_what_to_make() {
        const Folder folder;
        const QString error = text_of([&] { open(sudoku_section(folder.path().string())); });
        QVERIFY2(error.contains("there are no puzzles"), qPrintable(error));
    }

    void boards_of_ones_own_are_judged_by_the_rules() {
        const Folder folder;
        const auto path = folder.write("p.csv", csv_of(kSmall));
        const BoardForm form = *open(sudoku_section(path.string())).train->info().board;
        QCOMPARE(form.symbols, std::string("_.1234"));
        const auto judged = [&](const std::string& text) {
            return judge_board(form, stored(text));
        };
        using Solutions = BoardJudgement::Solutions;
        QVERIFY(judged("12.4..1..1..4..1").solutions == Solutions::one);
        QCOMPARE(judged("12.4..1..1..4..1").givens, 7);
        // 2 and 3 can change places.
        QVERIFY(judged("1..4..1..1..4..1").solutions == Solutions::several);
        QVERIFY(judged("1...............").solutions == Solutions::several);
        const BoardJudgement none = judged("123....4........");
        QVERIFY(none.solutions == Solutions::none && none.clashes.empty() && !none.problem.empty());
        // One column, one box; each digit of the pair is named.
        const BoardJudgement twice = judged("3.......3.......");
        QCOMPARE(twice.clashes, (std::vector<std::int64_t>{0, 8}));
        QVERIFY(twice.problem.find("row 1, column 1 and at row 3, column 1") != std::string::npos);
        QCOMPARE(judged("2....2..........").clashes, (std::vector<std::int64_t>{0, 5}));
        const auto given = stored("1..4..1..1..4..1");
        QVERIFY(is_solution(form, given, stored("1234341221434321")));
        QVERIFY(!is_solution(form, given, stored("1234341221434312")));
        QVERIFY(!is_solution(form, given, stored("123434122143432.")));
        QVERIFY(!is_solution(form, stored("2..............."), stored("1234341221434321")));
    }

    void the_same_order_writes_the_same_files_and_none_twice() {
        const Folder folder;
        const PuzzleOrder order{.side = 6, .train = 5, .test = 2, .seed = 1};
        write_puzzles(order, {}, folder.path() / "a");
        write_puzzles(order, {}, folder.path() / "b");
        QCOMPARE(read_file(folder.path() / "a" / "train.csv"),
                 read_file(folder.path() / "b" / "train.csv"));
        QVERIFY(text_of([&] {
                    write_puzzles(order, {}, folder.path() / "a");
                }).contains("is there already"));
    }
};

WEFT_TEST(SudokuTest)
#include "sudoku_test.moc"
