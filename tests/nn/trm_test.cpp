// SPDX-License-Identifier: Apache-2.0
// A model that holds samples, over several updates: which rows keep theirs and which take another,
// what is counted, what is learnt. Against PyTorch: tests/e2e/recursion.
#include "core/exec/reference_mode.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <cmath>

using namespace weft;
using namespace weft::test;

namespace {

constexpr std::int64_t kRows = 4;
constexpr std::int64_t kCells = 16;

compile::RunConfig trm_config(const std::vector<std::string>& overrides = {}) {
    return checked_config(R"({"data": {"train": {"type": "sudoku", "side": 4}},
        "model": {"type": "trm", "width": 16, "heads": 2, "layers": 1, "h_cycles": 2,
                  "l_cycles": 2, "prefix": 2, "halt_max_steps": 3, "halt_exploration": 0},
        "loss": {"type": "stablemax"},
        "metrics": ["accuracy", "exact_accuracy", "halting_accuracy", "halting_steps"],
        "optimizer": {"type": "sgd", "momentum": 0, "learning_rate": 1},
        "training": {"global_batch_size": 4, "max_grad_norm": null, "precision": "f32"}})",
                          overrides);
}

const data::SampleInfo& puzzles() {
    static const data::SampleInfo sample = text_sample(kCells, 6);
    return sample;
}

/// A batch of its own for every `number`: no two have a row in common.
Arrays numbered(int number, std::vector<std::int64_t> leading = {1, kRows}) {
    Arrays out = with_scalars(batch_of(puzzles(), std::move(leading)), 1.0, 0.0, number);
    for (const char* name : {"inputs", "targets"}) {
        auto cells = out.at(name).span<std::int32_t>();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            cells[i] = static_cast<std::int32_t>((cells[i] + static_cast<int>(i) / 5 + number * 7 +
                                                  static_cast<int>(i / kCells) * 3) %
                                                 6);
        }
    }
    return out;
}

/// A batch [1, B, ...] as evaluation takes it.
Arrays without_microsteps(Arrays batch) {
    for (const char* name : {"inputs", "targets", "weights"}) {
        ir::Type& type = batch.at(name).type;
        type.shape = ir::Shape(type.shape.span().subspan(1));
    }
    return batch;
}

void set_bias(Run& run, float value) {
    auto bias = run.state.at("halt.bias").span<float>();
    std::fill(bias.begin(), bias.end(), value);
}

/// Whether a row of held.inputs is that of a batch.
bool holds(const Run& run, const Arrays& batch, std::int64_t row) {
    const auto held = run.state.at("held.inputs").span<float>();
    const auto cells = batch.at("inputs").span<std::int32_t>();
    for (std::int64_t i = row * kCells; i < (row + 1) * kCells; ++i) {
        if (held[static_cast<std::size_t>(i)] !=
            static_cast<float>(cells[static_cast<std::size_t>(i)])) {
            return false;
        }
    }
    return true;
}

std::vector<float> numbers_of(const Run& run, const std::string& slot) {
    const auto values = run.state.at(slot).span<float>();
    return {values.begin(), values.end()};
}

} // namespace

class TrmTest : public QObject {
    Q_OBJECT
private slots:
    void a_row_keeps_its_sample_until_the_last_step() {
        Run run(trm_config(), puzzles()); // never says that it has done
        for (int step = 0; step < 7; ++step) {
            run.run("train_step", numbered(step));
            const Arrays held = numbered(step / 3 * 3);
            for (std::int64_t row = 0; row < kRows; ++row) {
                QVERIFY2(holds(run, held, row), std::to_string(step).c_str());
            }
            const std::vector<float> taken(kRows, static_cast<float>(step % 3 + 1));
            QCOMPARE(numbers_of(run, "carry.steps"), taken);
            const std::vector<float> done(kRows, step % 3 == 2 ? 1.0F : 0.0F);
            QCOMPARE(numbers_of(run, "held.done"), done);
        }
    }

    void a_row_that_says_so_takes_another_sample() {
        Run run(trm_config(), puzzles());
        set_bias(run, 5.0F);
        for (int step = 0; step < 3; ++step) {
            run.run("train_step", numbered(step));
            for (std::int64_t row = 0; row < kRows; ++row) {
                QVERIFY(holds(run, numbered(step), row));
            }
            QCOMPARE(numbers_of(run, "carry.steps"), std::vector<float>(kRows, 1.0F));
        }
    }

    void rows_take_samples_of_their_own_accord() {
        Run run(trm_config(), puzzles());
        run.run("train_step", numbered(0));
        run.state.at("held.done").span<float>()[2] = 1.0F;
        run.run("train_step", numbered(1));
        for (std::int64_t row = 0; row < kRows; ++row) {
            QVERIFY(holds(run, numbered(row == 2 ? 1 : 0), row));
        }
        QCOMPARE(numbers_of(run, "carry.steps"), (std::vector<float>{2, 2, 1, 2}));
    }

    void what_comes_for_rows_that_go_on_is_dropped() {
        const auto config = trm_config();
        Run one(config, puzzles());
        Run other(config, puzzles());
        one.run("train_step", numbered(0));
        other.run("train_step", numbered(0));
        const Arrays a = one.run("train_step", numbered(1));
        Arrays changed = numbered(1);
        changed["inputs"] = numbered(5).at("inputs");
        changed["targets"] = numbered(6).at("targets");
        const Arrays b = other.run("train_step", changed);
        QCOMPARE(scalar_of(a.at("loss")), scalar_of(b.at("loss")));
        QCOMPARE(distance(one.state.at("carry.high"), other.state.at("carry.high")), 0.0);
    }

    void a_sample_goes_on_where_it_was_left() {
        // Two updates without learning are one evaluation of two steps.
        const auto config = trm_config({"model.halt_max_steps=2"});
        Run run(config, puzzles());
        make_curved(run);
        set_bias(run, -5.0F);
        run.run("train_step", numbered(0));
        const double trained =
            static_cast<double>(scalar_of(run.run("train_step", numbered(1)).at("loss")));
        const double evaluated = evaluated_loss(run, without_microsteps(numbered(0)));
        QVERIFY2(std::abs(trained - evaluated) < 1e-6,
                 (std::to_string(trained) + " " + std::to_string(evaluated)).c_str());
    }

    void terms_that_count_are_counted_in_the_program() {
        Run run(trm_config({"model.halt_max_steps=1"}), puzzles());
        make_curved(run);
        Arrays batch = numbered(0);
        auto labels = batch.at("targets").span<std::int32_t>();
        for (std::size_t i = 0; i < labels.size(); i += 3) {
            labels[i] = -1;
        }
        batch.at("weights").span<float>()[1] = 0.0F;
        const Arrays out = run.run("train_step", batch);
        const Arrays whole = without_microsteps(batch);
        const double evaluated = evaluated_loss(run, whole);
        QVERIFY(std::abs(static_cast<double>(scalar_of(out.at("loss"))) - evaluated) < 1e-6);
        const Arrays sums = run.run("evaluate", whole);
        QCOMPARE(scalar_of(sums.at("samples")), 3.0F);
        QVERIFY(std::abs(scalar_of(out.at("accuracy")) -
                         scalar_of(sums.at("accuracy_sum")) / scalar_of(sums.at("count"))) < 1e-6F);
    }

    void microsteps_have_the_loss_of_the_whole_batch() {
        Run whole(trm_config(), puzzles());
        Run parts(trm_config({"training.micro_batch_size=2"}), puzzles());
        for (int step = 0; step < 4; ++step) {
            Arrays batch = numbered(step);
            Arrays split = batch;
            for (const char* name : {"inputs", "targets", "weights"}) {
                ir::Shape shape = batch.at(name).type.shape;
                shape[0] = 2;
                shape[1] = 2;
                split.at(name).type.shape = shape;
            }
            batch["learning_rate"] = split["learning_rate"] = f32({}, {0.1F});
            const Arrays a = whole.run("train_step", batch);
            const Arrays b = parts.run("train_step", split);
            for (const char* name : {"loss", "grad_norm", "accuracy", "halting_steps"}) {
                QVERIFY2(std::abs(scalar_of(a.at(name)) - scalar_of(b.at(name))) < 1e-5F, name);
            }
        }
    }

    void gradients_are_those_of_finite_differences_data() {
        QTest::addColumn<QString>("model");
        QTest::newRow("attention") << "model.mixer=attention";
        QTest::newRow("positions mixed") << "model.mixer=mlp";
        QTest::newRow("prefix row") << "model.prefix_row=true";
        QTest::newRow("puzzle rows") << "model.puzzle_rows=auto";
    }

    // Where nothing is cut off: one cycle.
    void gradients_are_those_of_finite_differences() {
        QFETCH(QString, model);
        const auto config =
            trm_config({"model.h_cycles=1", "model.halting_weight=0", model.toStdString()});
        const bool told = model == "model.puzzle_rows=auto";
        data::SampleInfo sample = puzzles();
        if (told) {
            sample.input.shape = {kCells + 1};
            sample.identifiers = 6;
        }
        Run run(config, sample);
        make_curved(run);
        Arrays batch = told ? with_scalars(batch_of(sample, {1, kRows}), 1.0, 0.0, 0) : numbered(0);
        batch["learning_rate"] = f32({}, {1.0F});
        ir::Program program = run.program("train_step");
        std::vector<exec::Tensor> arguments;
        for (const ir::Port& port : program.arguments) {
            arguments.push_back(exec::widened(port.role == ir::Role::state ? run.state.at(port.name)
                                                                           : batch.at(port.name)));
        }
        exec::widen(program);
        const std::vector<exec::Tensor> after = exec::interpret(program, arguments);
        const auto result = [&](const std::vector<exec::Tensor>& results, const std::string& name) {
            const auto found =
                std::find_if(program.results.begin(), program.results.end(),
                             [&](const ir::Port& port) { return port.name == name; });
            return results.at(static_cast<std::size_t>(found - program.results.begin()))
                .span<double>();
        };
        int compared = 0;
        for (std::size_t at = 0; at < arguments.size(); ++at) {
            const std::string& name = program.arguments[at].name;
            const auto slot =
                std::find_if(run.set().state_slots.begin(), run.set().state_slots.end(),
                             [&](const plan::StateSlot& one) { return one.name == name; });
            if (slot == run.set().state_slots.end() ||
                slot->category != plan::Category::parameters || name.starts_with("halt.")) {
                continue;
            }
            // Along the gradient, which is the difference of the weights, the slope is its square.
            const exec::Tensor before = arguments[at];
            const auto moved = result(after, name);
            double squares = 0;
            for (std::size_t i = 0; i < moved.size(); ++i) {
                squares += std::pow(before.span<double>()[i] - moved[i], 2);
            }
            const double step = 1e-5 / std::sqrt(squares);
            const auto loss_at = [&](double by) {
                const auto to = arguments[at].span<double>();
                for (std::size_t i = 0; i < to.size(); ++i) {
                    to[i] = before.span<double>()[i] + by * (before.span<double>()[i] - moved[i]);
                }
                const double loss = result(exec::interpret(program, arguments), "loss")[0];
                arguments[at] = before;
                return loss;
            };
            const double slope = (loss_at(step) - loss_at(-step)) / (2 * step);
            // Truncation of the order of the step's square.
            QVERIFY2(std::abs(slope / squares - 1) < 1e-5,
                     (name + ": " + std::to_string(slope / squares)).c_str());
            ++compared;
        }
        QVERIFY(compared >= 6);
    }

    // With more cycles the first ones are not learnt through, and a step gives another gradient
    // than one of more cycles would.
    void halting_is_learnt_and_the_first_cycles_are_not() {
        const auto config = trm_config();
        Run run(config, puzzles());
        make_curved(run);
        int loops = 0;
        for (const ir::Op& op : run.program("train_step").body.ops) {
            if (!op.is_loop()) {
                continue;
            }
            for (const ir::Op& inner : op.body.front().ops) {
                loops += inner.is_loop() ? 1 : 0;
                const bool backward = inner.phase == ir::Phase::backward;
                if (inner.is_loop() && backward) {
                    QCOMPARE(inner.attributes.integer("count"), 2); // l_cycles; none over h_cycles
                    for (const ir::Op& deep : inner.body.front().ops) {
                        QVERIFY(!deep.is_loop());
                    }
                }
            }
        }
        QCOMPARE(loops, 3); // cycles not learnt, scratch pad of the last, its gradient
        const Arrays start = run.state;
        Arrays batch = numbered(0);
        batch["learning_rate"] = f32({}, {1.0F});
        run.run("train_step", batch);
        QVERIFY(distance(start.at("halt.weight"), run.state.at("halt.weight")) > 1e-4);
        QCOMPARE(distance(start.at("start.high"), run.state.at("start.high")), 0.0);
    }

    void metrics_of_halting_need_a_model_that_halts() {
        try {
            checked_config(R"({"model": {"type": "mlp"}, "metrics": ["halting_steps"]})");
            QFAIL("it was accepted");
        } catch (const std::runtime_error& error) {
            QVERIFY2(std::string(error.what()).find("needs a model that says when") !=
                         std::string::npos,
                     error.what());
        }
    }

    void evaluation_counts_samples_and_steps() {
        Run run(trm_config(), puzzles());
        Arrays whole = without_microsteps(numbered(0));
        whole.at("weights").span<float>()[3] = 0.0F;
        Arrays out = run.run("evaluate", whole);
        QCOMPARE(scalar_of(out.at("samples")), 3.0F);
        QCOMPARE(scalar_of(out.at("count")), 48.0F);
        QCOMPARE(scalar_of(out.at("halting_steps_sum")), 9.0F); // never: all three steps
        QCOMPARE(scalar_of(out.at("exact_accuracy_sum")), 0.0F);
        QCOMPARE(scalar_of(out.at("halting_accuracy_sum")), 3.0F); // rightly unsolved
        set_bias(run, 5.0F);
        out = run.run("evaluate", whole);
        QCOMPARE(scalar_of(out.at("halting_steps_sum")), 3.0F); // after the first
        QCOMPARE(scalar_of(out.at("halting_accuracy_sum")), 0.0F);
    }
};

WEFT_TEST(TrmTest)
#include "trm_test.moc"
