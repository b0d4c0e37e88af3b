// SPDX-License-Identifier: Apache-2.0
// The programs of a run, through the interpreter: gradients against finite differences,
// accumulation, masks, clipping, averages, groups, skipped updates, generation.
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/ir/text.h"
#include "core/ops/verify.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <set>

using namespace weft;
using namespace weft::test;

namespace {

/// Plain gradient descent with rate 1 on what is trained: new = old - gradient.
constexpr auto kPlain =
    R"("optimizer": {"type": "sgd", "momentum": 0, "learning_rate": 1, "groups": []},
       "training": {"global_batch_size": 4, "max_grad_norm": null, "precision": "f32"})";

std::string classifier(const std::string& model, const std::string& rest = kPlain) {
    return R"({"data": {"train": {"type": "synthetic", "kind": "classification"}}, "model": )" +
           model + ", " + rest + "}";
}

std::string language_model(const std::string& model) {
    return R"({"data": {"train": {"type": "text", "path": "unused"}}, "model": )" + model + ", " +
           kPlain + "}";
}

const std::string kMlp = R"({"type": "mlp", "hidden": [5], "activation": "tanh", "dropout": 0})";
const std::string kGpt = R"({"type": "gpt2", "layers": 2, "width": 8, "heads": 2, "context": 6})";

const std::string kLlama = R"({"type": "llama", "layers": 2, "width": 8, "heads": 2, "kv_heads": 1,
    "ffn": 12, "context": 6})";
const std::string kVit =
    R"({"type": "vit", "patch": 2, "layers": 2, "width": 8, "heads": 2, "mlp": 12})";

/// Gradient of every parameter's first elements by central differences of the evaluate program,
/// against the train step's.
void check_gradients(const std::string& document, const data::SampleInfo& sample) {
    Run run(checked_config(document), sample);
    make_curved(run);
    const Arrays start = run.state;
    const Arrays evaluation = batch_of(sample, {4});
    const double terms = static_cast<double>(batch_shape({4}, sample.target.shape).elements());
    run.run("train_step", with_scalars(batch_of(sample, {1, 4}), terms));
    const Arrays after = run.state;
    int checked = 0;
    for (const plan::StateSlot& slot : run.set().state_slots) {
        if (slot.category != plan::Category::parameters) {
            continue;
        }
        for (std::size_t i = 0;
             i < std::min<std::size_t>(4, start.at(slot.name).span<float>().size()); ++i) {
            const float value = start.at(slot.name).span<float>()[i];
            const double gradient = static_cast<double>(value) -
                                    static_cast<double>(after.at(slot.name).span<float>()[i]);
            const float nudge = 0.005F;
            run.state = start;
            run.state[slot.name].span<float>()[i] = value + nudge;
            const double high = evaluated_loss(run, evaluation);
            run.state = start;
            run.state[slot.name].span<float>()[i] = value - nudge;
            const double low = evaluated_loss(run, evaluation);
            const double slope = (high - low) / (2.0 * static_cast<double>(nudge));
            // f32 losses of about 2 are good to 5e-7, over a step of 0.01; curvature gives the rest
            QVERIFY2(std::abs(slope - gradient) < 2e-4 + 5e-3 * std::abs(slope),
                     (slot.name + "[" + std::to_string(i) + "]: " + std::to_string(gradient) +
                      " against " + std::to_string(slope))
                         .c_str());
            ++checked;
        }
    }
    QVERIFY(checked > 0);
}

/// State after two steps with this micro batch size of a global batch of 4.
Run two_steps(const std::string& document, const data::SampleInfo& sample, std::int64_t micro) {
    Run run(checked_config(document, {"training.micro_batch_size=" + std::to_string(micro)}),
            sample);
    const auto terms = static_cast<double>(batch_shape({4}, sample.target.shape).elements());
    for (std::int64_t step = 0; step < 2; ++step) {
        run.run("train_step", with_scalars(batch_of(sample, {4 / micro, micro}), terms, 0.1, step));
    }
    return run;
}

void check_same_state(const Run& a, const Run& b, double tolerance) {
    for (const plan::StateSlot& slot : a.set().state_slots) {
        const double difference = distance(a.state.at(slot.name), b.state.at(slot.name));
        QVERIFY2(difference <= tolerance, (slot.name + ": " + std::to_string(difference)).c_str());
    }
}

/// Bit for bit, of what checkpoints hold.
void check_saved_state_is(const Arrays& expected, const Run& run) {
    for (const plan::StateSlot& slot : run.set().state_slots) {
        QVERIFY2(!slot.saved || expected.at(slot.name).data == run.state.at(slot.name).data,
                 slot.name.c_str());
    }
}

/// Distribution behind the last token: three tokens of prompt (the rest of it is padding), then one
/// by one.
std::vector<double> decode_last(Run& run, const std::vector<std::int32_t>& tokens) {
    Arrays prompt;
    prompt["tokens"] = i32({1, 6}, {tokens[0], tokens[1], tokens[2], 0, 0, 0});
    prompt["position"] = i64({}, {0});
    run.run("prefill", prompt);
    exec::Tensor logits;
    for (std::int64_t position = 3; position < 6; ++position) {
        Arrays next;
        next["tokens"] = i32({1, 1}, {tokens[static_cast<std::size_t>(position)]});
        next["position"] = i64({}, {position});
        logits = run.run("decode", next).at("logits");
    }
    double sum = 0;
    std::vector<double> out;
    for (const float logit : logits.span<float>()) {
        out.push_back(std::exp(static_cast<double>(logit)));
        sum += out.back();
    }
    for (double& value : out) {
        value /= sum;
    }
    return out;
}

const std::string kConvolutions = R"({"type": "sequential", "layers": [
    {"type": "conv2d", "channels": 3}, {"type": "silu"}, {"type": "avg_pool"},
    {"type": "residual", "layers": [{"type": "layer_norm"}, {"type": "conv2d", "channels": 3}]},
    {"type": "branches", "branches": [[{"type": "global_avg_pool"}],
                                       [{"type": "flatten"}, {"type": "linear", "units": 2}]]},
    {"type": "linear"}]})";

data::SampleInfo small_image() {
    return sample_of({ir::DType::f32, {4, 4, 2}}, {ir::DType::i32, {}}, 3);
}

} // namespace

class ProgramsTest : public QObject {
    Q_OBJECT
private slots:
    void every_program_is_legal() {
        for (const auto& [document, sample] :
             {std::pair(classifier(kMlp), features_sample(6, 3)),
              std::pair(classifier(kConvolutions), small_image()),
              std::pair(language_model(kGpt), text_sample(6, 11)),
              std::pair(language_model(kLlama), text_sample(6, 11)),
              std::pair(classifier(kVit), small_image()),
              std::pair(classifier(R"({"type": "resnet", "width": 2})"), small_image())}) {
            for (const std::int64_t micro : {1, 2, 4}) {
                const auto config = checked_config(
                    document, {"training.micro_batch_size=" + std::to_string(micro)});
                for (const ir::Program& program :
                     compile::build_programs(config, sample).programs) {
                    const auto violations = ops::verify(program);
                    QVERIFY2(
                        violations.empty(),
                        (program.name + ": " + (violations.empty() ? "" : violations[0])).c_str());
                }
            }
        }
    }

    // The programs of a model in use are those of its run, which read nothing that it lacks.
    void a_model_in_use_has_no_state_of_training() {
        constexpr auto kAveraged = R"("optimizer": {"type": "adamw"},
            "training": {"global_batch_size": 4, "ema_decay": 0.9, "precision": "f32"})";
        for (const auto& [document, sample] :
             {std::pair(classifier(kMlp, kAveraged), features_sample(6, 3)),
              std::pair(classifier(kConvolutions, kAveraged), small_image()),
              std::pair(language_model(kGpt), text_sample(6, 11))}) {
            const auto config = checked_config(document);
            auto run = compile::build_programs(config, sample);
            const auto use = compile::build_programs(config, sample, compile::Scope::use);
            std::erase_if(run.programs, [](const auto& one) { return one.name == "train_step"; });
            QCOMPARE(use.programs.size(), run.programs.size());
            std::set<std::string> there;
            for (const plan::StateSlot& slot : use.state_slots) {
                QVERIFY2(slot.category != plan::Category::optimizer, slot.name.c_str());
                there.insert(slot.name);
            }
            for (std::size_t i = 0; i < use.programs.size(); ++i) {
                QCOMPARE(use.programs[i].name, run.programs[i].name);
                QVERIFY(use.programs[i].name == "init" ||
                        ir::print(use.programs[i]) == ir::print(run.programs[i]));
                for (const ir::Port& port : use.programs[i].arguments) {
                    QVERIFY2(port.role != ir::Role::state || there.contains(port.name),
                             port.name.c_str());
                }
            }
        }
    }

    void weight_decay_pulls_matrices_alone_data() {
        QTest::addColumn<QString>("document");
        QTest::addColumn<QStringList>("still"); // patterns of names that it leaves alone
        QTest::newRow("mlp") << QString::fromStdString(classifier(kMlp)) << QStringList{"*.bias"};
        // Norms of unnamed layers bear the same name as linear layers.
        QTest::newRow("sequential") << QString::fromStdString(classifier(kConvolutions))
                                    << QStringList{"*.bias", "layers.3.layers.0.weight"};
        QTest::newRow("gpt2") << QString::fromStdString(language_model(kGpt))
                              << QStringList{"*.bias", "*norm*", "wte.*", "wpe.*"};
        QTest::newRow("llama") << QString::fromStdString(language_model(kLlama))
                               << QStringList{"*norm*", "embedding.*"};
        QTest::newRow("vit") << QString::fromStdString(classifier(kVit))
                             << QStringList{"*.bias", "*norm*", "positions.*", "cls.*"};
        QTest::newRow("resnet") << QString::fromStdString(
                                       classifier(R"({"type": "resnet", "width": 2})"))
                                << QStringList{"*.bias", "*norm*"};
    }

    void weight_decay_pulls_matrices_alone() {
        QFETCH(QString, document);
        QFETCH(QStringList, still);
        const bool tokens = document.contains("\"text\"");
        const bool features = document.contains("\"mlp\", \"hidden\"");
        const data::SampleInfo sample = tokens     ? text_sample(6, 11)
                                        : features ? features_sample(6, 3)
                                                   : small_image();
        const double terms = static_cast<double>(batch_shape({4}, sample.target.shape).elements());
        const auto after = [&](const char* decay) {
            Run run(checked_config(document.toStdString(), {decay}), sample);
            make_curved(run); // no parameter is zero
            run.run("train_step", with_scalars(batch_of(sample, {1, 4}), terms, 0.125));
            return std::pair(run.state, run.set().state_slots);
        };
        const auto [plain, plain_slots] = after("optimizer.weight_decay=0");
        const auto [pulled, pulled_slots] = after("optimizer.weight_decay=0.5");
        int found = 0;
        QCOMPARE(plain_slots.size(), pulled_slots.size());
        for (const plan::StateSlot& slot : pulled_slots) {
            if (slot.category != plan::Category::parameters) {
                continue;
            }
            const bool exempt = std::any_of(still.begin(), still.end(), [&](const QString& one) {
                return glob_match(one.toStdString(), slot.name);
            });
            found += exempt ? 1 : 0;
            const double moved = distance(plain.at(slot.name), pulled.at(slot.name));
            QVERIFY2((moved > 0.0) != exempt, slot.name.c_str());
            QCOMPARE(slot.weight_decay, exempt ? 0.0 : 0.5);
        }
        QVERIFY(found >= still.size());
    }

    void weight_decay_on_all_and_that_of_a_group_pull_what_they_match() {
        const auto made = [](const std::vector<std::string>& settings) {
            return compile::build_programs(checked_config(classifier(kMlp), settings),
                                           features_sample(6, 3))
                .state_slots;
        };
        for (const plan::StateSlot& slot :
             made({"optimizer.weight_decay=0.5", "optimizer.weight_decay_on=all"})) {
            QVERIFY(slot.category != plan::Category::parameters || slot.weight_decay > 0);
        }
        for (const plan::StateSlot& slot :
             made({R"(optimizer.groups=[{"match": "*.bias", "weight_decay": 0.25}])"})) {
            if (slot.category == plan::Category::parameters) {
                QCOMPARE(slot.weight_decay, slot.name.ends_with(".bias") ? 0.25 : 0.0);
            }
        }
    }

    void a_tiny_mlp_evaluates_by_the_expected_program() {
        const auto config =
            checked_config(classifier(R"({"type": "mlp", "hidden": [3], "dropout": 0})"),
                           {"training.global_batch_size=2"});
        const Run run(config, features_sample(4, 2));
        const std::string expected =
            read_file(std::string(WEFT_TEST_DATA) + "/golden/tiny_mlp_evaluate.txt");
        const std::string found = ir::print(run.program("evaluate"));
        QVERIFY2(found == expected, found.c_str());
    }

    void mlp_gradients_match_finite_differences() {
        check_gradients(classifier(kMlp), features_sample(6, 3));
    }

    void convolution_gradients_match_finite_differences() {
        check_gradients(classifier(kConvolutions), small_image());
    }

    void gpt2_gradients_match_finite_differences() {
        check_gradients(language_model(kGpt), text_sample(6, 11));
    }

    void llama_gradients_match_finite_differences() {
        check_gradients(language_model(kLlama), text_sample(6, 11));
    }

    void vit_gradients_match_finite_differences() {
        check_gradients(classifier(kVit), small_image());
    }

    void mse_gradients_match_finite_differences() {
        auto sample = features_sample(3, 0);
        sample.target = {ir::DType::f32, {2}};
        const auto config = checked_config(
            R"({"data": {"train": {"type": "synthetic", "kind": "regression"}}, "model": )" + kMlp +
            R"(, "loss": {"type": "mse"}, )" + kPlain + "}");
        Run run(config, sample);
        Arrays batch;
        batch["inputs"] = f32({4, 3}, wave(12, 0.1));
        batch["targets"] = f32({4, 2}, wave(8, 0.7));
        batch["weights"] = f32({4}, {1, 1, 1, 1});
        const Arrays start = run.state;
        Arrays step = batch;
        step["inputs"] = f32({1, 4, 3}, wave(12, 0.1));
        step["targets"] = f32({1, 4, 2}, wave(8, 0.7));
        step["weights"] = f32({1, 4}, {1, 1, 1, 1});
        const double loss = evaluated_loss(run, batch);
        const Arrays out = run.run("train_step", with_scalars(step, 4));
        QVERIFY(std::abs(static_cast<double>(scalar_of(out.at("loss"))) - loss) < 1e-6);
        const double gradient = static_cast<double>(start.at("layers.1.bias").span<float>()[0]) -
                                static_cast<double>(run.state.at("layers.1.bias").span<float>()[0]);
        run.state = start;
        run.state["layers.1.bias"].span<float>()[0] += 0.5F;
        const double high = evaluated_loss(run, batch);
        run.state = start;
        run.state["layers.1.bias"].span<float>()[0] -= 0.5F;
        // quadratic in the output bias, so that the central difference is exact
        QVERIFY(std::abs((high - evaluated_loss(run, batch)) - gradient) < 1e-5);
    }

    // Sums of gradients in another order: a few ulps. Dropout's masks must move along with the
    // samples.
    void accumulation_changes_nothing() {
        const std::string mlp =
            R"({"type": "mlp", "hidden": [5], "activation": "tanh", "dropout": 0.5})";
        const auto sample = features_sample(6, 3);
        const Run whole = two_steps(classifier(mlp), sample, 4);
        check_same_state(whole, two_steps(classifier(mlp), sample, 2), 2e-6);
        check_same_state(whole, two_steps(classifier(mlp), sample, 1), 2e-6);
        const auto text = text_sample(6, 11);
        const std::string gpt =
            R"({"type": "gpt2", "layers": 1, "width": 8, "heads": 2, "context": 6, "dropout": 0.3})";
        check_same_state(two_steps(language_model(gpt), text, 4),
                         two_steps(language_model(gpt), text, 2), 2e-6);
    }

    void padding_reaches_no_number() {
        const auto sample = features_sample(6, 3);
        Run padded(checked_config(classifier(kMlp)), sample);
        Run exact(checked_config(classifier(kMlp), {"training.global_batch_size=3"}), sample);
        Arrays batch = with_scalars(batch_of(sample, {1, 4}), 3);
        batch["weights"].span<float>()[3] = 0.0F;
        const Arrays a = padded.run("train_step", batch);
        const Arrays b = exact.run("train_step", with_scalars(batch_of(sample, {1, 3}), 3));
        for (const char* name : {"loss", "grad_norm", "accuracy"}) {
            QVERIFY2(distance(a.at(name), b.at(name)) < 1e-6, name);
        }
        check_same_state(padded, exact, 1e-6);
    }

    void an_ignored_target_does_not_count() {
        const auto sample = text_sample(6, 11);
        Run run(checked_config(language_model(kGpt)), sample);
        Arrays batch = batch_of(sample, {4});
        batch["targets"].span<std::int32_t>()[2] = -1;
        batch["weights"].span<float>()[3] = 0.0F;
        const Arrays out = run.run("evaluate", batch);
        QCOMPARE(scalar_of(out.at("count")), 17.0F); // three samples of six positions, less one
    }

    void the_norm_is_reported_before_clipping() {
        const auto sample = features_sample(6, 3);
        Run free(checked_config(classifier(kMlp)), sample);
        Run clipped(checked_config(classifier(kMlp), {"training.max_grad_norm=0.01"}), sample);
        const Arrays start = free.state;
        const Arrays batch = with_scalars(batch_of(sample, {1, 4}), 4);
        const Arrays a = free.run("train_step", batch);
        const Arrays b = clipped.run("train_step", batch);
        QCOMPARE(scalar_of(a.at("grad_norm")), scalar_of(b.at("grad_norm")));
        QVERIFY(scalar_of(a.at("grad_norm")) > 0.01F);
        double moved = 0;
        for (const auto& [name, array] : start) {
            for (std::size_t i = 0; i < array.span<float>().size(); ++i) {
                moved += std::pow(static_cast<double>(array.span<float>()[i]) -
                                      static_cast<double>(clipped.state.at(name).span<float>()[i]),
                                  2);
            }
        }
        // rate 1: the step is the clipped gradient; rounding of weights near 0.4 is 3e-8 each
        QVERIFY(std::abs(std::sqrt(moved) - 0.01) < 1e-6);
    }

    void a_step_that_is_not_finite_changes_no_state() {
        const std::string adam = R"("optimizer": {"type": "adamw"}, "training":
            {"global_batch_size": 4, "precision": "f32", "ema_decay": 0.9})";
        const auto sample = features_sample(6, 3);
        Run run(checked_config(classifier(kMlp, adam)), sample);
        const Arrays start = run.state;
        Arrays batch = with_scalars(batch_of(sample, {1, 4}), 4, 0.1);
        batch["inputs"].span<float>()[0] = std::numeric_limits<float>::infinity();
        const Arrays out = run.run("train_step", batch);
        QCOMPARE(scalar_of(out.at("finite")), 0.0F);
        check_saved_state_is(start, run);
    }

    // Whoever reads a step's numbers only when later steps are under way still finds what was good.
    void no_update_after_one_that_was_not_finite_changes_state() {
        const std::string adam = R"("optimizer": {"type": "adamw"}, "training":
            {"global_batch_size": 4, "precision": "f32", "ema_decay": 0.9})";
        const auto sample = features_sample(6, 3);
        Run run(checked_config(classifier(kMlp, adam)), sample);
        const Arrays good = with_scalars(batch_of(sample, {1, 4}), 4, 0.1);
        QCOMPARE(scalar_of(run.run("train_step", good).at("finite")), 1.0F);
        const Arrays last = run.state;
        Arrays bad = good;
        bad["inputs"].span<float>()[0] = std::numeric_limits<float>::quiet_NaN();
        run.run("train_step", bad);
        for (int late = 0; late < 2; ++late) {
            QCOMPARE(scalar_of(run.run("train_step", good).at("finite")), 0.0F);
            check_saved_state_is(last, run);
        }
    }

    void the_average_follows_the_new_weights() {
        const auto sample = features_sample(6, 3);
        Run run(checked_config(classifier(kMlp), {"training.ema_decay=0.75"}), sample);
        const Arrays start = run.state;
        QCOMPARE(distance(start.at("ema/layers.0.weight"), start.at("layers.0.weight")), 0.0);
        const Arrays out = run.run("train_step", with_scalars(batch_of(sample, {1, 4}), 4));
        QCOMPARE(scalar_of(out.at("finite")), 1.0F);
        for (std::size_t i = 0; i < 30; ++i) {
            const float expected = 0.75F * start.at("layers.0.weight").span<float>()[i] +
                                   0.25F * run.state.at("layers.0.weight").span<float>()[i];
            QVERIFY(std::abs(run.state.at("ema/layers.0.weight").span<float>()[i] - expected) <
                    1e-6F);
        }
        // Evaluation reads the copy: undoing it gives the loss of the start again.
        const Arrays batch = batch_of(sample, {4});
        const double averaged = evaluated_loss(run, batch);
        for (const auto& [name, array] : start) {
            run.state[name] = array;
        }
        QVERIFY(std::abs(static_cast<double>(scalar_of(out.at("loss"))) -
                         evaluated_loss(run, batch)) < 1e-6);
        QVERIFY(std::abs(averaged - evaluated_loss(run, batch)) > 1e-4);
    }

    void groups_change_rate_decay_and_schedule() {
        const std::string groups =
            R"("optimizer": {"type": "sgd", "momentum": 0, "learning_rate": 1,
            "groups": [{"match": "layers.0.*", "learning_rate": 0.5},
                       {"match": "*.bias", "lr_schedule": {"type": "constant"}}]},
            "training": {"global_batch_size": 4, "max_grad_norm": null, "precision": "f32"})";
        const auto sample = features_sample(6, 3);
        const auto config = checked_config(classifier(kMlp, groups));
        const auto rates = compile::learning_rates(config);
        QCOMPARE(rates.size(), std::size_t{2});
        QCOMPARE(rates[1].port, std::string("learning_rate/1"));
        Run plain(checked_config(classifier(kMlp)), sample);
        Run grouped(config, sample);
        const Arrays start = plain.state;
        Arrays batch = with_scalars(batch_of(sample, {1, 4}), 4);
        batch["learning_rate/1"] = f32({}, {0.0F});
        plain.run("train_step", batch);
        grouped.run("train_step", batch);
        QCOMPARE(distance(grouped.state.at("layers.1.bias"), start.at("layers.1.bias")), 0.0);
        QCOMPARE(distance(grouped.state.at("layers.1.weight"), plain.state.at("layers.1.weight")),
                 0.0);
        for (std::size_t i = 0; i < 30; ++i) {
            const float before = start.at("layers.0.weight").span<float>()[i];
            const float whole = plain.state.at("layers.0.weight").span<float>()[i] - before;
            const float half = grouped.state.at("layers.0.weight").span<float>()[i] - before;
            QVERIFY(std::abs(half - 0.5F * whole) < 1e-6F);
        }
    }

    void frozen_parameters_stay_and_have_no_optimizer_state() {
        const auto sample = features_sample(6, 3);
        Run run(checked_config(classifier(kMlp),
                               {"init.trainable=[\"layers.1.*\"]", "optimizer={\"type\":\"adam\"}",
                                "training.ema_decay=0.9"}),
                sample);
        const Arrays start = run.state;
        QVERIFY(!start.contains("optimizer.m/layers.0.weight"));
        QVERIFY(start.contains("optimizer.m/layers.1.weight"));
        run.run("train_step", with_scalars(batch_of(sample, {1, 4}), 4, 0.1));
        QCOMPARE(distance(start.at("layers.0.weight"), run.state.at("layers.0.weight")), 0.0);
        QVERIFY(distance(start.at("layers.1.weight"), run.state.at("layers.1.weight")) > 0.0);
    }

    // Prefill and decode against the whole forward pass: the last position's distribution.
    void decoding_gives_what_the_whole_pass_gives() {
        const auto sample = text_sample(6, 11);
        for (const std::string& model : {kGpt, kLlama}) {
            Run run(checked_config(language_model(model), {"training.global_batch_size=1"}),
                    sample);
            make_curved(run);
            const std::vector<std::int32_t> tokens = {4, 9, 1, 7, 0, 3};
            Arrays whole;
            whole["inputs"] = i32({1, 6}, tokens);
            const auto expected = run.run("predict", whole).at("prediction");
            const std::vector<double> decoded = decode_last(run, tokens);
            for (std::size_t i = 0; i < 11; ++i) {
                const auto probability = static_cast<double>(expected.span<float>()[i]);
                QVERIFY2(std::abs(decoded[i] - probability) < 2e-6, model.c_str());
            }
        }
    }
};

WEFT_TEST(ProgramsTest)
#include "programs_test.moc"
