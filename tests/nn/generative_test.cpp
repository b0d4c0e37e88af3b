// SPDX-License-Identifier: Apache-2.0
// The loss of variational autoencoders against its definition in double, its gradient against
// central differences of that, and what chance and mesh leave alone.
#include "core/autodiff/gradients.h"
#include "core/exec/interpreter.h"
#include "core/nn/loss_def.h"
#include "core/nn/models/model_list.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <functional>
#include <numbers>
#include <set>

using namespace weft;
using namespace weft::test;
using config::Json;
using config::json_of;

namespace {

constexpr std::size_t kElboSamples = 2;
constexpr std::size_t kElboPixels = 3;
constexpr std::size_t kElboLatents = 2;

/// Logits at 0 and far out, on both sides; pixels at the ends and between.
const std::vector<float> kElboLogits = {0.0F, -0.4F, 60.0F, 1.5F, -45.0F, 0.25F};
const std::vector<float> kElboInputs = {0.3F, 0.0F, 1.0F, 0.8F, 0.5F, 1.0F};
const std::vector<float> kElboMeans = {0.0F, 1.5F, -2.0F, 0.3F};
const std::vector<float> kElboLogVariances = {0.0F, -3.0F, 1.2F, 0.5F};

struct Elbo {
    double reconstruction = 0, divergence = 0;
};

/// Of one sample, by the definitions.
Elbo elbo(const std::vector<double>& logits, const std::vector<double>& means,
          const std::vector<double>& log_variances, std::size_t sample, bool bernoulli) {
    Elbo out;
    for (std::size_t k = sample * kElboPixels; k < (sample + 1) * kElboPixels; ++k) {
        const auto x = static_cast<double>(kElboInputs[k]);
        const double softplus =
            logits[k] > 30 ? logits[k] : std::log1p(std::exp(logits[k])); // log(1 + exp(l))
        const double coin = x * (softplus - logits[k]) + (1 - x) * softplus;
        const double normal =
            0.5 * std::pow(logits[k] - x, 2) + 0.5 * std::log(2 * std::numbers::pi);
        out.reconstruction += bernoulli ? coin : normal;
    }
    for (std::size_t k = sample * kElboLatents; k < (sample + 1) * kElboLatents; ++k) {
        const double variance = std::exp(log_variances[k]);
        out.divergence += 0.5 * (means[k] * means[k] + variance - 1 - log_variances[k]);
    }
    return out;
}

std::vector<double> doubles(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

/// Terms, both metrics, and the gradients of the terms' sum by output, mean and log variance.
std::vector<exec::Tensor> run_elbo(const Json& settings) {
    ir::Program program;
    program.name = "loss";
    const auto argument = [&](const char* name, std::size_t width) {
        return program.add_argument(
            ir::Role::batch, name,
            {ir::DType::f32, {kElboSamples, static_cast<std::int64_t>(width)}});
    };
    const ir::ValueId output = argument("output", kElboPixels);
    const ir::ValueId input = argument("input", kElboPixels);
    const ir::ValueId mean = argument("mean", kElboLatents);
    const ir::ValueId log_variance = argument("log_variance", kElboLatents);
    ops::Builder b(program, program.body);
    const std::vector<std::pair<std::string, ir::ValueId>> published = {
        {"latent_mean", mean}, {"latent_log_variance", log_variance}};
    nn::Prediction prediction{.output = output, .target = {}, .input = input};
    prediction.published = &published;
    prediction.settings = &settings;
    const ir::ValueId terms = nn::kElboLoss.build(b, settings, prediction);
    program.add_result(ir::Role::output, "terms", terms);
    program.add_result(ir::Role::output, "reconstruction",
                       nn::kReconstructionMetric.build(b, prediction));
    program.add_result(ir::Role::output, "divergence", nn::kDivergenceMetric.build(b, prediction));
    const std::vector<ir::ValueId> by = {output, mean, log_variance};
    const auto gradients =
        autodiff::append_gradients(b, ops::reduce_sum(b, terms, {0}), ops::constant(b, 1.0), by);
    for (std::size_t i = 0; i < by.size(); ++i) {
        program.add_result(ir::Role::output, "gradient " + std::to_string(i), gradients[i]);
    }
    const std::vector<exec::Tensor> arguments = {
        f32({kElboSamples, kElboPixels}, kElboLogits),
        f32({kElboSamples, kElboPixels}, kElboInputs),
        f32({kElboSamples, kElboLatents}, kElboMeans),
        f32({kElboSamples, kElboLatents}, kElboLogVariances)};
    return exec::interpret(program, arguments);
}

data::SampleInfo picture_sample() {
    return sample_of({ir::DType::f32, {4, 4, 1}}, {ir::DType::i32, {}}, 10);
}

compile::RunConfig vae_config(const std::vector<std::string>& overrides = {}) {
    return checked_config(R"({"model": {"type": "vae", "hidden": [6], "latent": 3}, "seed": 11,
        "training": {"global_batch_size": 4, "precision": "f32", "max_grad_norm": null}})",
                          overrides);
}

Arrays pictures_of(std::int64_t rows) {
    Arrays out;
    std::vector<float> pixels = wave(rows * 16, 0.2);
    for (float& pixel : pixels) {
        pixel = 0.5F + 0.5F * pixel;
    }
    const auto size = static_cast<std::size_t>(rows);
    out["inputs"] = f32({rows, 4, 4, 1}, pixels);
    out["targets"] = i32({rows}, std::vector<std::int32_t>(size, 0));
    out["weights"] = f32({rows}, std::vector<float>(size, 1.0F));
    return out;
}

} // namespace

class GenerativeTest : public QObject {
    Q_OBJECT
private slots:
    void the_bound_and_its_gradient_are_those_of_the_definition() {
        constexpr double kStep = 1e-6;
        for (const bool bernoulli : {true, false}) {
            const double beta = bernoulli ? 1.0 : 0.25;
            const Json settings = {{"beta", beta},
                                   {"likelihood", bernoulli ? "bernoulli" : "gaussian"}};
            const auto found = run_elbo(settings);
            std::vector<std::vector<double>> at = {doubles(kElboLogits), doubles(kElboMeans),
                                                   doubles(kElboLogVariances)};
            const auto total = [&] {
                double sum = 0;
                for (std::size_t sample = 0; sample < kElboSamples; ++sample) {
                    const Elbo one = elbo(at[0], at[1], at[2], sample, bernoulli);
                    sum += one.reconstruction + beta * one.divergence;
                }
                return sum;
            };
            for (std::size_t sample = 0; sample < kElboSamples; ++sample) {
                const Elbo one = elbo(at[0], at[1], at[2], sample, bernoulli);
                const auto near = [&](std::size_t result, double expected) {
                    const auto is = static_cast<double>(found[result].span<float>()[sample]);
                    return std::abs(is - expected) < 1e-6 * (1 + std::abs(expected));
                };
                QVERIFY(near(0, one.reconstruction + beta * one.divergence));
                QVERIFY(near(1, one.reconstruction));
                QVERIFY(near(2, one.divergence));
            }
            for (std::size_t by = 0; by < at.size(); ++by) {
                for (std::size_t i = 0; i < at[by].size(); ++i) {
                    const double here = at[by][i];
                    at[by][i] = here + kStep;
                    const double above = total();
                    at[by][i] = here - kStep;
                    const double slope = (above - total()) / (2 * kStep);
                    at[by][i] = here;
                    const auto is = static_cast<double>(found[3 + by].span<float>()[i]);
                    // differences of totals near 2000 lose digits
                    QVERIFY2(std::abs(is - slope) < 1e-5 * (1 + std::abs(slope)),
                             (std::to_string(by) + "." + std::to_string(i)).c_str());
                }
            }
        }
    }

    // The first sample of the second half is drawn as the third of the whole.
    void what_is_drawn_for_a_sample_depends_on_its_number_alone() {
        Run run(vae_config(), picture_sample());
        Arrays whole = pictures_of(4);
        whole["random"] = i64({3}, {11, 0, 0});
        Arrays half = pictures_of(4);
        half["random"] = i64({3}, {11, 0, 2});
        // Rows 2 and 3 of the whole in the places 0 and 1.
        const auto pixels = whole["inputs"].span<float>();
        std::copy_n(pixels.begin() + 32, 32, half["inputs"].span<float>().begin());
        for (int row = 0; row < 4; ++row) {
            whole["weights"].span<float>()[static_cast<std::size_t>(row)] = row >= 2 ? 1.0F : 0.0F;
            half["weights"].span<float>()[static_cast<std::size_t>(row)] = row < 2 ? 1.0F : 0.0F;
        }
        const float expected = scalar_of(run.run("evaluate", whole).at("loss_sum"));
        QCOMPARE(scalar_of(run.run("evaluate", half).at("loss_sum")), expected);
        half["random"] = i64({3}, {12, 0, 2});
        QVERIFY(scalar_of(run.run("evaluate", half).at("loss_sum")) != expected);
    }

    void evaluation_and_training_draw_apart() {
        const nn::ModelDef& vae = nn::kVaeModel;
        std::set<std::string> streams;
        Run run(vae_config(), picture_sample());
        const std::function<void(const ir::Block&)> collect = [&](const ir::Block& block) {
            for (const ir::Op& op : block.ops) {
                if (op.kind == "random_normal") {
                    streams.insert(op.attributes.text("stream"));
                }
                for (const ir::Block& inner : op.body) {
                    collect(inner);
                }
            }
        };
        collect(run.program("train_step").body);
        collect(run.program("evaluate").body);
        QCOMPARE(streams.size(), std::size_t{2});
        QVERIFY(vae.draws);
        streams.clear();
        collect(run.program("predict").body);
        collect(run.program("make").body);
        QVERIFY(streams.empty()); // nothing is drawn there
    }

    // A decoder of zeros says 1/2 of every pixel, whatever it was given.
    void samples_have_the_shape_of_the_data_and_are_probabilities() {
        Run run(vae_config(), picture_sample());
        Arrays latents;
        latents["latents"] = f32({4, 3}, wave(12, 0.4));
        const exec::Tensor made = run.run("make", latents).at("samples");
        QCOMPARE(made.type.shape, (ir::Shape{4, 4, 4, 1}));
        for (const float value : made.span<float>()) {
            QVERIFY(value > 0 && value < 1);
        }
        for (const char* name : {"decoder.output.weight", "decoder.output.bias"}) {
            for (float& value : run.state.at(name).span<float>()) {
                value = 0;
            }
        }
        const exec::Tensor even = run.run("make", latents).at("samples");
        for (const float value : even.span<float>()) {
            QCOMPARE(value, 0.5F);
        }
        QCOMPARE(run.run("predict", {{"inputs", pictures_of(4).at("inputs")}})
                     .at("reconstruction")
                     .type.shape,
                 (ir::Shape{4, 4, 4, 1}));
    }

    void a_loss_of_the_model_is_its_default_with_its_parts_as_metrics() {
        const auto config = vae_config();
        const Json loss = config.section("loss");
        QVERIFY2(loss == json_of(R"({"type": "elbo", "beta": 1.0, "likelihood": "bernoulli"})"),
                 loss.dump().c_str());
        QCOMPARE(config.section("metrics"), json_of(R"(["reconstruction", "divergence"])"));
    }

    void settings_that_do_not_go_together_are_refused_data() {
        QTest::addColumn<QString>("change");
        QTest::addColumn<QString>("said");
        QTest::newRow("another loss") << R"(loss={"type": "mse"})"
                                      << "vae is trained by elbo";
        QTest::newRow("another model") << R"(model={"type": "mlp"})"
                                       << "needs a model that makes samples";
        QTest::newRow("metric of targets") << R"(metrics=["accuracy"])"
                                           << "is of targets";
        QTest::newRow("moved pixels") << R"(data.transforms=[{"type": "normalize"}])"
                                      << "values from 0 to 1";
    }

    void settings_that_do_not_go_together_are_refused() {
        QFETCH(QString, change);
        QFETCH(QString, said);
        std::string problems;
        try {
            vae_config({R"(loss={"type": "elbo"})", change.toStdString()});
        } catch (const std::exception& error) {
            problems = error.what();
        }
        QVERIFY2(problems.find(said.toStdString()) != std::string::npos, problems.c_str());
    }
};

WEFT_TEST(GenerativeTest)
#include "generative_test.moc"
