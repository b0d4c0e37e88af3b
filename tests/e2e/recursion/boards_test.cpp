// SPDX-License-Identifier: Apache-2.0
// What a model that works step by step says after every cycle is what evaluation counts in the
// end, in the document of samples, in `weft predict` and for a board of one's own.
#include "core/base/file.h"
#include "core/train/boards/board_text.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <array>
#include <cmath>
#include <fstream>

using namespace weft;
using namespace weft::test;
using config::Json;
using config::json_of;

namespace {

// Learns enough in its few updates that some boards are right and some are not.
const char* const kBoards = R"({
  "name": "boards", "seed": 5,
  "data": {"train": {"type": "sudoku", "side": 4, "samples": 2000, "augment": false},
           "validation": {"split": 0.05}},
  "model": {"type": "trm", "mixer": "mlp", "width": 32, "heads": 2, "layers": 2, "h_cycles": 2,
            "l_cycles": 2, "prefix": 1, "halt_max_steps": 3},
  "loss": {"type": "stablemax"},
  "metrics": ["accuracy", "exact_accuracy", "halting_accuracy", "halting_steps"],
  "optimizer": {"type": "adam_atan2", "learning_rate": 0.004, "weight_decay": 0.1},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 32, "precision": "f32", "max_grad_norm": null,
               "length": {"steps": 160}},
  "evaluation": {"every": {"steps": 80}, "samples": 5},
  "checkpoint": {"every": {"steps": 80}}
})";

data::BoardForm small_form() {
    return {.rows = 4,
            .columns = 4,
            .box_rows = 2,
            .box_columns = 2,
            .symbols = "_.1234",
            .blank = 1,
            .rules = data::BoardForm::Rules::sudoku};
}

} // namespace

class BoardsTest : public QObject, private TestFolder {
    Q_OBJECT

    Json document(std::int64_t step) {
        std::array<char, 48> name{};
        std::snprintf(name.data(), name.size(), "samples/step-%08lld.json",
                      static_cast<long long>(step));
        return json_of(read_file(path("run") / name.data()));
    }

    double metric(std::int64_t step, const std::string& name) {
        for (const auto& event : events_of(path("run"))) {
            const auto* one = std::get_if<train::EvaluationEvent>(&event.payload);
            if (one == nullptr || one->step != step) {
                continue;
            }
            for (const auto& [found, value] : one->metrics) {
                if (found == "validation/" + name) {
                    return value;
                }
            }
        }
        return -1;
    }

private slots:
    void initTestCase() {
        std::ofstream(path("boards.json")) << kBoards;
        const Finished run = run_weft({"train", text("boards.json"), "--run-dir", text("run")});
        QVERIFY2(run.code == 0, run.err.c_str());
    }

    // The evaluation counts in another program, which carries what it needs and stacks nothing.
    void the_document_says_what_the_evaluation_counts() {
        for (const std::int64_t step : {80, 160}) {
            const Json kept = document(step);
            QCOMPARE(kept.at("kind").get<std::string>(), std::string("boards"));
            const auto boards = kept.at("boards").get<double>();
            QCOMPARE(boards, 100.0);
            const auto right = kept.at("right").get<std::vector<double>>();
            QCOMPARE(right.size(), 3U);
            QVERIFY(std::abs(right.back() / boards - metric(step, "exact_accuracy")) < 1e-6);
            const auto good = kept.at("halted_right").get<std::vector<double>>();
            const auto bad = kept.at("halted_wrong").get<std::vector<double>>();
            double steps = 0;
            double all = 0;
            for (std::size_t i = 0; i < right.size(); ++i) {
                steps += (good[i] + bad[i]) * static_cast<double>(i + 1);
                all += good[i] + bad[i];
            }
            QCOMPARE(all, boards);
            QVERIFY(std::abs(steps / boards - metric(step, "halting_steps")) < 1e-6);
        }
        QVERIFY2(metric(160, "exact_accuracy") > 0.02 && metric(160, "exact_accuracy") < 0.999,
                 std::to_string(metric(160, "exact_accuracy")).c_str());
    }

    void boards_are_kept_cycle_by_cycle() {
        const Json kept = document(160);
        QCOMPARE(kept.at("samples").size(), 5U);
        QCOMPARE(kept.at("board").at("box"), (Json{2, 2}));
        for (const Json& sample : kept.at("samples")) {
            const auto given = sample.at("given").get<std::string>();
            const auto answer = sample.at("answer").get<std::string>();
            QCOMPARE(given.size(), 16U);
            for (std::size_t i = 0; i < given.size(); ++i) {
                QVERIFY(given[i] == '.' || given[i] == answer[i]);
            }
            const auto cycles = sample.at("cycles").get<std::vector<std::string>>();
            QVERIFY(!cycles.empty() && cycles.size() <= 6U);
            QVERIFY(cycles.size() == 1 || cycles.back() != cycles[cycles.size() - 2]);
        }
    }

    void predict_says_the_same_of_a_sample_and_of_its_board() {
        const Finished numbered =
            run_weft({"predict", text("run"), "3", "--split", "validation", "--json"});
        QVERIFY2(numbered.code == 0, numbered.err.c_str());
        const Json one = json_of(numbered.out).at("predictions").at(0);
        const Json kept = document(160).at("samples").at(3);
        QCOMPARE(one.at("given"), kept.at("given"));
        auto cycles = one.at("cycles").get<std::vector<std::string>>();
        QCOMPARE(cycles.size(), 6U);
        cycles.resize(kept.at("cycles").size());
        QCOMPARE(Json(cycles), kept.at("cycles"));
        const Finished own =
            run_weft({"predict", text("run"),
                      QString::fromStdString(one.at("given").get<std::string>()), "--json"});
        QVERIFY2(own.code == 0, own.err.c_str());
        const Json typed = json_of(own.out).at("predictions").at(0);
        QCOMPARE(typed.at("cycles"), one.at("cycles"));
        QCOMPARE(typed.at("verdicts"), one.at("verdicts"));
        const Finished shown =
            run_weft({"predict", text("run"), "3", "--split", "validation", "--cycles"});
        QVERIFY2(shown.out.find("step 3 cycle 2: " +
                                typed.at("cycles").back().get<std::string>()) != std::string::npos,
                 shown.out.c_str());
    }

    void a_board_that_contradicts_itself_is_refused() {
        const Finished run = run_weft({"predict", text("run"), "11.............."});
        QCOMPARE(run.code, 2);
        QVERIFY2(run.err.find("1 stands at row 1, column 1 and at row 1, column 2") !=
                     std::string::npos,
                 run.err.c_str());
    }

    void rows_dropped_are_those_that_are_held() {
        bool held = false;
        for (const auto& event : events_of(path("run"))) {
            if (const auto* step = std::get_if<train::StepEvent>(&event.payload)) {
                double dropped = -1;
                for (const auto& [name, value] : step->metrics) {
                    dropped = name == "train/rows_dropped" ? value : dropped;
                }
                // Nobody holds a row before the first update, every row may after it.
                QVERIFY(step->step == 1 ? dropped == 0.0 : dropped >= 0.0 && dropped <= 1.0);
                held = held || dropped > 0.5;
            }
        }
        QVERIFY(held);
    }

    // The weights of the run, which are the same on every mesh: f32 sums in another order do not
    // move what is most probable.
    void a_mesh_says_what_one_device_says() {
        Json first;
        const QList<QStringList> meshes = {
            {"--devices", "cpu:1"},
            {"--devices", "cpu:2"},
            {"--devices", "cpu:4", "--set", "mesh.strategy=fsdp"},
            {"--devices", "cpu:2", "--set", "mesh.strategy=tensor_parallel"}};
        for (int i = 0; i < meshes.size(); ++i) {
            const QString folder = text(("mesh" + std::to_string(i)).c_str());
            const Finished run =
                run_weft(QStringList{"train", text("boards.json"), "--run-dir", folder,
                                     "--max-steps", "1", "--set", "evaluation.at_start=true",
                                     "--set", "init.from=" + text("run")} +
                         meshes[i]);
            QVERIFY2(run.code == 0, run.err.c_str());
            const Json kept = json_of(read_file(std::filesystem::path(folder.toStdString()) /
                                                "samples/step-00000000.json"));
            std::size_t cycles = 0; // until nothing changes any more
            for (const Json& sample : kept.at("samples")) {
                cycles = std::max(cycles, sample.at("cycles").size());
            }
            QVERIFY(cycles > 1U);
            first = i == 0 ? kept : first;
            QCOMPARE(kept.at("samples"), first.at("samples"));
            QCOMPARE(kept.at("right"), first.at("right"));
        }
    }

    void text_of_a_board_is_read_back() {
        const data::BoardForm form = small_form();
        const std::string board = "1.34..21.1..4..2";
        const auto cells = train::parse_board(form, board);
        QCOMPARE(train::board_text(form, cells), board);
        const auto lines = train::board_lines(form, cells);
        QCOMPARE(lines.size(), 5U);
        QCOMPARE(lines[0], std::string("1 . | 3 4"));
        QCOMPARE(lines[2], std::string("----+----"));
        std::string pasted;
        for (const std::string& line : lines) {
            pasted += line + "\n";
        }
        QVERIFY(train::parse_board(form, pasted) == cells);
        QVERIFY(train::parse_board(form, "1034 0021 0100 4002") == cells);
    }

    void text_that_is_no_board_is_refused_with_the_place() {
        const data::BoardForm form = small_form();
        const auto problem = [&](const char* text) {
            return error_of([&] { train::parse_board(form, text); })->text();
        };
        QVERIFY(problem("1.34..21.1..4..5").find("character 16, '5'") != std::string::npos);
        QVERIFY(problem("1.34").find("4 cells") != std::string::npos);
    }
};

WEFT_TEST(BoardsTest)
#include "boards_test.moc"
