// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/data/puzzles/judge_board.h"
#include "core/data/puzzles/maze.h"
#include "core/data/puzzles/write_puzzles.h"
#include "core/data/recognise.h"
#include "tests/data/data_support.h"

#include <functional>
#include <set>

using namespace weft;
using namespace weft::data;
using namespace weft::data::test;
using config::Json;

namespace {

constexpr MazeShape kSmallMaze{5, 5};
const std::string kMazeQuestion = "S # G"
                                  "  #  "
                                  "# #  "
                                  "     "
                                  "#####";
const std::string kMazeAnswer = "S #oG"
                                "oo#o "
                                "#o#o "
                                " ooo "
                                "#####";

MazeGrid maze_of(const std::string& text) {
    return parse_maze(kSmallMaze, text).value();
}

/// Lengths of all ways from a cell to the goal that visit no cell twice, by walking each of them.
void walk_all(const MazeShape& shape, MazeGrid& grid, int cell, int steps, std::vector<int>& out) {
    const auto at = static_cast<std::size_t>(cell);
    if (grid[at] == static_cast<std::uint8_t>(MazeCell::goal)) {
        out.push_back(steps);
        return;
    }
    const std::uint8_t before = grid[at];
    grid[at] = static_cast<std::uint8_t>(MazeCell::wall);
    const int row = cell / shape.columns;
    const int column = cell % shape.columns;
    const auto try_at = [&](int r, int c) {
        if (r >= 0 && c >= 0 && r < shape.rows && c < shape.columns &&
            grid[static_cast<std::size_t>(r * shape.columns + c)] !=
                static_cast<std::uint8_t>(MazeCell::wall)) {
            walk_all(shape, grid, r * shape.columns + c, steps + 1, out);
        }
    };
    try_at(row - 1, column);
    try_at(row + 1, column);
    try_at(row, column - 1);
    try_at(row, column + 1);
    grid[at] = before;
}

std::vector<int> all_ways(const MazeShape& shape, MazeGrid grid) {
    const auto start =
        std::find(grid.begin(), grid.end(), static_cast<std::uint8_t>(MazeCell::start));
    std::vector<int> out;
    walk_all(shape, grid, static_cast<int>(start - grid.begin()), 0, out);
    return out;
}

Json maze_section(const std::string& path, bool augment = false) {
    return {{"train", {{"type", "maze"}, {"path", path}, {"augment", augment}}},
            {"validation", nullptr}};
}

QString said_of(const std::function<void()>& action) {
    const auto error = error_of(action);
    return error ? QString::fromStdString(error->what()) : QString();
}

const std::string kMazeHeader = "source,question,answer,rating\n";

} // namespace

class MazeTest : public QObject {
    Q_OBJECT

private slots:
    void the_shortest_way_is_found() {
        const MazeSearch found = search_maze(kSmallMaze, maze_of(kMazeQuestion));
        const std::vector<int> ways = all_ways(kSmallMaze, maze_of(kMazeQuestion));
        QCOMPARE(found.length, *std::min_element(ways.begin(), ways.end()));
        QCOMPARE(found.single, std::count(ways.begin(), ways.end(), found.length) == 1);
        QVERIFY(is_solved_maze(kSmallMaze, maze_of(kMazeQuestion), found.answer));
        QVERIFY(is_solved_maze(kSmallMaze, maze_of(kMazeQuestion), maze_of(kMazeAnswer)));
    }

    void answers_that_are_none_are_told() {
        const MazeGrid question = maze_of(kMazeQuestion);
        const auto solved = [&](std::string answer, std::size_t cell, char c) {
            answer[cell] = c;
            return is_solved_maze(kSmallMaze, question, maze_of(answer));
        };
        QVERIFY(solved(kMazeAnswer, 0, 'S'));
        QVERIFY(!solved(kMazeAnswer, 5, ' '));  // a gap
        QVERIFY(!solved(kMazeAnswer, 15, 'o')); // a cell more
        QVERIFY(!solved(kMazeAnswer, 2, ' '));  // a wall less
        // A way that is longer than need be.
        QVERIFY(!is_solved_maze(kSmallMaze, maze_of("S G  " + std::string(20, ' ')),
                                maze_of("S G  ooo  " + std::string(15, ' '))));
        QVERIFY(is_solved_maze(kSmallMaze, maze_of("S G  " + std::string(20, ' ')),
                               maze_of("SoG  " + std::string(20, ' '))));
    }

    // Every maze is a tree: one way alone, as every walk finds.
    void mazes_have_one_way_data() {
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("columns");
        QTest::newRow("4 x 4") << 4 << 4;
        QTest::newRow("9 x 7") << 9 << 7;
        QTest::newRow("30 x 30") << 30 << 30;
    }
    void mazes_have_one_way() {
        QFETCH(int, rows);
        QFETCH(int, columns);
        const MazeShape shape{rows, columns};
        for (std::uint64_t number = 0; number < 20; ++number) {
            const Maze maze = make_maze(shape, 3, number);
            const std::vector<int> ways = all_ways(shape, maze.question);
            QCOMPARE(ways.size(), std::size_t{1});
            QCOMPARE(maze.length, ways.front());
            QVERIFY(is_solved_maze(shape, maze.question, maze.answer));
            QCOMPARE(static_cast<int>(std::count(maze.answer.begin(), maze.answer.end(),
                                                 static_cast<std::uint8_t>(MazeCell::way))),
                     maze.length - 1);
        }
    }

    // Maze-Hard asks for ways longer than 110 steps of 900 cells; these are as hard on the whole.
    void large_mazes_have_long_ways() {
        double sum = 0;
        for (std::uint64_t number = 0; number < 20; ++number) {
            sum += make_maze({30, 30}, 1, number).length;
        }
        QVERIFY2(sum / 20 > 110, std::to_string(sum / 20).c_str());
    }

    void a_maze_is_a_function_of_its_number() {
        const MazeShape shape{12, 12};
        QCOMPARE(make_maze(shape, 1, 5).question, make_maze(shape, 1, 5).question);
        QVERIFY(make_maze(shape, 1, 5).question != make_maze(shape, 1, 6).question);
        QVERIFY(make_maze(shape, 1, 5).question != make_maze(shape, 2, 5).question);
    }

    void eight_turns_keep_a_maze_one() {
        const MazeShape shape{9, 9};
        const Maze maze = make_maze(shape, 3, 1);
        std::set<MazeGrid> different;
        for (int turn = 0; turn < 8; ++turn) {
            const MazeGrid question = turned_maze(shape, maze.question, turn);
            QVERIFY(is_solved_maze(shape, question, turned_maze(shape, maze.answer, turn)));
            different.insert(question);
        }
        QCOMPARE(different.size(), std::size_t{8});
        QCOMPARE(turned_maze(shape, maze.question, 0), maze.question);
    }

    void tables_and_published_folders_hold_the_same_mazes() {
        const Folder folder;
        PuzzleOrder order{.kind = PuzzleKind::maze, .side = 8, .train = 6, .test = 3, .seed = 3};
        write_puzzles(order, {}, folder.path() / "csv");
        order.layout = PuzzleOrder::Layout::npy;
        write_puzzles(order, {}, folder.path() / "npy");
        const DataSet a = open(maze_section((folder.path() / "csv").string()));
        const DataSet b = open(maze_section((folder.path() / "npy").string()));
        QCOMPARE(a.train->samples(), 6);
        QCOMPARE(b.test->samples(), 3);
        QCOMPARE(a.train->info().classes, 6);
        QCOMPARE(a.train->info().board->rows, 8);
        for (const auto part : {&DataSet::train, &DataSet::test}) {
            for (std::int64_t i = 0; i < (a.*part)->samples(); ++i) {
                QCOMPARE(input_integers(*(b.*part), i), input_integers(*(a.*part), i));
                QCOMPARE(target_integers(*(b.*part), i), target_integers(*(a.*part), i));
            }
        }
        const Json told =
            config::json_of(read_file(folder.path() / "npy" / "train" / "dataset.json"));
        QCOMPARE(told.at("vocab_size"), Json(6));
        QCOMPARE(told.at("seq_len"), Json(64));
        // Both are known for what they are.
        for (const char* name : {"csv", "npy"}) {
            const Recognition found = recognise(folder.path() / name, {});
            QVERIFY(!found.formats.empty());
            QCOMPARE(found.formats.front().data.at("train").at("type"), Json("maze"));
        }
    }

    void mazes_that_are_made_need_no_file() {
        Json section = maze_section("");
        section["train"]["path"] = nullptr;
        section["train"]["side"] = 6;
        section["train"]["samples"] = 20;
        const DataSet set = open(section);
        QCOMPARE(set.train->samples(), 20);
        QCOMPARE(set.test->samples(), 4);
        const DataOutline outline = outline_data(normalised(section), {});
        QCOMPARE(outline.samples, 20);
        QCOMPARE(outline.sample.description, set.train->info().description);
        QCOMPARE(outline.cache_bytes, set.training_cache_bytes);
    }

    void training_sees_mazes_turned_where_it_is_asked_for() {
        const Folder folder;
        const auto path =
            folder.write("m.csv", kMazeHeader + "x," + kMazeQuestion + "," + kMazeAnswer + ",9\n");
        for (const bool augment : {false, true}) {
            const DataSet set = open(maze_section(path.string(), augment));
            std::set<std::vector<std::int32_t>> seen;
            for (std::int64_t epoch = 0; epoch < 40; ++epoch) {
                std::vector<std::int32_t> question(25);
                std::vector<std::int32_t> answer(25);
                set.train->read_in_epoch(0, epoch, std::as_writable_bytes(std::span(question)),
                                         std::as_writable_bytes(std::span(answer)));
                seen.insert(question);
            }
            QCOMPARE(seen.size(), std::size_t(augment ? 8 : 1));
        }
    }

    void damaged_tables_are_refused_with_their_line_data() {
        QTest::addColumn<QString>("rows");
        QTest::addColumn<QString>("text");
        const QString question = QString::fromStdString(kMazeQuestion);
        const QString answer = QString::fromStdString(kMazeAnswer);
        QTest::newRow("size") << "x,S G,SoG,0\n"
                              << "line 2: a question of 3 cells";
        QTest::newRow("letter") << "x," + QString(question).replace('G', 'x') + "," + answer +
                                       ",0\n"
                                << "line 2: the question is no maze of 25 cells";
        QTest::newRow("cut") << "x," + question + "," + answer.left(20) + ",0\n"
                             << "line 2: the answer is no maze of 25 cells";
        QTest::newRow("no way") << "x," + question + "," + question + ",0\n"
                                << "line 2: the answer is not the question with a shortest way";
        QTest::newRow("two starts")
            << "x," + QString(question).replace('G', 'S') + "," + answer + ",0\n"
            << "line 2: the answer is not the question with a shortest way";
    }
    void damaged_tables_are_refused_with_their_line() {
        QFETCH(QString, rows);
        QFETCH(QString, text);
        const Folder folder;
        const auto path = folder.write("m.csv", kMazeHeader + rows.toStdString());
        const QString error = said_of([&] { open(maze_section(path.string())); });
        QVERIFY2(error.contains(text), qPrintable(error));
    }

    void boards_of_ones_own_are_judged_by_the_rules() {
        const Folder folder;
        const auto path =
            folder.write("m.csv", kMazeHeader + "x," + kMazeQuestion + "," + kMazeAnswer + ",9\n");
        const BoardForm form = *open(maze_section(path.string())).train->info().board;
        const auto judged = [&](const std::string& text) {
            const MazeGrid grid = maze_of(text);
            return judge_board(form, std::vector<std::int32_t>(grid.begin(), grid.end()));
        };
        using Solutions = BoardJudgement::Solutions;
        QVERIFY(judged("S G" + std::string(22, '#')).solutions == Solutions::one);
        QVERIFY(judged("S   G" + std::string(5, '#') + std::string(15, ' ')).solutions ==
                Solutions::one);
        QVERIFY(judged("S    " + std::string(15, ' ') + "    G").solutions == Solutions::several);
        QCOMPARE(judged("S#G##" + std::string(20, '#')).problem,
                 std::string("no way leads from S to G"));
        QVERIFY(judged(std::string(25, ' ')).problem.find("one S") != std::string::npos);
    }
};

WEFT_TEST(MazeTest)
#include "maze_test.moc"
