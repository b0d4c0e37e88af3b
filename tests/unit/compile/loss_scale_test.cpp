// SPDX-License-Identifier: Apache-2.0
// The scale of the loss in f16: its rule against a plain account of it, and what a training step
// does with it, through the interpreter.
#include "core/compile/programs/loss_scale.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <random>

using namespace weft;
using namespace weft::test;

namespace {

using compile::kLossScaleSlots;
using compile::LossScaleSlot;
using Numbers = std::array<double, LossScaleSlot::count>;

/// One update of the scaler as a program.
ir::Program scaler_program(const compile::LossScale& settings) {
    ir::Program program;
    program.name = "scaler";
    compile::LossScaleState state;
    for (std::size_t i = 0; i < state.size(); ++i) {
        state[i] = program.add_argument(ir::Role::state, std::string(kLossScaleSlots[i]), {});
    }
    const ir::ValueId finite = program.add_argument(ir::Role::scalar, "finite", {});
    ops::Builder b(program, program.body);
    const compile::LossScaleUpdate updated = compile::update_loss_scale(b, settings, state, finite);
    for (std::size_t i = 0; i < state.size(); ++i) {
        program.add_result(ir::Role::state, std::string(kLossScaleSlots[i]), updated.next[i]);
    }
    program.add_result(ir::Role::output, "fails", updated.fails);
    return program;
}

/// The rule in words of its own: how long the present row of good and of bad updates is.
class Account {
public:
    explicit Account(const compile::LossScale& settings)
        : settings_(settings), scale_(settings.initial) {}

    /// False: the scale would fall below the minimum, and stays.
    bool note(bool finite) {
        good_ = finite ? good_ + 1 : 0;
        bad_ = finite ? 0 : bad_ + 1;
        skipped_ += finite ? 0 : 1;
        if (bad_ >= settings_.hysteresis) {
            if (scale_ * settings_.backoff < settings_.minimum) {
                return false;
            }
            scale_ *= settings_.backoff;
        }
        if (good_ == settings_.growth_interval) {
            scale_ = std::min(scale_ * settings_.growth, settings_.maximum);
            good_ = 0;
        }
        return true;
    }
    double scale() const { return scale_; }
    std::int64_t skipped() const { return skipped_; }

private:
    compile::LossScale settings_;
    double scale_;
    std::int64_t good_ = 0, bad_ = 0, skipped_ = 0;
};

const std::string kTinyMlp =
    R"({"type": "mlp", "hidden": [5], "activation": "tanh", "dropout": 0})";

compile::RunConfig config_in(const std::string& precision,
                             const std::vector<std::string>& overrides = {},
                             const std::string& optimizer = "adamw") {
    std::vector<std::string> all = {"training.precision=" + precision,
                                    "optimizer.type=" + optimizer};
    all.insert(all.end(), overrides.begin(), overrides.end());
    return checked_config(R"({"data": {"train": {"type": "synthetic", "kind": "classification"}},
        "model": )" + kTinyMlp +
                              R"(, "training": {"global_batch_size": 4, "ema_decay": 0.9}})",
                          all);
}

Arrays step_of(std::int64_t step, std::int64_t microsteps = 1) {
    const std::int64_t rows = 4 / microsteps;
    Arrays out;
    out["inputs"] = f32({microsteps, rows, 6}, wave(24, 0.4 + 0.1 * static_cast<double>(step)));
    out["targets"] = i32({microsteps, rows}, {1, 0, 2, 1});
    out["weights"] = f32({microsteps, rows}, {1, 1, 1, 1});
    out["learning_rate"] = f32({}, {0.1F});
    out["step"] = i64({}, {step});
    out["random"] = i64({3}, {3, step, 4 * step});
    out["inverse_count"] = f32({}, {0.25F});
    return out;
}

/// The last sample of the batch is infinite.
Arrays overflowing(Arrays step) {
    step["inputs"].span<float>().back() = std::numeric_limits<float>::infinity();
    return step;
}

const data::SampleInfo kTinySample = features_sample(6, 3);

bool is_scaler(const std::string& slot) {
    return std::find(kLossScaleSlots.begin(), kLossScaleSlots.end(), slot) != kLossScaleSlots.end();
}

float scaler(const Run& run, LossScaleSlot::Index slot) {
    return scalar_of(run.state.at(std::string(kLossScaleSlots[slot])));
}

/// Bit for bit, without the scaler's.
void check_trained_state_is(const Arrays& expected, const Run& run) {
    for (const plan::StateSlot& slot : run.set().state_slots) {
        QVERIFY2(!slot.saved || is_scaler(slot.name) ||
                     expected.at(slot.name).data == run.state.at(slot.name).data,
                 slot.name.c_str());
    }
}

} // namespace

class LossScaleTest : public QObject {
    Q_OBJECT
private slots:
    void the_scale_follows_its_rule_data() {
        QTest::addColumn<int>("interval");
        QTest::addColumn<int>("hysteresis");
        QTest::addColumn<double>("share"); // of overflows
        for (const int interval : {1, 2, 7, 2000}) {
            for (const int hysteresis : {1, 2, 3}) {
                for (const double share : {0.02, 0.3, 0.7}) {
                    QTest::addRow("%d, %d, %g", interval, hysteresis, share)
                        << interval << hysteresis << share;
                }
            }
        }
    }

    void the_scale_follows_its_rule() {
        QFETCH(int, interval);
        QFETCH(int, hysteresis);
        QFETCH(double, share);
        const compile::LossScale settings{65536, 2, interval, 0.5, hysteresis, 0x1p-10, 0x1p24};
        const ir::Program program = scaler_program(settings);
        const Numbers first = compile::first_loss_scale(settings);
        std::vector<exec::Tensor> state;
        for (const double number : first) {
            state.push_back(f32({}, {static_cast<float>(number)}));
        }
        Account account(settings);
        std::mt19937 random(static_cast<unsigned>(interval * 10 + hysteresis));
        for (int update = 0; update < 300; ++update) {
            const bool finite = static_cast<double>(random()) / 0x1p32 >= share;
            std::vector<exec::Tensor> inputs = state;
            inputs.push_back(f32({}, {finite ? 1.0F : 0.0F}));
            std::vector<exec::Tensor> results = exec::interpret(program, inputs);
            const bool goes_on = account.note(finite);
            QCOMPARE(scalar_of(results.back()), goes_on ? 0.0F : 1.0F);
            if (!goes_on) { // here a run ends
                return;
            }
            results.pop_back();
            state = std::move(results);
            QCOMPARE(static_cast<double>(scalar_of(state[LossScaleSlot::scale])), account.scale());
            QCOMPARE(static_cast<std::int64_t>(scalar_of(state[LossScaleSlot::skipped])),
                     account.skipped());
        }
    }

    // Powers of two change no digit, neither of sums nor of products.
    void what_the_scale_does_to_gradients_is_undone() {
        for (const std::string clip : {"null", "0.01"}) {
            const std::vector<std::string> clipped = {"training.max_grad_norm=" + clip};
            Run plain(config_in("f32", clipped), kTinySample);
            Run scaled(config_in("f16", clipped), kTinySample);
            for (std::int64_t step = 0; step < 3; ++step) {
                const Arrays a = plain.run("train_step", step_of(step));
                const Arrays b = scaled.run("train_step", step_of(step));
                QCOMPARE(scalar_of(b.at("loss_scale")), 65536.0F);
                for (const char* name : {"loss", "grad_norm", "finite"}) {
                    QCOMPARE(scalar_of(a.at(name)), scalar_of(b.at(name)));
                }
            }
            check_trained_state_is(plain.state, scaled);
        }
    }

    void an_overflow_changes_nothing_but_the_scaler() {
        Run run(config_in("f16"), kTinySample);
        run.run("train_step", step_of(0));
        const Arrays before = run.state;
        const Arrays out = run.run("train_step", overflowing(step_of(1)));
        QCOMPARE(scalar_of(out.at("finite")), 1.0F); // it goes on
        QCOMPARE(scalar_of(out.at("skipped")), 1.0F);
        check_trained_state_is(before, run);
        QCOMPARE(scaler(run, LossScaleSlot::scale), 65536.0F); // the first in a row
        QCOMPARE(scaler(run, LossScaleSlot::taken), 0.0F);
        run.run("train_step", overflowing(step_of(2)));
        QCOMPARE(scaler(run, LossScaleSlot::scale), 32768.0F);
        QCOMPARE(scaler(run, LossScaleSlot::skipped), 2.0F);
        check_trained_state_is(before, run);
    }

    void an_overflow_of_one_microstep_skips_the_update() {
        Run run(config_in("f16", {"training.micro_batch_size=2"}), kTinySample);
        const Arrays before = run.state;
        const Arrays out = run.run("train_step", overflowing(step_of(0, 2)));
        QCOMPARE(scalar_of(out.at("skipped")), 1.0F);
        check_trained_state_is(before, run);
    }

    // Adam corrects for the updates that its moments have seen.
    void a_skipped_update_does_not_count_for_the_optimizer() {
        Run straight(config_in("f16"), kTinySample);
        Run skipping(config_in("f16"), kTinySample);
        const auto as_step = [](std::int64_t number, std::int64_t data) {
            Arrays out = step_of(data);
            out["step"] = i64({}, {number});
            return out;
        };
        straight.run("train_step", as_step(0, 0));
        straight.run("train_step", as_step(1, 5));
        skipping.run("train_step", as_step(0, 0));
        skipping.run("train_step", overflowing(as_step(1, 3)));
        skipping.run("train_step", as_step(2, 5));
        check_trained_state_is(straight.state, skipping);
    }

    void a_scale_below_its_minimum_ends_training() {
        Run run(config_in("f16", {"training.loss_scale.initial=2", "training.loss_scale.minimum=2",
                                  "training.loss_scale.hysteresis=1"}),
                kTinySample);
        run.run("train_step", step_of(0));
        const Arrays last = run.state;
        QCOMPARE(scalar_of(run.run("train_step", overflowing(step_of(1))).at("finite")), 0.0F);
        for (int late = 0; late < 2; ++late) { // who looks later finds the same
            QCOMPARE(scalar_of(run.run("train_step", step_of(2)).at("finite")), 0.0F);
            check_trained_state_is(last, run);
            QCOMPARE(scaler(run, LossScaleSlot::scale), 2.0F);
            QCOMPARE(scaler(run, LossScaleSlot::skipped), 0.0F);
        }
    }

    void the_scaler_is_in_checkpoints_and_its_flag_is_not() {
        Run run(config_in("f16"), kTinySample);
        std::size_t saved = 0;
        for (const plan::StateSlot& slot : run.set().state_slots) {
            saved += is_scaler(slot.name) && slot.saved ? 1 : 0;
            QVERIFY(slot.name != "training.halted" || !slot.saved);
        }
        QCOMPARE(saved, kLossScaleSlots.size());
    }
};

WEFT_TEST(LossScaleTest)
#include "loss_scale_test.moc"
