// SPDX-License-Identifier: Apache-2.0
// The loss of samples that are made of two, against cross-entropy with soft targets in double, and
// its gradient against finite differences.
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <array>

using namespace weft;
using namespace weft::test;

namespace {

constexpr std::size_t kRows = 4;
constexpr std::size_t kClasses = 3;
constexpr std::array<std::int32_t, kRows> kTargets = {1, 0, 2, -1};
constexpr std::array<std::int32_t, kRows> kOthers = {2, 0, 1, -1};
constexpr std::array<float, kRows> kShares = {0.625F, 1.0F, 0.5F, 1.0F};

compile::RunConfig mixing_config(const std::string& smoothing) {
    return checked_config(
        R"({"data": {"train": {"type": "synthetic", "kind": "classification"},
                     "mix": [{"type": "mixup"}]},
            "model": {"type": "mlp", "hidden": [5], "activation": "tanh", "dropout": 0},
            "loss": {"type": "cross_entropy", "label_smoothing": )" +
            smoothing + R"(}, "metrics": ["accuracy"], "optimizer": {"type": "sgd", "momentum": 0},
            "training": {"global_batch_size": 4, "max_grad_norm": null}})",
        {});
}

Arrays step_with(double rate) {
    Arrays out;
    out["inputs"] = f32({1, kRows, 6}, wave(24, 0.4));
    out["targets"] = i32({1, kRows}, {kTargets.begin(), kTargets.end()});
    out["others"] = i32({1, kRows}, {kOthers.begin(), kOthers.end()});
    out["shares"] = f32({1, kRows}, {kShares.begin(), kShares.end()});
    out["weights"] = f32({1, kRows}, {1, 1, 1, 1});
    return with_scalars(std::move(out), 3, rate);
}

/// Mean of -sum q log p, where q = (1 - smoothing) (share [target] + (1 - share) [other]) +
/// smoothing / classes; the last sample has no class.
double soft_cross_entropy(Run& run, double smoothing) {
    const exec::Tensor predicted =
        run.run("predict", {{"inputs", f32({kRows, 6}, wave(24, 0.4))}}).at("prediction");
    double sum = 0;
    for (std::size_t row = 0; row + 1 < kRows; ++row) {
        const auto share = static_cast<double>(kShares[row]);
        for (std::size_t k = 0; k < kClasses; ++k) {
            const auto is = [&](std::int32_t label) {
                return label == static_cast<std::int32_t>(k) ? 1.0 : 0.0;
            };
            const double wanted =
                (1 - smoothing) * (share * is(kTargets[row]) + (1 - share) * is(kOthers[row])) +
                smoothing / kClasses;
            sum -=
                wanted * std::log(static_cast<double>(predicted.span<float>()[row * kClasses + k]));
        }
    }
    return sum / 3;
}

} // namespace

class MixedLossTest : public QObject {
    Q_OBJECT

private slots:
    void the_loss_is_that_of_soft_targets() {
        for (const std::string smoothing : {"0.0", "0.1"}) {
            Run run(mixing_config(smoothing), features_sample(6, 3));
            make_curved(run);
            const double expected = soft_cross_entropy(run, std::stod(smoothing));
            const Arrays out = run.run("train_step", step_with(0));
            // Three terms in f32.
            QVERIFY(std::abs(static_cast<double>(scalar_of(out.at("loss"))) - expected) < 2e-6);
        }
    }

    // Plain SGD with rate 1 takes the gradient off the weights.
    void the_gradient_is_that_of_soft_targets() {
        const compile::RunConfig config = mixing_config("0.1");
        Run run(config, features_sample(6, 3));
        make_curved(run);
        const Arrays before = run.state;
        run.run("train_step", step_with(1));
        const Arrays after = run.state;
        int looked_at = 0;
        for (const plan::StateSlot& slot : run.set().state_slots) {
            if (slot.category != plan::Category::parameters) {
                continue;
            }
            for (std::size_t i = 0; i < before.at(slot.name).span<float>().size(); i += 4) {
                constexpr float kMove = 4e-3F;
                const auto moved = [&](float by) {
                    run.state = before;
                    run.state.at(slot.name).span<float>()[i] += by;
                    return soft_cross_entropy(run, 0.1);
                };
                const double numeric = (moved(kMove) - moved(-kMove)) / (2 * kMove);
                const auto taken = static_cast<double>(before.at(slot.name).span<float>()[i] -
                                                       after.at(slot.name).span<float>()[i]);
                // The loss is known to about 1e-7, divided by a move of 8e-3.
                QVERIFY2(
                    std::abs(numeric - taken) < 1e-4,
                    (slot.name + ": " + std::to_string(numeric) + " for " + std::to_string(taken))
                        .c_str());
                ++looked_at;
            }
        }
        QVERIFY(looked_at >= 12);
    }

    void without_a_second_share_the_loss_is_that_of_classes() {
        Run mixed(mixing_config("0.1"), features_sample(6, 3));
        compile::RunConfig config = mixing_config("0.1");
        config.document["data"]["mix"] = config::Json::array();
        Run plain(config, features_sample(6, 3));
        Arrays step = step_with(0.5);
        QVERIFY(plain.run("train_step", step).at("loss").data !=
                mixed.run("train_step", step).at("loss").data);
        for (Run* run : {&mixed, &plain}) {
            Arrays none;
            none["random"] = i64({3}, {0, 0, 0});
            run->run("init", std::move(none));
        }
        step["shares"] = f32({1, kRows}, {1, 1, 1, 1});
        QCOMPARE(scalar_of(mixed.run("train_step", step).at("loss")),
                 scalar_of(plain.run("train_step", step).at("loss")));
        for (const plan::StateSlot& slot : plain.set().state_slots) {
            QVERIFY2(mixed.state.at(slot.name).data == plain.state.at(slot.name).data,
                     slot.name.c_str());
        }
    }

    void accuracy_counts_the_class_of_the_larger_share() {
        Run run(mixing_config("0.0"), features_sample(6, 3));
        make_curved(run);
        const exec::Tensor predicted =
            run.run("predict", {{"inputs", f32({kRows, 6}, wave(24, 0.4))}}).at("prediction");
        int right = 0;
        for (std::size_t row = 0; row + 1 < kRows; ++row) {
            const auto values = predicted.span<float>().subspan(row * kClasses, kClasses);
            const auto best = std::max_element(values.begin(), values.end()) - values.begin();
            right += best == kTargets[row] ? 1 : 0;
        }
        const Arrays out = run.run("train_step", step_with(0));
        QVERIFY(std::abs(scalar_of(out.at("accuracy")) - static_cast<float>(right) / 3) < 1e-6F);
    }
};

WEFT_TEST(MixedLossTest)
#include "mixed_loss_test.moc"
