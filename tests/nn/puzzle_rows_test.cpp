// SPDX-License-Identifier: Apache-2.0
// Learned rows for kinds of puzzles: which of them an update changes, by what rule, and that
// nothing of the size of their table is made for it.
#include "tests/support/error_of.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <functional>

using namespace weft;
using namespace weft::test;

namespace {

constexpr std::int64_t kBoards = 4;
constexpr std::int64_t kBoardCells = 16;
constexpr std::int64_t kPuzzleKinds = 6;
constexpr std::int64_t kRowWidth = 16;
constexpr const char* kRowTable = "prefix.rows";

compile::RunConfig rows_config(const std::string& group,
                               const std::vector<std::string>& overrides = {}) {
    return checked_config(R"({"data": {"train": {"type": "sudoku", "side": 4}},
        "model": {"type": "trm", "width": 16, "heads": 2, "layers": 1, "h_cycles": 2,
                  "l_cycles": 2, "prefix": 2, "halt_max_steps": 2, "halt_exploration": 0},
        "loss": {"type": "stablemax"},
        "optimizer": {"type": "sgd", "momentum": 0, "learning_rate": 1, "groups": [)" +
                              group + R"(]},
        "training": {"global_batch_size": 4, "max_grad_norm": null, "precision": "f32"}})",
                          overrides);
}

data::SampleInfo told_puzzles() {
    data::SampleInfo out = text_sample(kBoardCells, 6);
    out.input.shape = {kBoardCells + 1};
    out.identifiers = kPuzzleKinds;
    return out;
}

Arrays batch_of_kinds(const std::vector<std::int32_t>& kinds,
                      std::vector<std::int64_t> leading = {1, kBoards}) {
    Arrays out = with_scalars(batch_of(told_puzzles(), std::move(leading)), 1.0, 1.0);
    const auto inputs = out.at("inputs").span<std::int32_t>();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        inputs[i * (kBoardCells + 1)] = kinds[i];
    }
    return out;
}

std::vector<float> rows_of(const Run& run) {
    const auto values = run.state.at(kRowTable).span<float>();
    return {values.begin(), values.end()};
}

/// A run with weights and rows that are not zero.
Run curved_run(const compile::RunConfig& config) {
    Run out(config, told_puzzles());
    make_curved(out);
    return out;
}

/// Ops of other kinds that make an array with as many rows as a table of 1,000 times as many kinds.
int ops_that_make_tables(const ir::Program& program, const std::string& but_for) {
    int found = 0;
    const std::function<void(const ir::Block&)> visit = [&](const ir::Block& block) {
        for (const ir::Op& op : block.ops) {
            for (const ir::Block& body : op.body) {
                visit(body);
            }
            for (const ir::ValueId output : op.outputs) {
                const ir::Shape& shape = program.type(output).shape;
                found += op.kind != but_for &&
                         std::find(shape.begin(), shape.end(), kPuzzleKinds * 1000) != shape.end();
            }
        }
    };
    visit(program.body);
    return found;
}

} // namespace

class PuzzleRowsTest : public QObject {
    Q_OBJECT
private slots:
    void rows_begin_at_zero_and_are_no_parameters() {
        const auto config = rows_config(R"({"match": "nothing", "type": "sgd"})");
        Run run(config, told_puzzles());
        const std::vector<float> zeros(kPuzzleKinds * kRowWidth, 0.0F);
        QCOMPARE(rows_of(run), zeros);
        QCOMPARE(compile::count_parameters(config, told_puzzles()),
                 compile::count_parameters(config, text_sample(kBoardCells, 6)));
    }

    // p (1 - rate decay) - rate sign(g), once for a kind that is in the batch twice (FACTS A). The
    // gradient is what plain descent subtracts; trm_test compares it with finite differences.
    void rows_of_the_batch_follow_the_rule_and_no_others_change() {
        constexpr float kRate = 0.25F;
        constexpr float kDecay = 0.5F;
        const std::vector<std::int32_t> kinds = {3, 1, 3, 0};
        Run plain = curved_run(rows_config(R"({"match": "nothing", "type": "sgd"})"));
        Run signs = curved_run(rows_config(
            R"({"match": "prefix.rows", "type": "sign_sgd", "learning_rate": 0.25,
                "weight_decay": 0.5})"));
        const std::vector<float> before = rows_of(signs);
        QCOMPARE(rows_of(plain), before);
        plain.run("train_step", batch_of_kinds(kinds));
        signs.run("train_step", batch_of_kinds(kinds));
        const std::vector<float> descended = rows_of(plain);
        const std::vector<float> after = rows_of(signs);
        for (std::size_t i = 0; i < before.size(); ++i) {
            const auto kind = static_cast<std::int32_t>(i / kRowWidth);
            const bool there = std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
            const float gradient = before[i] - descended[i];
            QVERIFY2(!there || gradient != 0.0F, "a row of the batch has a gradient");
            const float expected = there ? before[i] * (1.0F - kRate * kDecay) -
                                               kRate * (gradient > 0.0F ? 1.0F : -1.0F)
                                         : before[i];
            // A rounding or two of numbers of the order of 1.
            QVERIFY2(std::abs(after[i] - expected) <= (there ? 3e-7F : 0.0F),
                     (std::to_string(i) + ": " + std::to_string(after[i]) + " for " +
                      std::to_string(expected))
                         .c_str());
        }
    }

    // The gradient of a kind is the sum over its samples: as if each had a row of its own.
    void samples_of_one_kind_are_summed() {
        const auto config = rows_config(R"({"match": "nothing", "type": "sgd"})");
        Run together(config, told_puzzles());
        Run apart(config, told_puzzles());
        make_curved(together);
        make_curved(apart);
        for (Run* run : {&together, &apart}) {
            auto rows = run->state.at(kRowTable).span<float>();
            std::fill(rows.begin(), rows.end(), 0.0F); // all kinds are alike
        }
        together.run("train_step", batch_of_kinds({2, 4, 2, 2}));
        apart.run("train_step", batch_of_kinds({2, 4, 3, 5}));
        const std::vector<float> sum = rows_of(together);
        const std::vector<float> each = rows_of(apart);
        for (std::size_t c = 0; c < kRowWidth; ++c) {
            const float expected =
                each[2 * kRowWidth + c] + each[3 * kRowWidth + c] + each[5 * kRowWidth + c];
            QVERIFY(std::abs(sum[2 * kRowWidth + c] - expected) < 1e-6F); // sums in another order
            QCOMPARE(sum[4 * kRowWidth + c], each[4 * kRowWidth + c]);
        }
    }

    void microsteps_clipping_and_the_norm_are_as_for_other_weights() {
        const auto group = R"({"match": "nothing", "type": "sgd"})";
        const std::vector<std::int32_t> kinds = {3, 1, 3, 0};
        Run whole = curved_run(rows_config(group));
        Run parts = curved_run(rows_config(group, {"training.micro_batch_size=2"}));
        const Arrays a = whole.run("train_step", batch_of_kinds(kinds));
        const Arrays b = parts.run("train_step", batch_of_kinds(kinds, {2, 2}));
        QVERIFY(std::abs(scalar_of(a.at("grad_norm")) - scalar_of(b.at("grad_norm"))) < 1e-5F);
        QVERIFY(distance(whole.state.at(kRowTable), parts.state.at(kRowTable)) < 1e-6);
        double squares = 0; // plain descent at rate 1 moves by the gradient
        const Run before = curved_run(rows_config(group));
        for (const plan::StateSlot& slot : whole.set().state_slots) {
            if (slot.category == plan::Category::parameters) {
                const auto from = before.state.at(slot.name).span<float>();
                const auto to = whole.state.at(slot.name).span<float>();
                for (std::size_t i = 0; i < from.size(); ++i) {
                    squares += std::pow(static_cast<double>(from[i]) - to[i], 2);
                }
            }
        }
        const double norm = scalar_of(a.at("grad_norm"));
        QVERIFY2(std::abs(std::sqrt(squares) / norm - 1) < 1e-5,
                 (std::to_string(std::sqrt(squares)) + " " + std::to_string(norm)).c_str());
        Run clipped = curved_run(rows_config(group, {"training.max_grad_norm=0.01"}));
        clipped.run("train_step", batch_of_kinds(kinds));
        const auto start = before.state.at(kRowTable).span<float>();
        const auto free = whole.state.at(kRowTable).span<float>();
        const auto held = clipped.state.at(kRowTable).span<float>();
        for (std::size_t i = 0; i < start.size(); ++i) {
            const double expected = (static_cast<double>(start[i]) - free[i]) * 0.01 / norm;
            QVERIFY(std::abs(static_cast<double>(start[i]) - held[i] - expected) < 1e-6);
        }
    }

    void an_update_that_is_not_finite_leaves_rows_alone() {
        Run run = curved_run(rows_config(R"({"match": "nothing", "type": "sgd"})"));
        run.state.at("head.weight").span<float>()[0] = std::numeric_limits<float>::infinity();
        const std::vector<float> before = rows_of(run);
        const Arrays out = run.run("train_step", batch_of_kinds({3, 1, 3, 0}));
        QCOMPARE(scalar_of(out.at("finite")), 0.0F);
        QCOMPARE(rows_of(run), before);
    }

    void no_array_of_the_size_of_the_table_is_made() {
        data::SampleInfo sample = told_puzzles();
        sample.identifiers = kPuzzleKinds * 1000;
        const Run run(rows_config(R"({"match": "prefix.rows", "type": "sign_sgd"})",
                                  {"training.ema_decay=0.9"}),
                      sample);
        QCOMPARE(ops_that_make_tables(run.program("train_step"), "write_rows"), 0);
        QCOMPARE(ops_that_make_tables(run.program("train_step"), ""), 1);
    }

    void other_optimizers_are_refused() {
        const auto error = error_of([] {
            const Run run(rows_config(R"({"match": "nothing", "type": "sgd"})",
                                      {"optimizer={\"type\": \"adam_atan2\"}"}),
                          told_puzzles());
        });
        QVERIFY(error.has_value());
        QCOMPARE(error->where(), std::string("/optimizer"));
        QVERIFY(error->text().find("prefix.rows") != std::string::npos);
        QVERIFY(error->hint().find("sign_sgd") != std::string::npos);
    }

    void off_is_a_model_without_rows() {
        Run off(rows_config("{\"match\": \"nothing\"}", {"model.puzzle_rows=off"}), told_puzzles());
        QVERIFY(!off.state.contains(kRowTable));
        const Arrays a = off.run("evaluate", [] {
            Arrays batch = batch_of_kinds({3, 1, 3, 0});
            for (const char* name : {"inputs", "targets", "weights"}) {
                ir::Type& type = batch.at(name).type;
                type.shape = ir::Shape(type.shape.span().subspan(1));
            }
            return batch;
        }());
        QVERIFY(std::isfinite(scalar_of(a.at("loss_sum"))));
    }
};

WEFT_TEST(PuzzleRowsTest)
#include "puzzle_rows_test.moc"
