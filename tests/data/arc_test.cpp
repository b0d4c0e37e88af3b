// SPDX-License-Identifier: Apache-2.0
// Tasks of ARC, written by hand after the public description; the canvas and the published arrays
// after that of TinyRecursiveModels.
#include "core/data/forms.h"
#include "core/data/puzzles/arc.h"
#include "core/data/puzzles/write_arc.h"
#include "core/data/recognise.h"
#include "tests/data/data_support.h"

#include <functional>
#include <map>
#include <set>

using namespace weft;
using namespace weft::data;
using namespace weft::data::test;
using config::Json;

namespace {

// Colours 1 and 2 change places.
const std::string kSwap = R"({"train": [{"input": [[1, 2, 0]], "output": [[2, 1, 0]]},
    {"input": [[2], [0]], "output": [[1], [0]]}],
    "test": [{"input": [[1, 1], [0, 2]], "output": [[2, 2], [0, 1]]}]})";
const std::string kSame = R"({"train": [{"input": [[3]], "output": [[3]]}],
    "test": [{"input": [[4, 4]], "output": [[4, 4]]}, {"input": [[5]], "output": [[5]]}]})";

Json arc_section(const std::string& path, std::int64_t augmentations = 0, bool translate = false) {
    const Json source = {{"type", "arc"},
                         {"path", path},
                         {"augmentations", augmentations},
                         {"translate", translate}};
    Json out = {{"train", source}, {"validation", source}};
    out["validation"]["pairs"] = "test";
    return out;
}

std::string fault_of(const std::function<void()>& action) {
    const auto error = error_of(action);
    return error ? error->where() + ": " + error->text() : std::string();
}

/// A canvas by its rows, blanks being pads: "12|" is two colours and the end of the row.
std::vector<std::int32_t> canvas_of(const std::vector<std::string>& rows, std::int32_t pad) {
    std::vector<std::int32_t> out(kArcCells, pad);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t column = 0; column < rows[row].size(); ++column) {
            const char c = rows[row][column];
            out[row * kArcSide + column] = c == '|' ? 1 : c == ' ' ? pad : c - '0' + 2;
        }
    }
    return out;
}

std::vector<std::int32_t> with_kind(std::int32_t kind, std::vector<std::int32_t> cells) {
    cells.insert(cells.begin(), kind);
    return cells;
}

struct Seen {
    std::vector<std::int32_t> input, target;
};
Seen arc_in_epoch(const Source& source, std::int64_t index, std::int64_t epoch) {
    Seen out{std::vector<std::int32_t>(kArcCells + 1), std::vector<std::int32_t>(kArcCells)};
    source.read_in_epoch(index, epoch, std::as_writable_bytes(std::span(out.input)),
                         std::as_writable_bytes(std::span(out.target)));
    return out;
}

/// The grid on a canvas: from its first colour to the ends behind it.
ArcGrid arc_grid_of(std::span<const std::int32_t> canvas) {
    ArcGrid out;
    int first_row = kArcSide;
    int first_column = kArcSide;
    for (int i = 0; i < kArcCells; ++i) {
        if (canvas[static_cast<std::size_t>(i)] >= 2) {
            first_row = std::min(first_row, i / kArcSide);
            first_column = std::min(first_column, i % kArcSide);
            out.rows = std::max(out.rows, i / kArcSide + 1 - first_row);
        }
    }
    for (int i = 0; i < kArcCells; ++i) {
        if (canvas[static_cast<std::size_t>(i)] >= 2) {
            out.columns = std::max(out.columns, i % kArcSide + 1 - first_column);
            out.cells.push_back(static_cast<std::uint8_t>(canvas[static_cast<std::size_t>(i)] - 2));
        }
    }
    return out;
}

} // namespace

class ArcTest : public QObject {
    Q_OBJECT
private slots:
    void a_folder_of_tasks_is_read() {
        const Folder folder;
        folder.write("b.json", kSwap);
        folder.write("a.json", kSame);
        const DataSet set = open(arc_section(folder.path().string()));
        QCOMPARE(set.train->samples(), 3);
        QCOMPARE(set.validation->samples(), 3);
        QCOMPARE(ir::to_text(set.train->info().input), std::string("i32[901]"));
        QCOMPARE(set.train->info().classes, 12);
        QCOMPARE(set.train->info().identifiers, 3); // none, a, b
        QCOMPARE(input_integers(*set.train, 0), with_kind(1, canvas_of({"3|", "|"}, 0)));
        QCOMPARE(input_integers(*set.train, 1), with_kind(2, canvas_of({"120|", "|||"}, 0)));
        QCOMPARE(target_integers(*set.train, 1), canvas_of({"210|", "|||"}, -1));
        QCOMPARE(set.train->place_of(2), std::string("b, train pair 2"));
        QCOMPARE(input_integers(*set.validation, 2),
                 with_kind(2, canvas_of({"11|", "02|", "||"}, 0)));
        QCOMPARE(target_integers(*set.validation, 2), canvas_of({"22|", "01|", "||"}, -1));
        QCOMPARE(set.test->samples(), 3);
        const DataOutline outline =
            outline_data(normalised(arc_section(folder.path().string())), {});
        QCOMPARE(outline.samples, 3);
        QCOMPARE(outline.sample.identifiers, 3);
        QCOMPARE(outline.cache_bytes, set.training_cache_bytes);
    }

    void a_grid_as_large_as_the_canvas_has_no_ends() {
        const ArcGrid grid{.rows = 30, .columns = 30, .cells = std::vector<std::uint8_t>(900, 7)};
        QCOMPARE(arc_canvas(grid, {}), std::vector<std::uint8_t>(900, 9));
    }

    // What is written of a task with two subsets, as ARC-AGI has them: tests of those that are not
    // judged are learnt from.
    void sets_called_evaluation_are_judged_and_others_learnt_from() {
        const Folder folder;
        std::filesystem::create_directories(folder.path() / "training");
        std::filesystem::create_directories(folder.path() / "evaluation");
        folder.write("training/a.json", kSame);
        folder.write("evaluation/b.json", kSwap);
        const DataSet set = open(arc_section(folder.path().string()));
        QCOMPARE(set.train->samples(), 5); // a: one and its two tests; b: two
        QCOMPARE(set.validation->samples(), 1);
        QCOMPARE(input_integers(*set.validation, 0)[0], 2);
    }

    void challenges_and_solutions_are_read_together() {
        const Folder folder;
        folder.write(
            "arc-agi_evaluation_challenges.json",
            R"({"b": {"test": [{"input": [[1]]}], "train": [{"input": [[1, 0]], "output": [[2, 0]]}]},
                         "a": {"test": [{"input": [[6]]}], "train": [{"input": [[6]], "output": [[7]]}]}})");
        folder.write("arc-agi_evaluation_solutions.json", R"({"a": [[[7]]], "b": [[[2]]]})");
        for (const auto& path :
             {folder.path(), folder.path() / "arc-agi_evaluation_challenges.json"}) {
            const DataSet set = open(arc_section(path.string()));
            QCOMPARE(set.train->samples(), 2);
            QCOMPARE(target_integers(*set.validation, 0), canvas_of({"7|", "|"}, -1));
            QCOMPARE(target_integers(*set.validation, 1), canvas_of({"2|", "|"}, -1));
        }
        std::filesystem::remove(folder.path() / "arc-agi_evaluation_solutions.json");
        QVERIFY(fault_of([&] {
                    open(arc_section(folder.path().string()));
                }).find("no test pair has an answer") != std::string::npos);
    }

    // Every form that training sees is one of the eight ways to turn the grids, and colours change
    // alike in both; black stays. Each has an identifier, which always means the same.
    void training_sees_tasks_in_their_forms() {
        const Folder folder;
        folder.write("a.json", kSame);
        folder.write("b.json", kSwap);
        const DataSet set = open(arc_section(folder.path().string(), 40, true));
        const std::int64_t kinds = set.train->info().identifiers;
        QVERIFY(kinds > 3 && kinds <= 1 + 2 * 41);
        std::map<std::int32_t, std::pair<ArcGrid, ArcGrid>> by_kind;
        std::set<std::pair<std::vector<std::uint8_t>, int>> forms;
        bool moved = false;
        for (std::int64_t epoch = 0; epoch < 400; ++epoch) {
            const Seen seen = arc_in_epoch(*set.train, 1, epoch); // b's first pair
            const ArcGrid input = arc_grid_of(std::span(seen.input).subspan(1));
            const ArcGrid output = arc_grid_of(seen.target);
            const std::int32_t kind = seen.input[0];
            QVERIFY(kind >= 1 && kind < kinds);
            QCOMPARE(input.rows * input.columns, 3);
            QVERIFY(input.rows == output.rows && input.cells.size() == 3);
            // One colour, another one, black; or from the other end. Output: both change places.
            const bool turned = input.cells[0] == 0;
            QVERIFY(input.cells[1] != 0 && input.cells[turned ? 2 : 0] != 0);
            QCOMPARE(output.cells[1], input.cells[turned ? 2 : 0]);
            QCOMPARE(output.cells[turned ? 2 : 0], input.cells[1]);
            QCOMPARE(output.cells[turned ? 0 : 2], std::uint8_t{0});
            const auto [at, fresh] = by_kind.emplace(kind, std::pair(input, output));
            QVERIFY(at->second == std::pair(input, output));
            forms.emplace(input.cells, input.rows);
            moved = moved || seen.input[1] == 0;
        }
        QVERIFY(moved);
        QVERIFY(forms.size() > 20);
        // Evaluation has the task as it is, under its first identifier.
        QVERIFY(by_kind.contains(input_integers(*set.validation, 2)[0]));
        const auto& same = by_kind.at(input_integers(*set.validation, 2)[0]);
        QCOMPARE(same.first.cells, (std::vector<std::uint8_t>{1, 2, 0}));
    }

    void forms_differ() {
        const std::vector<ArcForm> forms = arc_forms(make_arc_task(1, 2), 500, 0);
        QCOMPARE(forms.size(), std::size_t(501));
        QVERIFY(forms.front().name().empty());
        std::set<std::string> names;
        for (const ArcForm& form : forms) {
            QCOMPARE(form.colours[0], std::uint8_t{0});
            const auto unique = std::set(form.colours.begin(), form.colours.end());
            QCOMPARE(unique.size(), kArcColours);
            names.insert(form.name());
        }
        QCOMPARE(names.size(), forms.size());
        // Of a task with one colour there are eight ways to turn it, and nine colours.
        ArcTask small;
        small.train = {{{1, 1, {3}}, {1, 1, {3}}}};
        QVERIFY(arc_forms(small, 1000, 1).size() <= 72);
    }

    void the_eight_turns_are_a_group() {
        const ArcGrid grid{.rows = 2, .columns = 3, .cells = {1, 2, 3, 4, 5, 6}};
        std::set<std::vector<std::uint8_t>> all;
        for (std::uint8_t turn = 0; turn < 8; ++turn) {
            const ArcGrid once = ArcForm{.turn = turn}.of(grid);
            // By 90 and 270 degrees, and across the diagonals.
            QCOMPARE(once.rows, turn == 1 || turn == 3 || turn >= 6 ? 3 : 2);
            all.insert(once.cells);
            bool undone = false;
            for (std::uint8_t back = 0; back < 8; ++back) {
                undone = undone || ArcForm{.turn = back}.of(once) == grid;
            }
            QVERIFY(undone);
        }
        QCOMPARE(all.size(), std::size_t(8));
    }

    // numpy: rot90(g), flipud(g) and fliplr(rot90(g)) of g = [[1, 2, 3], [4, 5, 6]].
    void turns_are_numbered_as_published() {
        const ArcGrid grid{.rows = 2, .columns = 3, .cells = {1, 2, 3, 4, 5, 6}};
        using Cells = std::vector<std::uint8_t>;
        QCOMPARE(ArcForm{.turn = 1}.of(grid).cells, (Cells{3, 6, 2, 5, 1, 4}));
        QCOMPARE(ArcForm{.turn = 5}.of(grid).cells, (Cells{4, 5, 6, 1, 2, 3}));
        QCOMPARE(ArcForm{.turn = 7}.of(grid).cells, (Cells{6, 3, 5, 2, 4, 1}));
    }

    // What a model says in any form is an answer to the task as it is.
    void answers_in_forms_are_turned_back() {
        const Folder folder;
        folder.write("a.json", kSame);
        folder.write("b.json", kSwap);
        const DataSet set = open(arc_section(folder.path().string(), 20));
        const AskedInForms* asked = asked_in_forms(*set.test);
        QVERIFY(asked != nullptr && asked == asked_in_forms(*set.test));
        QVERIFY(asked_in_forms(*set.validation) != nullptr);
        QCOMPARE(asked->task(2), std::string("b"));
        QCOMPARE(asked->right_answer(2), std::string("2x2 2201"));
        QVERIFY(asked->forms(2) > 10);
        for (std::int64_t form = 0; form < asked->forms(2); ++form) {
            std::vector<std::int32_t> input(kArcCells + 1);
            asked->read_form(2, form, std::as_writable_bytes(std::span(input)));
            QCOMPARE(input[0], input_integers(*set.test, 2)[0] + static_cast<std::int32_t>(form));
            // Who says the input again answers with the input.
            QCOMPARE(asked->answer_in_form(2, form, std::span(input).subspan(1)),
                     std::string("2x2 1102"));
        }
        QVERIFY(asked->answer_in_form(2, 0, std::vector<std::int32_t>(kArcCells, 1)).empty());
    }

    void faults_are_told_with_file_and_place_data() {
        QTest::addColumn<QString>("content");
        QTest::addColumn<QString>("text");
        QTest::newRow("no json") << R"({"train": [)"
                                 << "a.json: byte ";
        QTest::newRow("no rule") << R"({"train": [], "test": []})"
                                 << "a.json: /train: no pair shows the rule";
        QTest::newRow("no output") << R"({"train": [{"input": [[1]]}]})"
                                   << "a.json: /train/0: it has no \"input\" or no \"output\"";
        QTest::newRow("colour") << R"({"train": [{"input": [[1, 10]], "output": [[1]]}]})"
                                << "a.json: /train/0/input/0/1: 10 is no colour";
        QTest::newRow("ragged") << R"({"train": [{"input": [[1, 2], [1]], "output": [[1]]}]})"
                                << "a.json: /train/0/input/1: the row has not the 2 cells";
        QTest::newRow("empty") << R"({"train": [{"input": [], "output": [[1]]}]})"
                               << "a.json: /train/0/input: it is no grid of 1 to 30 rows";
        QTest::newRow("many") << R"({"a": {"train": [{"input": [[1]], "output": [[1]]}]}, "b": 3})"
                              << "a.json: /b: there is no list \"train\"";
    }

    void faults_are_told_with_file_and_place() {
        QFETCH(QString, content);
        QFETCH(QString, text);
        const Folder folder;
        folder.write("a.json", content.toStdString());
        const std::string said = fault_of([&] { open(arc_section(folder.path().string())); });
        QVERIFY2(said.find(text.toStdString()) != std::string::npos, said.c_str());
    }

    // The same samples as of the tasks themselves, where nothing is left to chance.
    void a_published_set_of_tasks_is_read() {
        const Folder folder;
        const Folder written;
        folder.write("a.json", kSame);
        folder.write("b.json", kSwap);
        write_arc({.tasks = read_arc_tasks(folder.path()), .forms = 30}, {},
                  written.path() / "set");
        const DataSet tasks = open(arc_section(folder.path().string(), 30));
        const auto found = recognise(written.path() / "set");
        QVERIFY(!found.formats.empty());
        QCOMPARE(found.formats.front().format, std::string("arc"));
        const DataSet set = open(found.formats.front().data);
        QCOMPARE(set.train->info().identifiers, tasks.train->info().identifiers);
        QCOMPARE(set.train->samples(), tasks.train->samples());
        QCOMPARE(set.validation->samples(), tasks.validation->samples());
        for (std::int64_t i = 0; i < set.validation->samples(); ++i) {
            QCOMPARE(input_integers(*set.validation, i), input_integers(*tasks.validation, i));
            QCOMPARE(target_integers(*set.validation, i), target_integers(*tasks.validation, i));
        }
        std::set<std::int32_t> kinds;
        for (std::int64_t epoch = 0; epoch < 60; ++epoch) {
            const Seen seen = arc_in_epoch(*set.train, 2, epoch); // b's second pair
            kinds.insert(seen.input[0]);
            QCOMPARE(arc_grid_of(std::span(seen.input).subspan(1)).cells.size(), std::size_t(2));
        }
        QVERIFY(kinds.size() > 10);
        QVERIFY(*kinds.begin() >= input_integers(*tasks.validation, 2)[0]);
    }

    void tasks_are_recognised() {
        const Folder folder;
        folder.write("a.json", kSame);
        for (const auto& path : {folder.path(), folder.path() / "a.json"}) {
            const auto found = recognise(path);
            QVERIFY(!found.formats.empty());
            QCOMPARE(found.formats.front().format, std::string("arc"));
            QCOMPARE(open(found.formats.front().data).validation->samples(), 2);
        }
    }

    void tasks_that_are_made_follow_one_rule_each() {
        for (std::uint64_t number = 0; number < 20; ++number) {
            const ArcTask task = make_arc_task(7, number);
            QVERIFY(task.train.size() >= 2 && task.test.size() == 1);
            bool explained = false;
            for (std::uint8_t turn = 0; turn < 8 && !explained; ++turn) {
                std::map<int, int> becomes;
                bool fits = true;
                for (const auto* pairs : {&task.train, &task.test}) {
                    for (const ArcPair& pair : *pairs) {
                        const ArcGrid turned = ArcForm{.turn = turn}.of(pair.input);
                        fits = fits && turned.rows == pair.output.rows;
                        for (std::size_t i = 0; fits && i < turned.cells.size(); ++i) {
                            const auto [at, fresh] =
                                becomes.emplace(turned.cells[i], pair.output.cells[i]);
                            fits = at->second == pair.output.cells[i];
                        }
                    }
                }
                explained = fits;
            }
            QVERIFY(explained);
        }
    }
};

WEFT_TEST(ArcTest)
#include "arc_test.moc"
